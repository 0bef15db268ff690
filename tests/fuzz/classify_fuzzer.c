/*
 * The classifier on any bytes. The first one is the leg's exit status, the second how much is fed at a time: the class
 * does not depend on that, and there is none but `error` without a result.
 */
#include "tests/fuzz/fuzz.h"

#include "guard/classify.h"

#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct classifier whole = {0}, pieces = {0};
	size_t step;
	int wait_status;
	enum lane lane;

	if (size < 2)
		return 0;
	wait_status = data[0] << 8;
	step = data[1] > 0 ? data[1] : 1;
	data += 2;
	size -= 2;
	classify_feed(&whole, (const char *)data, size);
	for (size_t at = 0; at < size; at += step)
		classify_feed(
		    &pieces, (const char *)data + at, size - at < step ? size - at : step);
	lane = classify_end(&whole, wait_status);
	FUZZ_CHECK(lane == classify_end(&pieces, wait_status));
	FUZZ_CHECK(memcmp(whole.result.subtype, pieces.result.subtype, CLASSIFY_WORD) == 0);
	FUZZ_CHECK(whole.result.api_error_status == pieces.result.api_error_status);
	FUZZ_CHECK(lane == LANE_ERROR || (whole.result.found && lane == whole.result.lane));
	FUZZ_CHECK(lane != LANE_OK || wait_status == 0);
	classify_free(&whole);
	classify_free(&pieces);
	return 0;
}
