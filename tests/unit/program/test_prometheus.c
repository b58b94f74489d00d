/* Inside, since values are written that no server has. Metrics as text. */
#include "src/serve/server_state.h"

#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

static char *text;
static size_t size;

Test(prometheus, a_number_has_help_type_and_sample_and_labels_are_escaped)
{
    FILE *file = open_memstream(&text, &size);
    th_prometheus_begin(file, "a_total", TH_METRIC_COUNTER, "How many.");
    th_prometheus_sample(file, "a_total", 12345678901.0, NULL);
    th_prometheus_begin(file, "b_seconds", TH_METRIC_GAUGE, "How long.");
    th_prometheus_sample(file, "b_seconds", 0.25, NULL);
    th_prometheus_sample(file, "a", 1, (const char *[]){"x", "say \"hi\"\\\n", "y", "2", NULL});
    fclose(file);
    cr_expect_str_eq(text, "# HELP a_total How many.\n# TYPE a_total counter\na_total 12345678901\n"
                           "# HELP b_seconds How long.\n# TYPE b_seconds gauge\nb_seconds 0.25\n"
                           "a{x=\"say \\\"hi\\\"\\\\\\n\",y=\"2\"} 1\n");
    free(text);
}

Test(prometheus, buckets_of_a_histogram_add_up)
{
    static th_histogram h;
    th_histogram_add(&h, 20000);   /* 20 us */
    th_histogram_add(&h, 3000000); /* 3 ms */
    th_histogram_add(&h, 3000000);
    th_histogram_add(&h, 100000000000ull); /* 100 s: beyond the last bound */
    FILE *file = open_memstream(&text, &size);
    th_prometheus_histogram(file, "t_seconds", "Time.", &h);
    fclose(file);
    static const char *const lines[] = {
        "# TYPE t_seconds histogram\n",
        "t_seconds_bucket{le=\"0.000016\"} 0\n",
        "t_seconds_bucket{le=\"0.000032\"} 1\n",
        "t_seconds_bucket{le=\"0.002048\"} 1\n",
        "t_seconds_bucket{le=\"0.004096\"} 3\n",
        "t_seconds_bucket{le=\"33.554432\"} 3\n",
        "t_seconds_bucket{le=\"+Inf\"} 4\n",
        "t_seconds_sum 100.00602\n",
        "t_seconds_count 4\n",
    };
    for (size_t l = 0; l < sizeof lines / sizeof *lines; l++)
        cr_expect(strstr(text, lines[l]), "%s is missing in\n%s", lines[l], text);
    free(text);
}
