/* Figures of a result: a row of an array becomes a field of JSON and a cell under its heading. */
#include "bench/report/figures.h"

#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NARROW = 1, WIDE = 2 };

static const double none = (double)NAN;

static void add(th_sheet *sheet, double share)
{
    json_t *list = json_pack("[i, i]", 1, 2);
    const th_figure figures[] = {
        {"name", "<entry", TH_TEXT("a"), NARROW | WIDE},
        {"share", ">share", TH_SHARE(share, "%.*f %%"), NARROW},
        {"ns", ">us", TH_SCALED(1500, 1e3, "%.2f"), WIDE},
        {"count", ">count", TH_DIGITS(1234567), WIDE},
        {"hash", "<hash", TH_HASH(0xabc), WIDE},
        {"good", "<good", TH_FLAG(true), WIDE},
        {"unknown", ">unknown", TH_IF_KNOWN(false, TH_COUNT(1)), WIDE},
        {"other", ">other", TH_IF_GIVEN(false, TH_COUNT(1)), WIDE},
        {"list", NULL, TH_JSON(list), WIDE},
        {NULL, ">shown", TH_COUNT(7), WIDE},
    };
    th_sheet_add(sheet, figures, sizeof figures / sizeof *figures);
    json_decref(list);
}

static json_t *object_of(unsigned view, double share)
{
    th_sheet sheet = th_sheet_json(view);
    add(&sheet, share);
    return th_sheet_object(&sheet);
}

static char *text_of(th_sheet *sheet)
{
    static char text[1024];
    FILE *file = fmemopen(text, sizeof text, "w");
    cr_assert(th_sheet_write(sheet, TH_FORMAT_TEXT, file));
    fclose(file);
    return text;
}

Test(figures, become_fields_of_json)
{
    json_t *json = object_of(0, 0.5);
    json_t *wanted = json_pack("{s:s, s:f, s:f, s:i, s:s, s:b, s:n, s:[i, i]}", "name", "a", "share", 0.5, "ns", 1500.0,
                               "count", 1234567, "hash", "0000000000000abc", "good", 1, "unknown", "list", 1, 2);
    cr_expect(json_equal(json, wanted), "%s", json_dumps(json, 0));
    json_decref(wanted);
    json_decref(json);
}

Test(figures, that_are_no_numbers_are_null)
{
    json_t *json = object_of(0, none);
    cr_expect(json_is_null(json_object_get(json, "share")));
    json_decref(json);
    json = object_of(0, HUGE_VAL);
    cr_expect(json_is_null(json_object_get(json, "share")));
    json_decref(json);
}

Test(figures, become_cells_below_their_headings)
{
    th_sheet sheet = th_sheet_table(WIDE);
    add(&sheet, 0.5);
    cr_expect_str_eq(text_of(&sheet), "  entry    us      count  hash              good  unknown  other  shown\n"
                                      "  a      1.50  1,234,567  0000000000000abc  yes         -      -      7\n");
}

Test(figures, have_two_digits_below_ten_and_a_dash_for_none)
{
    th_sheet sheet = th_sheet_table(NARROW);
    add(&sheet, 0.0999);
    add(&sheet, 0.1);
    th_table_gap(sheet.table);
    add(&sheet, none);
    cr_expect_eq(sheet.count, 3);
    cr_expect_str_eq(text_of(&sheet), "  entry   share\n"
                                      "  a      9.99 %\n"
                                      "  a        10 %\n"
                                      "\n"
                                      "  a           -\n");
}

Test(figures, of_another_view_are_left_out)
{
    json_t *json = object_of(NARROW, 0.5);
    cr_expect_eq(json_object_size(json), 2);
    cr_expect_float_eq(json_number_value(json_object_get(json, "share")), 0.5, 0);
    json_decref(json);
}

Test(figures, of_no_record_write_nothing)
{
    th_sheet sheet = th_sheet_table(0);
    cr_expect_str_eq(text_of(&sheet), "");
}
