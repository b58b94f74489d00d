/* What every target implements: libFuzzer's entry point. In the preset `fuzz` libFuzzer calls it; elsewhere damage.c
 * does. Each call gets a block of exactly `size` bytes, and leaves no memory behind. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
