/* The entries that the program brings along. */
#include "registry.h"

#include <stdio.h>

static th_result create_guest(th_entry *entry, const th_bench_desc *desc, const th_stage *stage, th_row *row,
                              th_error *err)
{
    const th_guest *guest = entry->rival;
    th_error reason;
    (void)stage, (void)err;
    row->time_unit = "ms";
    if (guest->create(guest, desc->guests->host, row, &entry->subject, &reason) == TH_OK)
        return TH_OK;
    row->left_out = true;
    snprintf(row->failure, sizeof row->failure, "%.*s", (int)sizeof row->failure - 1, reason.text);
    return TH_OK;
}

static void summarize_guest(const th_entry *entry, const th_row *baseline, th_row *row)
{
    const th_guest *guest = entry->rival;
    guest->summarize(entry->subject, baseline, row);
}

uint32_t th_guest_entries(const th_guests *guests, th_entry *entries)
{
    for (uint32_t i = 0; i < guests->count; i++) {
        const th_guest *guest = &guests->entries[i];
        entries[i] = (th_entry){
            .shape = guest->shape,
            .rival = guest,
            .is_baseline = guest->is_baseline,
            .create = create_guest,
            .before = guest->before,
            .run = guest->run,
            .after = guest->after,
            .summarize = summarize_guest,
            .destroy = guest->destroy,
        };
        snprintf(entries[i].name, sizeof entries[i].name, "%s", guest->name);
    }
    return guests->count;
}
