/* diagnosis: which tier is the strongest, what is to be done, and that both texts say the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "guard/diagnosis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

/* All is well in it. */
static struct diagnosis *
sound(void)
{
	struct diagnosis *d = calloc(1, sizeof *d);

	assert_non_null(d);
	d->checks[0] = (struct check){.name = "mounts", .needed = true};
	d->checks[1] = (struct check){.name = "pid_namespace", .needed = true};
	d->checks[2] = (struct check){.name = "cgroup", .needed = false};
	d->n_checks = 3;
	for (size_t i = 0; i < d->n_checks; i++)
		d->checks[i].result =
		    (struct trial_result){.state = TRIAL_OK, .value = TRIAL_NO_VALUE};
	for (size_t i = 0; i < TIERS; i++)
		d->tiers[i].state = TRIAL_OK;
	d->program = "/usr/bin/legguard";
	return d;
}

static void
tier_is_strongest_that_works(void **state)
{
	struct diagnosis *d = sound();

	(void)state;
	assert_int_equal(diagnosis_tier(d), TIER_NAMESPACE);
	d->tiers[TIER_NAMESPACE].state = TRIAL_UNKNOWN;
	assert_int_equal(diagnosis_tier(d), TIER_LANDLOCK);
	d->tiers[TIER_NAMESPACE].state = TRIAL_MISSING;
	assert_int_equal(diagnosis_tier(d), TIER_LANDLOCK);
	d->tiers[TIER_LANDLOCK].state = TRIAL_MISSING;
	assert_int_equal(diagnosis_tier(d), TIER_NONE);
	free(d);
}

/* The default tier fails for this reason. */
static struct diagnosis *
refused(enum userns_obstacle obstacle)
{
	struct diagnosis *d = sound();
	const char *cure = userns_cure_text(obstacle);

	d->obstacle = obstacle;
	trial_missing(&d->tiers[TIER_NAMESPACE], EPERM, cure, "no leg");
	trial_missing(&d->checks[0].result, EPERM, cure, "no mounts");
	trial_missing(&d->checks[1].result, EPERM, cure, "no pid namespace");
	trial_missing(&d->checks[2].result, 0, "delegate it", "no cgroup");
	return d;
}

static void
fix_is_named_once(void **state)
{
	struct fix *fixes = calloc(DIAGNOSIS_FIXES_MAX, sizeof *fixes);
	struct diagnosis *d = refused(USERNS_APPARMOR);

	(void)state;
	assert_int_equal(diagnosis_fixes(d, fixes), 1);
	assert_string_equal(fixes[0].text, userns_cure_text(USERNS_APPARMOR));
	assert_int_equal(fixes[0].n_commands, 2);
	assert_string_equal(fixes[0].commands[0],
	    "/usr/bin/legguard doctor --apparmor-profile /usr/bin/legguard | "
	    "sudo tee /etc/apparmor.d/legguard >/dev/null");
	assert_string_equal(
	    fixes[0].commands[1], "sudo apparmor_parser -r /etc/apparmor.d/legguard");
	d->program = "/opt/it's/legguard";
	assert_int_equal(diagnosis_fixes(d, fixes), 1);
	assert_memory_equal(fixes[0].commands[0], "'/opt/it'\\''s/legguard' doctor", 30);
	d->tiers[TIER_NAMESPACE].state = TRIAL_OK;
	assert_int_equal(diagnosis_fixes(d, fixes), 0);
	free(d);
	free(fixes);
}

static void
each_obstacle_has_commands(void **state)
{
	static const char *const parts[] = {
	    [USERNS_APPARMOR] = "apparmor",
	    [USERNS_SWITCH] = "kernel.unprivileged_userns_clone=1",
	    [USERNS_LIMIT] = "user.max_user_namespaces=",
	    [USERNS_PROFILE] = "apparmor=unconfined",
	    [USERNS_FILTER] = "systempaths=unconfined",
	};
	struct fix *fixes = calloc(DIAGNOSIS_FIXES_MAX, sizeof *fixes);

	(void)state;
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		struct diagnosis *d = refused((enum userns_obstacle)i);

		assert_int_equal(diagnosis_fixes(d, fixes), 1);
		assert_in_range(fixes[0].n_commands, 1, DIAGNOSIS_COMMANDS_MAX);
		assert_non_null(strstr(fixes[0].commands[0], parts[i]));
		free(d);
	}
	free(fixes);
}

/* One that has nothing to do with namespaces has no command of theirs. */
static void
other_fix_has_no_commands(void **state)
{
	struct fix *fixes = calloc(DIAGNOSIS_FIXES_MAX, sizeof *fixes);
	struct diagnosis *d = sound();

	(void)state;
	d->obstacle = USERNS_FILTER;
	trial_missing(&d->tiers[TIER_NAMESPACE], ENOSYS, NULL, "no pidfd");
	trial_missing(&d->checks[0].result, ENOSYS, "use a newer kernel", "pidfd_open(2)");
	assert_int_equal(diagnosis_fixes(d, fixes), 1);
	assert_string_equal(fixes[0].text, "use a newer kernel");
	assert_int_equal(fixes[0].n_commands, 0);
	free(d);
	free(fixes);
}

static void
detour_is_the_last_fix(void **state)
{
	struct fix *fixes = calloc(DIAGNOSIS_FIXES_MAX, sizeof *fixes);
	struct diagnosis *d = refused(USERNS_SWITCH);
	struct error e = {0};
	char *text;

	(void)state;
	d->user = "7:8";
	d->through_sudo = true;
	trial_missing(&d->other_user, EPERM, NULL, "no mounts as root");
	assert_int_equal(diagnosis_fixes(d, fixes), 1);
	text = diagnosis_table(d, &e);
	assert_non_null(strstr(text, "  missing  namespace, sudo    no mounts as root: "));
	free(text);
	d->other_user = (struct trial_result){.state = TRIAL_OK};
	assert_int_equal(diagnosis_fixes(d, fixes), 2);
	assert_string_equal(
	    fixes[1].commands[0], "sudo -E /usr/bin/legguard run --user 7:8 -- COMMAND");
	d->through_sudo = false;
	assert_int_equal(diagnosis_fixes(d, fixes), 2);
	assert_string_equal(fixes[1].commands[0], "/usr/bin/legguard run --user 7:8 -- COMMAND");
	free(d);
	free(fixes);
}

static void
table_names_all(void **state)
{
	struct diagnosis *d = refused(USERNS_LIMIT);
	struct error e = {0};
	char *text;

	(void)state;
	trial_detail(&d->checks[2].result, "odd\033[2Jtext\n  ok  forged");
	d->doors = (struct door[]){{"/run/a\n  ok  forged", "it starts things", false}};
	d->n_doors = 1;
	text = diagnosis_table(d, &e);
	assert_non_null(text);
	assert_non_null(strstr(text, "  MISSING  mounts             no mounts: Operation not"));
	assert_non_null(strstr(text, "  missing  cgroup             no cgroup (odd"));
	assert_null(strchr(text, '\033'));
	assert_non_null(strstr(text, "  shut     /run/a\\n  ok  forged it starts things\n"));
	assert_null(strstr(text, "\n  ok  forged"));
	assert_non_null(strstr(text, "  MISSING  namespace "));
	assert_non_null(strstr(text, "works here: landlock\n"));
	assert_non_null(strstr(text, "  cgroup: delegate it\n"));
	free(text);
	free(d);
}

static void
json_says_the_same(void **state)
{
	struct diagnosis *d = refused(USERNS_LIMIT);
	struct error e = {0};
	char *text;
	json_t *o, *mounts, *door;

	(void)state;
	d->doors = (struct door[]){{"/run/a\033socket", "it starts things", true}};
	d->n_doors = 1;
	d->checks[2].result.value = 7;
	trial_detail(&d->checks[2].result, "odd \"\033\377\n text");
	text = diagnosis_json(d, &e);
	assert_non_null(text);
	o = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(o);
	assert_int_equal(json_integer_value(json_object_get(o, "schema")), 1);
	assert_true(json_is_false(json_object_get(o, "default_works")));
	assert_string_equal(json_string_value(json_object_get(o, "strongest_tier")), "landlock");
	mounts = json_object_get(json_object_get(o, "checks"), "mounts");
	assert_string_equal(json_string_value(json_object_get(mounts, "state")), "missing");
	assert_true(json_is_true(json_object_get(mounts, "needed")));
	assert_true(json_is_null(json_object_get(mounts, "value")));
	assert_string_equal(json_string_value(json_object_get(mounts, "errno")), "EPERM");
	assert_string_equal(
	    json_string_value(json_object_get(mounts, "fix")), userns_cure_text(USERNS_LIMIT));
	assert_int_equal(json_integer_value(json_object_get(
			     json_object_get(json_object_get(o, "checks"), "cgroup"), "value")),
	    7);
	door = json_array_get(json_object_get(o, "doors"), 0);
	assert_string_equal(json_string_value(json_object_get(door, "path")), "/run/a^[socket");
	assert_true(json_is_true(json_object_get(door, "open")));
	assert_int_equal(json_array_size(json_object_get(o, "fixes")), 1);
	assert_true(json_is_true(
	    json_object_get(json_object_get(json_object_get(o, "tiers"), "none"), "works")));
	json_decref(o);
	free(text);
	free(d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(tier_is_strongest_that_works),
	    cmocka_unit_test(fix_is_named_once),
	    cmocka_unit_test(each_obstacle_has_commands),
	    cmocka_unit_test(other_fix_has_no_commands),
	    cmocka_unit_test(detour_is_the_last_fix),
	    cmocka_unit_test(table_names_all),
	    cmocka_unit_test(json_says_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
