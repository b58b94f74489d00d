#include "importer.h"
#include "scene.h"

#include <assert.h>
#include <string.h>

void begin_bones(scene *s)
{
    assert(s->nodes.count > 0 && s->model->joint_count == s->nodes.count); /* read_joints has run */
    s->bones = (bone_list){.first = make(s, uint32_t, s->nodes.count)};
    for (uint32_t j = 0; j < s->nodes.count; j++)
        s->bones.first[j] = TH_NO_INDEX;
}

static void grow(scene *s)
{
    bone_list *b = &s->bones, old = *b;
    b->capacity = 2 * old.capacity + 64;
    b->bone = make(s, th_bone, b->capacity);
    b->next = make(s, uint32_t, b->capacity);
    if (old.count > 0) {
        memcpy(b->bone, old.bone, old.count * sizeof *b->bone);
        memcpy(b->next, old.next, old.count * sizeof *b->next);
    }
}

uint16_t find_bone(scene *s, uint32_t joint, th_mat34 inverse_bind)
{
    assert(joint < s->nodes.count && s->bones.count <= s->bones.capacity);
    bone_list *b = &s->bones;
    if (b->count == b->capacity)
        grow(s);
    uint32_t *link = &b->first[joint];
    for (; *link != TH_NO_INDEX; link = &b->next[*link])
        if (memcmp(&b->bone[*link].inverse_bind, &inverse_bind, sizeof inverse_bind) == 0)
            return (uint16_t)*link;
    if (b->count == TH_MAX_BONES)
        give_up(TH_ERR_LIMIT, "more than %u bones", TH_MAX_BONES);
    b->bone[b->count] = (th_bone){joint, inverse_bind};
    b->next[b->count] = TH_NO_INDEX;
    *link = b->count;
    return (uint16_t)b->count++;
}

/* One list per joint exists already, so walking the joints in order sorts the bones. */
const uint16_t *finish_bones(scene *s)
{
    const bone_list *b = &s->bones;
    th_bone *sorted = make(s, th_bone, b->count);
    uint16_t *final = make(s, uint16_t, b->count);
    uint32_t count = 0;
    for (uint32_t j = 0; j < s->nodes.count; j++)
        for (uint32_t i = b->first[j]; i != TH_NO_INDEX; i = b->next[i]) {
            final[i] = (uint16_t)count;
            sorted[count++] = b->bone[i];
        }
    assert(count == b->count);
    s->model->bones = sorted;
    s->model->bone_count = count;
    return final;
}

void add_bone_for_each_joint(scene *s)
{
    assert(s->bones.count == 0);
    for (uint32_t j = 0; j < s->nodes.count; j++) {
        th_dmat34 inverse = TH_DMAT34_IDENTITY;
        bool singular = !th_dmat34_invert(&s->nodes.rest[j], &inverse);
        warn(s, WARN_BIND_INVERSE, singular, "%s", s->model->joints[j].name);
        find_bone(s, j, th_mat34_from(inverse));
    }
    finish_bones(s);
}
