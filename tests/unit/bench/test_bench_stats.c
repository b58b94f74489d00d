/* Statistics, JSON and tables against values worked out by hand. */
#include "fixture_samples.h"

#include <core/json.h>
#include <core/table.h>

#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static th_stats stats_of(const double *values, uint32_t count)
{
    th_samples samples = samples_of(values, count);
    const th_stats stats = th_samples_stats(&samples);
    for (uint32_t i = 0; i < count; i++)
        cr_expect_eq(samples.values[i], values[i], "the order of the samples is kept");
    th_samples_fini(&samples);
    return stats;
}

Test(stats, match_values_by_hand_for_an_odd_count)
{
    th_stats s = stats_of((double[]){9, 2, 4, 4, 100}, 5);
    cr_expect_eq(s.count, 5);
    cr_expect_eq(s.min, 2);
    cr_expect_eq(s.max, 100);
    cr_expect_eq(s.median, 4);
    cr_expect_float_eq(s.mean, 23.8, 1e-12);
    /* squares of -14.8 -21.8 -19.8 -19.8 76.2 add up to 7284.8; over 4 that is 1821.2 */
    cr_expect_float_eq(s.stddev, sqrt(1821.2), 1e-9);
    cr_expect_eq(s.mad, 2); /* deviations 5 2 0 0 96 */
    cr_expect_eq(th_stats_relative_mad(&s), 0.5);
}

Test(stats, take_the_middle_of_an_even_count)
{
    th_stats s = stats_of((double[]){4, 1, 3, 2}, 4);
    cr_expect_eq(s.median, 2.5);
    cr_expect_eq(s.mad, 1); /* 1.5 1.5 0.5 0.5 */
    cr_expect_float_eq(s.stddev, sqrt(5.0 / 3), 1e-12);
}

Test(stats, know_one_sample_and_none)
{
    th_stats one = stats_of((double[]){7}, 1), none = stats_of(NULL, 0);
    cr_expect_eq(one.median, 7);
    cr_expect_eq(one.mad, 0);
    cr_expect(isnan(one.stddev));
    cr_expect_eq(none.count, 0);
    cr_expect(isnan(none.median) && isnan(none.mean) && isnan(none.min));
    cr_expect(isnan(th_stats_relative_mad(&none)));
    cr_expect(isnan(none.p95) && isnan(none.cv) && none.outliers == 0);
    cr_expect(one.p95 == 7 && one.p99 == 7 && isnan(one.cv) && one.outliers == 0);
}

Test(stats, tail_and_outliers_of_many)
{
    double values[200];
    for (int i = 0; i < 200; i++)
        values[i] = 1000 + (i * 7 % 200); /* each from 1000 to 1199 once */
    th_stats s = stats_of(values, 200);
    cr_expect_eq(s.p95, 1189);
    cr_expect_eq(s.p99, 1197);
    cr_expect_float_eq(s.cv, sqrt(200 * 201 / 12.0) / 1099.5, 1e-12);
    cr_expect_eq(s.mad, 50);
    cr_expect_eq(s.outliers, 0);
    values[0] = 1099.5 + 259; /* 3.5 / 0.6745 of the mad are 259.45 */
    cr_expect_eq(stats_of(values, 200).outliers, 0);
    values[0] = 1099.5 + 261;
    cr_expect_eq(stats_of(values, 200).outliers, 1);
    values[1] = 0;
    s = stats_of(values, 200);
    cr_expect_eq(s.outliers, 2);
    cr_expect(s.max == 1360.5 && s.min == 0, "and they are still there");
}

/* ---- the interval of the median ---- */

static double choose(int n, int k)
{
    return k == 0 ? 1 : choose(n, k - 1) * (n - k + 1) / k;
}

/* That of an odd number of resampled values is at most the i-th of the samples when more than half of those that are
 * drawn are among the first i: B. Efron, The Jackknife, the Bootstrap and Other Resampling Plans, 1982, section 10. */
static double at_most(int count, int i)
{
    double p = 0;
    for (int k = (count + 1) / 2; k <= count; k++)
        p += choose(count, k) * pow((double)i / count, k) * pow(1 - (double)i / count, count - k);
    return p;
}

Test(interval, is_that_of_all_resamples_there_are)
{
    static const int counts[] = {5, 11, 25, 51};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        double values[51];
        for (int i = 0; i < counts[c]; i++)
            values[i] = (i * 2 + 1) % counts[c]; /* each once, so a value is its own rank */
        th_samples samples = samples_of(values, (uint32_t)counts[c]);
        const th_interval interval = th_median_interval(&samples);
        int low = 0, high = 0;
        while (at_most(counts[c], low + 1) < 0.025)
            low++;
        while (at_most(counts[c], high + 1) < 0.975)
            high++;
        cr_expect(fabs(interval.low - low) <= (low > 5), "%d: %g, not %d", counts[c], interval.low, low);
        cr_expect(fabs(interval.high - high) <= (low > 5), "%d: %g, not %d", counts[c], interval.high, high);
        const double half = (interval.high - interval.low) / 2;
        cr_expect_float_eq(th_median_ci_half_width(&samples), half / (counts[c] / 2), 1e-12);
        th_samples_fini(&samples);
    }
}

Test(interval, of_a_quantile_knows_that_neighbours_are_alike)
{
    enum { COUNT = 900, BLOCK = 60 };
    double alike[COUNT], mixed[COUNT];
    for (int i = 0; i < COUNT; i++) {
        alike[i] = i / BLOCK % 10;
        mixed[i] = i % 10;
    }
    th_samples one = samples_of(alike, COUNT), other = samples_of(mixed, COUNT);
    const th_interval apart = th_quantile_interval(&one, 0.5, BLOCK), same = th_quantile_interval(&other, 0.5, BLOCK);
    cr_expect_eq(same.low, 4);
    cr_expect_eq(same.high, 4, "each block has all of them");
    cr_expect(apart.low <= 2 && apart.high >= 6, "%g to %g", apart.low, apart.high);
    cr_expect(one.values[BLOCK] == 1 && one.values[COUNT - 1] == 4, "they stay in their order");
    cr_expect(isnan(th_quantile_interval(&one, 0.5, 451).low), "one block is none to compare");
    cr_expect_eq(th_quantile_interval(&one, 1, 1).high, 9);
    th_samples_fini(&one);
    th_samples_fini(&other);
}

Test(interval, of_an_even_count_lies_around_the_median)
{
    double values[100];
    for (int i = 0; i < 100; i++)
        values[i] = i + 1;
    th_samples samples = samples_of(values, 100);
    const th_interval interval = th_median_interval(&samples), again = th_median_interval(&samples);
    cr_expect_float_eq(interval.low, 50.5 - 1.96 * 5, 1.5, "%g", interval.low); /* the deviation of a rank is 5 */
    cr_expect_float_eq(interval.high, 50.5 + 1.96 * 5, 1.5, "%g", interval.high);
    cr_expect(interval.low == again.low && interval.high == again.high);
    th_samples_fini(&samples);
}

/* In 3.5 of 100 resamples the median is at most 1.5, in 0.9 it is 1: C(6,3) (1/6)^3 (5/6)^3 (1 - (4/5)^3), and more
 * than three that are 1. */
Test(interval, of_an_even_count_may_end_between_two_samples)
{
    th_samples samples = samples_of((double[]){6, 2, 4, 1, 3, 5}, 6);
    const th_interval interval = th_median_interval(&samples);
    cr_expect(interval.low == 1.5 && interval.high == 5.5, "%g, %g", interval.low, interval.high);
    th_samples_fini(&samples);
}

Test(stats, more_samples_are_put_behind)
{
    th_samples samples = samples_of((double[]){5}, 1), more = samples_of((double[]){1, 3, 2}, 3);
    cr_assert(th_samples_append(&samples, &more));
    cr_expect_eq(samples.count, 4);
    cr_expect_eq(samples.values[0], 5);
    cr_expect_eq(samples.values[3], more.values[2]);
    cr_expect_eq(th_samples_stats(&samples).max, 5);
    th_samples_fini(&samples);
    th_samples_fini(&more);
}

Test(interval, of_few_or_equal_samples)
{
    th_samples none = samples_of(NULL, 0), one = samples_of((double[]){7}, 1),
               same = samples_of((double[]){7, 7, 7}, 3);
    cr_expect(isnan(th_median_interval(&none).low) && isnan(th_median_ci_half_width(&none)));
    cr_expect(th_median_interval(&one).low == 7 && th_median_interval(&one).high == 7);
    cr_expect(isnan(th_median_ci_half_width(&one)), "one sample says nothing");
    cr_expect_eq(th_median_ci_half_width(&same), 0);
    th_samples_fini(&none);
    th_samples_fini(&one);
    th_samples_fini(&same);
}

/* ---- JSON ---- */

static json_t *write_and_read(const json_t *document, char **text)
{
    size_t size;
    json_error_t error;
    FILE *file = open_memstream(text, &size);
    cr_assert(th_json_write(document, 17, file));
    fclose(file);
    json_t *read = json_loads(*text, JSON_REJECT_DUPLICATES, &error);
    cr_assert_neq(read, NULL, "%s: %s", error.text, *text);
    return read;
}

Test(json, is_read_back_the_same)
{
    json_t *document = json_pack("{s:[f,f,i], s:{s:s, s:[]}, s:[{s:[i]}, {}], s:n, s:b, s:o, s:o}", "reals", 0.1,
                                 -1e-300, 3, "object", "text \"\n", "\x01", "empty", "deep", "a", 1, "null", "true", 1,
                                 "nan", th_json_real((double)NAN), "hash", th_json_hash(0xabcu));
    cr_assert_neq(document, NULL);
    char *text;
    json_t *read = write_and_read(document, &text);
    cr_expect(json_equal(document, read), "%s", text);
    cr_expect(json_is_null(json_object_get(read, "nan")));
    cr_expect_str_eq(json_string_value(json_object_get(read, "hash")), "0000000000000abc");
    cr_expect_eq(text[strlen(text) - 1], '\n');
    free(text);
    json_decref(read);
    json_decref(document);
}

Test(json, keeps_what_is_flat_on_one_line)
{
    json_t *document = json_pack("{s:[i,i], s:{s:[i]}}", "a", 1, 2, "b", "c", 3);
    char *text;
    json_t *read = write_and_read(document, &text);
    cr_expect_str_eq(text, "{\n  \"a\": [1, 2],\n  \"b\": {\n    \"c\": [3]\n  }\n}\n");
    free(text);
    json_decref(read);
    json_decref(document);
}

Test(json, repairs_text_that_is_not_utf8)
{
    json_t *json = th_json_text("caf\xC3\xA9 \xFF\xC3(\xE2\x82");
    cr_assert_neq(json, NULL);
    cr_expect_str_eq(json_string_value(json), "caf\xC3\xA9 \xEF\xBF\xBD\xEF\xBF\xBD(\xEF\xBF\xBD\xEF\xBF\xBD");
    json_decref(json);
    json = th_json_text(NULL);
    cr_expect(json_is_null(json));
    json_decref(json);
}

/* In names, too, and in whatever is flat or not. What is read is what was written. */
Test(json, escapes_what_terminals_interpret)
{
    static const char raw[] = "\x1b\x7f\xc2\x85\u061c\u200f\u202ea\u2028\u2069\ufeff\u00e9\u2030\U0001f600",
                      escaped[] = "\"\\u001B\\u007F\\u0085\\u061C\\u200F\\u202Ea\\u2028\\u2069\\uFEFF"
                                  "\u00e9\u2030\U0001f600\"";
    char *text, *line, expected[512];
    json_t *document = json_pack("{s:{s:s}, s:[[s]]}", raw, raw, raw, "deep", raw),
           *read = write_and_read(document, &text);
    cr_expect(json_equal(document, read));
    snprintf(expected, sizeof expected, "{\n  %s: {%s: %s},\n  \"deep\": [\n    [%s]\n  ]\n}\n", escaped, escaped,
             escaped, escaped);
    cr_expect_str_eq(text, expected);
    line = th_json_line(json_object_get(document, "deep"), 9);
    snprintf(expected, sizeof expected, "[[%s]]", escaped);
    cr_expect_str_eq(line, expected);
    free(line);
    free(text);
    json_decref(read);
    json_decref(document);
    cr_expect_eq(th_json_line(NULL, 9), NULL);
}

Test(json, is_poisoned_by_a_missing_part)
{
    cr_expect_eq(th_json_append(json_array(), NULL), NULL);
    cr_expect_eq(th_json_append(NULL, json_null()), NULL);
    cr_expect_eq(th_json_merge(json_object(), NULL), NULL);
    cr_expect_eq(th_json_merge(NULL, json_object()), NULL);
    cr_expect_eq(th_json_set(json_object(), "name", NULL), NULL);
    cr_expect_eq(th_json_set(NULL, "name", json_object()), NULL);
}

Test(json, tells_when_the_stream_failed)
{
    FILE *full = fopen("/dev/full", "w");
    setvbuf(full, NULL, _IONBF, 0);
    json_t *document = json_pack("[i]", 1);
    cr_expect(!th_json_write(document, 17, full));
    json_decref(document);
    fclose(full);
}

/* ---- tables ---- */

/* And destroys the table. */
static void expect_text(th_table *table, th_output_format format, const char *wanted)
{
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    cr_assert(th_table_write(table, format, file));
    fclose(file);
    cr_expect_str_eq(text, wanted);
    free(text);
    th_table_destroy(table);
}

Test(table, aligns_left_and_right_and_leaves_no_spaces_behind)
{
    th_table *table = th_table_create("<name|>n|<rest");
    th_table_cell(table, "caf\xC3\xA9");
    th_table_cell(table, "%d", 1000);
    th_table_cell(table, "x");
    th_table_cell(table, "b\x1B[2J");
    th_table_cell(table, "7");
    th_table_cell(table, "%s", "");
    expect_text(table, TH_OUTPUT_TEXT,
                "  name      n  rest\n"
                "  caf\xC3\xA9   1000  x\n"
                "  b?[2J     7\n");
}

static th_table *awkward_table(void)
{
    static const char *const cells[] = {"a,b", "1", "say \"hi\"", "-2", "", "", "x|y_z_ *", "3", " a\nb", ""};
    th_table *table = th_table_create("<what, then|>n");
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        th_table_cell(table, "%s", cells[i]);
    return table;
}

Test(table, csv_is_that_of_rfc_4180)
{
    expect_text(awkward_table(), TH_OUTPUT_CSV,
                "\"what, then\",n\r\n"
                "\"a,b\",1\r\n"
                "\"say \"\"hi\"\"\",-2\r\n"
                "x|y_z_ *,3\r\n"
                " a?b,\r\n");
}

Test(table, markdown_escapes_markup_and_aligns_its_source)
{
    expect_text(awkward_table(), TH_OUTPUT_MARKDOWN,
                "| what, then  |  n |\n"
                "|:------------|---:|\n"
                "| a,b         |  1 |\n"
                "| say \"hi\"    | -2 |\n"
                "| x\\|y_z\\_ \\* |  3 |\n"
                "|  a?b        |    |\n");
}

Test(table, html_has_headings_and_escapes_markup_and_leaves_blank_rows_out)
{
    th_table *table = th_table_create("<name|>number");
    th_table_cell(table, "%s", "<b>&\"'");
    th_table_cell(table, "%d", 7);
    th_table_cell(table, "%s", "");
    th_table_cell(table, "%s", "");
    expect_text(table, TH_OUTPUT_HTML,
                "<div class=\"scroll\" tabindex=\"0\"><table>\n"
                "<thead><tr><th scope=\"col\">name</th><th scope=\"col\" class=\"right\">number</th></tr>"
                "</thead>\n<tbody>\n<tr><th scope=\"row\">&lt;b&gt;&amp;&quot;&#39;</th>"
                "<td class=\"right\">7</td></tr>\n</tbody></table></div>\n");
}

Test(table, of_objects_has_a_column_for_each_name)
{
    json_t *objects = json_pack("[{s:s, s:i}, {s:f, s:s, s:b, s:n}]", "name", "one", "n", 1, "real", 0.1, "name", "two",
                                "is", 1, "none");
    expect_text(th_table_from_objects(objects), TH_OUTPUT_CSV, "name,n,real,is,none\r\none,1,,,\r\ntwo,,0.1,1,\r\n");
    json_decref(objects);
}

Test(words, lines_are_made_printable_and_markdown_is_escaped)
{
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    th_write_line(file, TH_OUTPUT_TEXT, "a\x1B[2J %d", 1);
    th_write_line(file, TH_OUTPUT_TEXT,
                  "é\u202eb\u2066c\xc2\x9b"
                  "d\xe2");
    th_write_line(file, TH_OUTPUT_MARKDOWN, "limit/write_cached <%s>", "_x_");
    th_write_line(file, TH_OUTPUT_MARKDOWN, "~~Tom~~ &amp; Jerry");
    th_html_escape("<\u202e\n\ufeff\u00e9>\n", file);
    fclose(file);
    cr_expect_str_eq(text, "a?[2J 1\né?b?c?d\xe2"
                           "\nlimit/write_cached \\<\\_x\\_>\n\n"
                           "\\~\\~Tom\\~\\~ \\&amp; Jerry\n\n"
                           "&lt;?\n?\u00e9&gt;\n");
    free(text);
    char short_text[8] = "ab";
    th_append(short_text, sizeof short_text, "%s", "cdefghij");
    cr_expect_str_eq(short_text, "abcdefg");
}

Test(table, groups_digits)
{
    cr_expect_str_eq(th_digits_from(0).text, "0");
    cr_expect_str_eq(th_digits_from(999).text, "999");
    cr_expect_str_eq(th_digits_from(1000).text, "1,000");
    cr_expect_str_eq(th_digits_from(1234567).text, "1,234,567");
    cr_expect_str_eq(th_digits_from(UINT64_MAX).text, "18,446,744,073,709,551,615");
}

Test(table, shortens_names_in_the_middle)
{
    char out[64], tight[8];
    cr_expect_str_eq(th_ellipsize("walk", 4, out, sizeof out), "walk");
    cr_expect_str_eq(th_ellipsize("Armature|mixamo.com|Layer0", 11, out, sizeof out), "Armat\u2026ayer0");
    cr_expect_str_eq(th_ellipsize("Armature", 6, out, sizeof out), "Arm\u2026re");
    cr_expect_str_eq(th_ellipsize("Armature", 1, out, sizeof out), "\u2026");
    cr_expect_str_eq(th_ellipsize("\u00fc\u00e4\u4eba\u00f6\u00df", 4, out, sizeof out), "\u00fc\u00e4\u2026\u00df");
    cr_expect_eq(th_utf8_length(out), 4);
    cr_expect_str_eq(th_ellipsize("123456789", 9, tight, sizeof tight), "1234567");
    cr_expect_str_eq(th_ellipsize("", 3, out, sizeof out), "");
}

Test(table, counts_nouns)
{
    cr_expect_str_eq(th_plural(0), "s");
    cr_expect_str_eq(th_plural(1), "");
    cr_expect_str_eq(th_plural(2), "s");
}

Test(stats, quantile_is_the_nearest_rank)
{
    double values[] = {5, 1, 4, 2, 3, 10, 9, 8, 7, 6};
    cr_expect_eq(th_quantile(values, 10, 0.9), 9);
    cr_expect_eq(th_quantile(values, 10, 0.91), 10);
    cr_expect_eq(th_quantile(values, 10, 1), 10);
    cr_expect_eq(th_quantile(values, 10, 0.01), 1);
    cr_expect_eq(th_quantile(values, 1, 0.5), 1);
    cr_expect(isnan(th_quantile(NULL, 0, 0.5)));
}
