#include "row_interval.h"

#include <bench/student.h>

#include <math.h>
#include <string.h>

th_samples th_row_medians(const th_row *row)
{
    th_samples medians, own;
    const bool room = th_samples_init(&medians, row->process_count);
    const bool all = th_samples_init(&own, row->real_ns.count) && room;
    for (uint32_t p = 0, first = 0; p < row->process_count && all; first = row->ends[p++]) {
        own.count = row->ends[p] - first;
        memcpy(own.values, row->real_ns.values + first, own.count * sizeof *own.values);
        if (own.count > 0)
            th_samples_add(&medians, th_samples_stats(&own).median);
    }
    th_samples_fini(&own);
    if (medians.count > 0 && !(th_samples_sorted(&medians)[0] > 0))
        medians.count = 0;
    return medians;
}

th_interval th_row_interval(const th_row *row)
{
    if (row->process_count < 2)
        return th_median_interval(&row->real_ns);
    th_interval interval = {(double)NAN, (double)NAN};
    th_samples medians = th_row_medians(row);
    if (medians.count > 1) {
        const th_log_estimate mean = th_log_mean(&medians);
        interval = th_log_interval(&mean, TH_CONFIDENCE);
    }
    th_samples_fini(&medians);
    return interval;
}

double th_row_ci_half_width(const th_row *row)
{
    const th_interval interval = th_row_interval(row);
    const double median = th_samples_stats(&row->real_ns).median;
    const bool is_known = row->real_ns.count > 1 && median > 0;
    return is_known ? (interval.high - interval.low) / 2 / median : (double)NAN;
}

const char *th_row_interval_unit(const th_row *row)
{
    return row->process_count > 1 ? "process" : "repetition";
}
