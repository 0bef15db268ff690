/* What a fuzzer of libFuzzer's is: one function that takes any bytes and must neither crash nor find something wrong. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* abort(3) is how a fuzzer says that something is wrong. */
#define FUZZ_CHECK(condition) ((condition) ? (void)0 : abort())

#endif
