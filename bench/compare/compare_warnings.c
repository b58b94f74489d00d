#include "compare_warnings.h"

#include "environment_diff.h"

#include <throng/core/json.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Scatter that deserves a word: changes up to this stay unseen. */
#define WIDE_FLOOR 0.05

/* When the entries of a comparison have changed by this together, the machine has, more likely than all of the code. */
#define COMMON_CHANGE 0.02
enum { FEWEST_FOR_COMMON = 4 };

/* ---- the records ---- */

static void note_company(const th_record *record, json_t **notes)
{
    const double others = json_number_value(json_object_get(record->context, "others_cpus"));
    if (others > TH_REPORT_OTHERS_CPUS)
        th_json_say(notes, "other programs used %.2f CPUs while %s was measured", others, record->name);
}

static void note_build(const th_record *record, json_t **notes)
{
    const char *build = json_string_value(json_object_get(record->context, "library_build_type"));
    if (build && strcmp(build, "debug") == 0)
        th_json_say(notes, "%s was built with assertions; measure a Release build", record->name);
}

static void note_pulse(const th_comparison *c, json_t **notes)
{
    bool lacks = false;
    for (uint32_t i = 0; i < c->count; i++) {
        const th_record_entry *a = th_record_find(c->old_record, c->changes[i].name);
        const th_record_entry *b = th_record_find(c->new_record, c->changes[i].name);
        lacks = lacks || (isfinite(c->changes[i].change) && (a->pulse_ns.count == 0 || b->pulse_ns.count == 0));
    }
    if (lacks)
        th_json_say(
            notes, "how fast the core ran is not in both records, so a change of its clock looks like one of the code");
}

/* ---- the entries ---- */

static uint32_t count_timed(const th_comparison *c)
{
    const uint32_t *v = c->verdicts;
    return v[TH_VERDICT_SAME] + v[TH_VERDICT_REGRESSION] + v[TH_VERDICT_GAIN] + v[TH_VERDICT_UNKNOWN];
}

static void note_processes(const th_comparison *c, json_t **notes)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (isfinite(c->changes[i].change) && c->changes[i].unit == TH_UNIT_REPETITION) {
            th_json_say(
                notes,
                "with fewer than %d processes on each side changes below %.0f %% are none, as processes may differ by "
                "that; smaller ones show with %d processes (bench --processes)",
                TH_COMPARE_FEWEST_PROCESSES, 100 * TH_COMPARE_PROCESS_NOISE, TH_COMPARE_GOOD_PROCESSES);
            return;
        }
}

static void note_power(const th_comparison *c, json_t **notes)
{
    const th_change *worst = NULL;
    for (uint32_t i = 0; i < c->count; i++) {
        const th_change *change = &c->changes[i];
        if (change->verdict == TH_VERDICT_UNKNOWN &&
            (!worst || change->counts[0] + change->counts[1] < worst->counts[0] + worst->counts[1]))
            worst = change;
    }
    if (worst)
        th_json_say(
            notes,
            "no change of %u of %u entries can be told from chance, however large: among so many, %u against %u %s "
            "are too few; measure more, or fewer entries",
            c->verdicts[TH_VERDICT_UNKNOWN], count_timed(c), worst->counts[0], worst->counts[1],
            worst->unit == TH_UNIT_PROCESS ? "processes" : "repetitions");
}

/* What is in one record only cannot be compared. */
static void note_palettes(const th_comparison *c, json_t **notes)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->old_record->entry_count; i++) {
        const th_record_entry *a = &c->old_record->entries[i], *b = th_record_find(c->new_record, a->name);
        count += b && !a->failure && !b->failure && !a->palette_hash != !b->palette_hash ? 1 : 0;
    }
    if (count > 0)
        th_json_say(notes, "%u %s palettes in one result only, so nothing is said of them", count,
                    count == 1 ? "entry has" : "entries have");
}

static void note_scatter(const th_comparison *c, json_t **notes)
{
    const th_change *worst = NULL;
    uint32_t wide = 0;
    for (uint32_t i = 0; i < c->count; i++)
        if (c->changes[i].unit == TH_UNIT_PROCESS && c->changes[i].floor > WIDE_FLOOR) {
            wide++;
            worst = worst && worst->floor > c->changes[i].floor ? worst : &c->changes[i];
        }
    if (worst)
        th_json_say(
            notes,
            "%u of %u entries scatter by more than %.0f %%, and changes below that stay unseen; most, %s by %.3g %%",
            wide, count_timed(c), 100 * WIDE_FLOOR, worst->name, 100 * worst->floor);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void note_common_change(const th_comparison *c, json_t **notes)
{
    double *changes = malloc(((size_t)c->count + 1) * sizeof *changes);
    uint32_t count = 0;
    for (uint32_t i = 0; changes && i < c->count; i++)
        if (isfinite(c->changes[i].change))
            changes[count++] = c->changes[i].change;
    if (count >= FEWEST_FOR_COMMON) {
        qsort(changes, count, sizeof *changes, ascending);
        const double low = changes[count / 10], high = changes[count - 1 - count / 10];
        const double least = low > 0 ? low : high < 0 ? high : 0; /* nine of ten have changed by as much */
        if (fabs(least) > COMMON_CHANGE)
            th_json_say(notes,
                        "nearly all entries are at least %.1f %% %s: that looks like the machine, or like the compiler",
                        100 * fabs(least), least > 0 ? "slower" : "faster");
    }
    free(changes);
}

json_t *th_compare_notes(const th_comparison *c)
{
    json_t *notes = th_conditions_doubt(c->old_record, c->new_record);
    note_company(c->old_record, &notes);
    note_company(c->new_record, &notes);
    note_palettes(c, &notes);
    if (count_timed(c) == 0)
        return notes;
    note_build(c->old_record, &notes);
    note_build(c->new_record, &notes);
    note_pulse(c, &notes);
    note_processes(c, &notes);
    note_power(c, &notes);
    note_scatter(c, &notes);
    note_common_change(c, &notes);
    return notes;
}
