/* limits: what durations, sizes and signals are read as, up to the edges of their types. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "guard/limits.h"

#include <signal.h>

#define COUNT(list) (sizeof list / sizeof list[0])

static void
durations_are_read_as_timeout_reads_them(void **state)
{
	static const struct {
		const char *text;
		int64_t ms;
	} samples[] = {
	    {"0", 0},
	    {"0.0", 0},
	    {"0d", 0},
	    {"1", 1000},
	    {"90s", 90000},
	    {"10m", 600000},
	    {"1.5h", 5400000},
	    {"2d", 172800000},
	    {".5", 500},
	    {"5.", 5000},
	    {"007", 7000},
	    {"0.25m", 15000},
	    {"1.001", 1001},
	    /* Rounded up: only 0 is 0. */
	    {"0.0001", 1},
	    {"0.00000000000000000001d", 1},
	    {"1.0000000000", 1000},
	    {"1.00000000001", 1001},
	    {"0.999999999", 1000},
	    {"9223372036854775.807", INT64_MAX},
	    {"9223372036854775.806", INT64_MAX - 1},
	    /* What can't be counted never comes. */
	    {"9223372036854775.8071", INT64_MAX},
	    {"9223372036854776", INT64_MAX},
	    {"18446744073709551615", INT64_MAX},
	    {"18446744073709551616", INT64_MAX},
	    {"99999999999999999999999999999999999999d", INT64_MAX},
	    {"106751991167d", INT64_C(106751991167) * 86400000},
	    {"106751991168d", INT64_MAX},
	    {"213503982335d", INT64_MAX},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(samples); i++) {
		int64_t ms = -1;

		if (limits_parse_duration(samples[i].text, &ms) != 0 || ms != samples[i].ms)
			fail_msg("%s: %jd", samples[i].text, (intmax_t)ms);
	}
}

static void
what_is_no_duration_is_refused(void **state)
{
	static const char *const samples[] = {"", ".", "s", ".s", "-1", "+1", " 1", "1 ", "1 s",
	    "1S", "1ms", "1ss", "1w", "1e3", "0x10", "inf", "infinity", "nan", "1,5", "1.5.5",
	    "1h30m", "--"};
	int64_t ms;

	(void)state;
	for (size_t i = 0; i < COUNT(samples); i++)
		if (limits_parse_duration(samples[i], &ms) != -1)
			fail_msg("%s was accepted", samples[i]);
}

static void
sizes_are_powers_of_1024_or_of_1000(void **state)
{
	static const struct {
		const char *text;
		uint64_t size;
	} samples[] = {
	    {"0", 0},
	    {"1", 1},
	    {"0012", 12},
	    {"1k", 1024},
	    {"1K", 1024},
	    {"1kB", 1000},
	    {"1KB", 1000},
	    {"2KiB", 2048},
	    {"64M", UINT64_C(64) << 20},
	    {"64MB", 64000000},
	    {"1G", UINT64_C(1) << 30},
	    {"1GiB", UINT64_C(1) << 30},
	    {"3GB", UINT64_C(3000000000)},
	    {"1T", UINT64_C(1) << 40},
	    {"1TiB", UINT64_C(1) << 40},
	    {"1TB", UINT64_C(1000000000000)},
	    {"0T", 0},
	    {"18446744073709551615", UINT64_MAX},
	    {"16777215T", UINT64_C(16777215) << 40},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(samples); i++) {
		uint64_t size = 77;

		if (limits_parse_size(samples[i].text, &size) != 0 || size != samples[i].size)
			fail_msg("%s: %ju", samples[i].text, (uintmax_t)size);
	}
}

static void
what_is_no_size_is_refused(void **state)
{
	static const char *const samples[] = {"", "K", "-1", "+1", " 1", "1 ", "1 K", "1.5G", "64m",
	    "1g", "1B", "1iB", "1Kib", "1KBB", "1KK", "1P", "1E", "0x10", "1e3", "inf",
	    "18446744073709551616", "16777216T", "99999999999999999999999", "18446744073709552KB"};
	uint64_t size;

	(void)state;
	for (size_t i = 0; i < COUNT(samples); i++)
		if (limits_parse_size(samples[i], &size) != -1)
			fail_msg("%s was accepted", samples[i]);
}

static void
signals_have_names_and_numbers(void **state)
{
	const struct {
		const char *text;
		int sig;
	} samples[] = {
	    {"TERM", SIGTERM},
	    {"SIGTERM", SIGTERM},
	    {"sigterm", SIGTERM},
	    {"int", SIGINT},
	    {"HUP", SIGHUP},
	    {"KILL", SIGKILL},
	    {"STOP", SIGSTOP},
	    {"USR2", SIGUSR2},
	    {"1", 1},
	    {"9", 9},
	    {"015", 15},
	    {"31", 31},
	    {"IOT", SIGABRT},
	    {"ABRT", SIGABRT},
	    {"CLD", SIGCHLD},
	    {"IO", SIGIO},
	    {"POLL", SIGIO},
	    {"RTMIN", SIGRTMIN},
	    {"SIGRTMIN+1", SIGRTMIN + 1},
	    {"RTMAX-2", SIGRTMAX - 2},
	    {"rtmax", SIGRTMAX},
	    {"64", SIGRTMAX},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(samples); i++) {
		int sig = -1;

		if (limits_parse_signal(samples[i].text, &sig) != 0 || sig != samples[i].sig)
			fail_msg("%s: %d", samples[i].text, sig);
	}
}

static void
what_is_no_signal_is_refused(void **state)
{
	/* 32 and 33 belong to the C library. */
	static const char *const samples[] = {"", "0", "-1", "+1", " 1", "1 ", "1x", "32", "33",
	    "65", "4294967297", "99999999999999999999", "SIG", "SIGSIGTERM", "TERMS", "TER", "EXIT",
	    "RTMIN-1", "RTMAX+1", "RTMIN+", "RTMIN+x", "RTMIN+31", "RTMAX-31", "RTMIN 1", "SIG15"};
	int sig;

	(void)state;
	for (size_t i = 0; i < COUNT(samples); i++)
		if (limits_parse_signal(samples[i], &sig) != -1)
			fail_msg("%s was accepted", samples[i]);
}

static void
limits_are_shown_in_the_largest_unit(void **state)
{
	static const struct {
		int64_t ms;
		const char *text;
	} durations[] = {{0, "0.0s"}, {1, "0.001s"}, {250, "0.25s"}, {1500, "1.5s"}, {1000, "1s"},
	    {90000, "90s"}, {600000, "10m"}, {5400000, "90m"}, {7200000, "2h"}, {172800000, "2d"},
	    {INT64_MAX, "9223372036854775.807s"}};
	static const struct {
		uint64_t size;
		const char *text;
	} sizes[] = {{0, "0"}, {1, "1"}, {1000, "1000"}, {1024, "1K"}, {1536, "1536"},
	    {64 << 20, "64M"}, {UINT64_C(3) << 30, "3G"}, {UINT64_C(2048) << 40, "2048T"},
	    {UINT64_MAX, "18446744073709551615"}};
	char text[LIMITS_TEXT];

	(void)state;
	for (size_t i = 0; i < COUNT(durations); i++)
		assert_string_equal(limits_duration_text(text, durations[i].ms), durations[i].text);
	for (size_t i = 0; i < COUNT(sizes); i++)
		assert_string_equal(limits_size_text(text, sizes[i].size), sizes[i].text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(durations_are_read_as_timeout_reads_them),
	    cmocka_unit_test(what_is_no_duration_is_refused),
	    cmocka_unit_test(sizes_are_powers_of_1024_or_of_1000),
	    cmocka_unit_test(what_is_no_size_is_refused),
	    cmocka_unit_test(signals_have_names_and_numbers),
	    cmocka_unit_test(what_is_no_signal_is_refused),
	    cmocka_unit_test(limits_are_shown_in_the_largest_unit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
