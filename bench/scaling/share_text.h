/* Shares with their intervals, as text. Private to bench. */
#ifndef TH_BENCH_SCALING_SHARE_TEXT_H
#define TH_BENCH_SCALING_SHARE_TEXT_H

#include <bench/fit.h>

/* "94 % [90, 97]", "1.2 % [1.1, 1.3]", "94 % [no interval]", "-" where it is unknown. */
typedef struct th_share_text {
    char text[48];
} th_share_text;

th_share_text th_share_text_of(const th_estimate *share);

#endif
