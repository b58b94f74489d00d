#include "fixture_shown.h"

#include "fixture_coarse_human.h"

#include <criterion/criterion.h>
#include <string.h>

th_crowd_view *shown, *shown_base;
th_crowd_behaviour shown_behaviour;
uint64_t most_bytes;
bool maps_nothing, pretend_hardware;

static th_crowd_view_desc desc_of_base;
static th_error err;

END_BY(th_model_destroy)

const th_gl_info *__wrap_th_gl_get_info(const th_gl *context);

const th_gl_info *__wrap_th_gl_get_info(const th_gl *context)
{
    static th_gl_info info;
    info = *__real_th_gl_get_info(context);
    if (most_bytes > 0)
        info.storage_block_bytes = most_bytes;
    info.buffer_storage &= !maps_nothing;
    info.software &= !pretend_hardware;
    return &info;
}

th_model *open_shown(void)
{
    open_gl();
    return at_end(end_by_th_model_destroy, create_coarse_human());
}

void close_shown(void)
{
    forget_base();
    close_gl();
}

th_crowd_view *prepare(const th_crowd_view_desc *desc)
{
    th_crowd_view *prepared;
    cr_assert_eq(th_crowd_view_prepare(desc, &shown_behaviour, shown_base, &prepared, &err), TH_OK, "%s", err.text);
    return prepared;
}

th_crowd_view *complete(const th_crowd_view_desc *desc)
{
    th_crowd_view *completed = prepare(desc);
    cr_assert_eq(th_crowd_view_complete(completed, gl, &err), TH_OK, "%s", err.text);
    return completed;
}

void show(const th_crowd_view_desc *desc)
{
    hide();
    if (desc->model_count != desc_of_base.model_count ||
        memcmp(desc->models, desc_of_base.models, sizeof desc->models) != 0)
        forget_base();
    desc_of_base = *desc;
    desc_of_base.count = 1;
    th_crowd_view *next = prepare(&desc_of_base);
    th_crowd_view_release(shown_base, next);
    shown_base = next;
    shown = complete(desc);
}

void hide(void)
{
    th_crowd_view_release(shown, shown_base);
    shown = NULL;
}

void forget_base(void)
{
    hide();
    th_crowd_view_destroy(shown_base);
    shown_base = NULL;
}
