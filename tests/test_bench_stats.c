/* Statistics, JSON and tables against values worked out by hand. */
#include <throng/json.h>
#include <throng/stats.h>
#include <throng/table.h>

#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static th_stats stats_of(const double *values, uint32_t count)
{
    th_samples samples;
    cr_assert(th_samples_init(&samples, count));
    for (uint32_t i = 0; i < count; i++)
        th_samples_add(&samples, values[i]);
    th_stats stats = th_samples_stats(&samples);
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
    cr_expect_eq(th_stats_spread(&s), 0.5);
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
    cr_expect(isnan(th_stats_spread(&none)));
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

Test(json, is_poisoned_by_a_missing_part)
{
    cr_expect_eq(th_json_append(json_array(), NULL), NULL);
    cr_expect_eq(th_json_append(NULL, json_null()), NULL);
    cr_expect_eq(th_json_merge(json_object(), NULL), NULL);
    cr_expect_eq(th_json_merge(NULL, json_object()), NULL);
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

static char *printed(const th_table *table)
{
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    cr_assert(th_table_print(table, file));
    fclose(file);
    return text;
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
    char *text = printed(table);
    cr_expect_str_eq(text, "  name      n  rest\n"
                           "  caf\xC3\xA9   1000  x\n"
                           "  b?[2J     7\n");
    free(text);
    th_table_destroy(table);
}

Test(table, groups_digits)
{
    cr_expect_str_eq(th_digits_from(0).text, "0");
    cr_expect_str_eq(th_digits_from(999).text, "999");
    cr_expect_str_eq(th_digits_from(1000).text, "1,000");
    cr_expect_str_eq(th_digits_from(1234567).text, "1,234,567");
    cr_expect_str_eq(th_digits_from(UINT64_MAX).text, "18,446,744,073,709,551,615");
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
