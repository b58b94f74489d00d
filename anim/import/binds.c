#include "ipc.h"
#include "scene.h"

#include <string.h>

void begin_binds(scene *s)
{
    s->binds = (binds){.first = make(s, uint32_t, s->nodes.count)};
    for (uint32_t j = 0; j < s->nodes.count; j++)
        s->binds.first[j] = TH_NO_INDEX;
}

static void grow(scene *s)
{
    binds *b = &s->binds, old = *b;
    b->capacity = 2 * old.capacity + 64;
    b->bind = make(s, th_bind, b->capacity);
    b->next = make(s, uint32_t, b->capacity);
    if (old.count > 0) {
        memcpy(b->bind, old.bind, old.count * sizeof *b->bind);
        memcpy(b->next, old.next, old.count * sizeof *b->next);
    }
}

uint16_t find_bind(scene *s, uint32_t joint, th_mat34 inverse_bind)
{
    binds *b = &s->binds;
    if (b->count == b->capacity)
        grow(s);
    uint32_t *link = &b->first[joint];
    for (; *link != TH_NO_INDEX; link = &b->next[*link])
        if (memcmp(&b->bind[*link].inverse_bind, &inverse_bind, sizeof inverse_bind) == 0)
            return (uint16_t)*link;
    if (b->count == TH_MAX_BINDS)
        give_up(TH_ERR_LIMIT, "more than %u palette entries", TH_MAX_BINDS);
    b->bind[b->count] = (th_bind){joint, inverse_bind};
    b->next[b->count] = TH_NO_INDEX;
    *link = b->count;
    return (uint16_t)b->count++;
}

/* A list for each joint is there already: walking the joints in order sorts them. */
const uint16_t *finish_binds(scene *s)
{
    const binds *b = &s->binds;
    th_bind *sorted = make(s, th_bind, b->count);
    uint16_t *final = make(s, uint16_t, b->count);
    uint32_t count = 0;
    for (uint32_t j = 0; j < s->nodes.count; j++)
        for (uint32_t i = b->first[j]; i != TH_NO_INDEX; i = b->next[i]) {
            final[i] = (uint16_t)count;
            sorted[count++] = b->bind[i];
        }
    s->model->binds = sorted;
    s->model->bind_count = count;
    return final;
}

void bind_all_joints(scene *s)
{
    for (uint32_t j = 0; j < s->nodes.count; j++) {
        th_dmat34 inverse = TH_DMAT34_IDENTITY;
        bool singular = !th_dmat34_invert(&s->nodes.rest[j], &inverse);
        repair(s, REPAIR_BIND_INVERSE, singular, "%s", s->model->joints[j].name);
        find_bind(s, j, th_mat34_from(inverse));
    }
    finish_binds(s);
}
