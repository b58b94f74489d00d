/* A sampler of glTF has all weights of a mesh, so its keys are at the times of all tracks. Between them each track
 * keeps its motion: lines are lines, and where one is a spline, all become pieces of splines. Where steps meet other
 * curves, a step becomes two keys a moment apart. */
#include "weights.h"

#include <throng/anim/exact.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>

typedef enum curve { LINES, STEPS, SPLINES } curve;

/* A moment of the keys. */
typedef struct moment {
    double ticks;
    bool before; /* just before: the value that a step leaves */
} moment;

typedef struct mesh_tracks {
    const th_weight_track **track; /* by target of the mesh; NULL: it stays */
    moment *moments;
    uint32_t count;
    curve curve;
} mesh_tracks;

double th_export_last_weight(const th_clip *clip)
{
    double last = -1;
    for (uint32_t t = 0; t < clip->weight_track_count; t++) {
        const th_track *track = &clip->weight_tracks[t].track;
        last = fmax(last, fmin(fmax(track->times[track->key_count - 1], 0), clip->duration_ticks));
    }
    return last;
}

/* ---- when ---- */

static int compare_moments(const void *a, const void *b)
{
    const moment *x = a, *y = b;
    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? -1 : 1;
    return y->before - x->before;
}

static void add_moments(mesh_tracks *m, const th_track *track, double duration)
{
    for (uint32_t k = 0; k < track->key_count; k++) {
        const double ticks = fmin(fmax(track->times[k], 0), duration);
        if (track->steps && m->curve != STEPS && ticks > 0)
            m->moments[m->count++] = (moment){ticks, true};
        m->moments[m->count++] = (moment){ticks, false};
    }
}

static curve curve_of(const mesh_tracks *m, uint32_t targets)
{
    bool splines = false, others = false;
    for (uint32_t t = 0; t < targets; t++) {
        const th_track *track = m->track[t] ? &m->track[t]->track : NULL;
        splines |= track && track->tangents;
        others |= track && track->key_count > 1 && !track->steps;
    }
    return splines ? SPLINES : others ? LINES : STEPS;
}

/* Returns false if out of memory, or if no track moves the mesh: then count is 0. */
static bool find_tracks(const th_clip *clip, const th_mesh *mesh, bool hold, mesh_tracks *m)
{
    size_t room = 1, moved = 0;
    *m = (mesh_tracks){.track = calloc(mesh->target_count + 1u, sizeof(*m->track))};
    for (uint32_t t = 0; m->track && t < mesh->target_count; t++)
        for (uint32_t i = 0; i < clip->weight_track_count; i++)
            if (clip->weight_tracks[i].weight == mesh->targets[t].weight) {
                m->track[t] = &clip->weight_tracks[i];
                room += 2 * (size_t)clip->weight_tracks[i].track.key_count;
                moved++;
            }
    m->moments = calloc(room, sizeof *m->moments);
    if (!m->track || !m->moments || moved == 0)
        return m->track && m->moments;
    m->curve = curve_of(m, mesh->target_count);
    for (uint32_t t = 0; t < mesh->target_count; t++)
        if (m->track[t])
            add_moments(m, &m->track[t]->track, clip->duration_ticks);
    if (hold)
        m->moments[m->count++] = (moment){clip->duration_ticks, false};
    qsort(m->moments, m->count, sizeof *m->moments, compare_moments);
    uint32_t kept = 1;
    for (uint32_t k = 1; k < m->count; k++)
        if (compare_moments(&m->moments[k], &m->moments[kept - 1]) != 0)
            m->moments[kept++] = m->moments[k];
    m->count = kept;
    if (m->curve == SPLINES && kept == 1) /* which need two keys */
        m->curve = LINES;
    return true;
}

/* ---- what ---- */

static double value_at(const th_model *model, const th_mesh *mesh, const mesh_tracks *m, uint32_t t, moment at)
{
    if (!m->track[t])
        return (double)model->weights[mesh->targets[t].weight].rest;
    return th_exact_weight(m->track[t], at.before ? nextafter(at.ticks, -HUGE_VAL) : at.ticks,
                           TH_INTERPOLATION_AUTHORED);
}

/* The slope at one end of the interval from a to b, per tick. A cubic is known by its values at both ends and two
 * points between: here at a third and at two thirds. */
static double slope_at(const th_model *model, const th_mesh *mesh, const mesh_tracks *m, uint32_t t, moment a, moment b,
                       bool at_end)
{
    const double length = b.ticks - a.ticks;
    if (!(length > 0))
        return 0;
    b.before = true; /* not beyond a step */
    const double p = value_at(model, mesh, m, t, a), s = value_at(model, mesh, m, t, b);
    const double q = value_at(model, mesh, m, t, (moment){a.ticks + length / 3, false}),
                 r = value_at(model, mesh, m, t, (moment){b.ticks - length / 3, false});
    const double rise = at_end ? -p + 4.5 * q - 9 * r + 5.5 * s : -5.5 * p + 9 * q - 4.5 * r + s;
    return rise / length;
}

static void put_number(th_glb *glb, double number)
{
    th_glb_put(glb, &(float){(float)number}, sizeof(float));
}

static void put_key(th_glb *glb, const th_model *model, const th_mesh *mesh, const mesh_tracks *m, uint32_t k,
                    double ticks_per_second)
{
    const moment *at = &m->moments[k];
    for (int part = -1; part <= 1; part++)
        for (uint32_t t = 0; t < mesh->target_count; t++) {
            double slope = 0;
            if (part < 0 && k > 0)
                slope = slope_at(model, mesh, m, t, at[-1], *at, true);
            else if (part > 0 && k + 1 < m->count)
                slope = slope_at(model, mesh, m, t, *at, at[1], false);
            if (part == 0)
                put_number(glb, value_at(model, mesh, m, t, *at));
            else if (m->curve == SPLINES)
                put_number(glb, slope * ticks_per_second);
        }
}

static uint32_t put_times(th_glb *glb, const th_animation *a, const mesh_tracks *m)
{
    th_glb_accessor times = {.view = a->view,
                             .start = glb->byte_count,
                             .component = TH_GLB_F32,
                             .type = "SCALAR",
                             .count = m->count,
                             .extent = 1};
    for (uint32_t k = 0; k < m->count; k++)
        put_number(glb, m->moments[k].ticks / a->clip->ticks_per_second);
    if (glb->result != TH_OK)
        return 0;
    float *seconds = (float *)(glb->bytes + times.start);
    th_export_spread(seconds, m->count);
    times.min = &(double){(double)seconds[0]};
    times.max = &(double){(double)seconds[m->count - 1]};
    return th_glb_add_accessor(glb, &times);
}

static void put_mesh(th_glb *glb, const th_export_nodes *nodes, const th_animation *a, uint32_t mesh,
                     const mesh_tracks *m)
{
    static const char *const modes[] = {"LINEAR", "STEP", "CUBICSPLINE"};
    const th_mesh *morphed = &nodes->model->meshes[mesh];
    const uint32_t input = put_times(glb, a, m);
    const th_glb_accessor values = {.view = a->view,
                                    .start = glb->byte_count,
                                    .component = TH_GLB_F32,
                                    .type = "SCALAR",
                                    .count = m->count * morphed->target_count * (m->curve == SPLINES ? 3 : 1)};
    for (uint32_t k = 0; k < m->count; k++)
        put_key(glb, nodes->model, morphed, m, k, a->clip->ticks_per_second);
    const json_int_t sampler = (json_int_t)json_array_size(a->samplers);
    th_glb_append(glb, a->samplers,
                  json_pack("{s:I, s:I, s:s}", "input", (json_int_t)input, "output",
                            (json_int_t)th_glb_add_accessor(glb, &values), "interpolation", modes[m->curve]));
    th_glb_append(glb, a->channels,
                  json_pack("{s:I, s:{s:I, s:s}}", "sampler", sampler, "target", "node",
                            (json_int_t)nodes->of_mesh[mesh], "path", "weights"));
}

void th_export_weights(th_glb *glb, const th_export_nodes *nodes, const th_animation *animation, bool hold)
{
    assert(glb && nodes && animation);
    for (uint32_t m = 0; m < nodes->model->mesh_count && animation->clip->weight_track_count > 0; m++) {
        mesh_tracks tracks;
        if (nodes->of_mesh[m] == TH_NO_INDEX || nodes->model->meshes[m].target_count == 0)
            continue;
        if (!find_tracks(animation->clip, &nodes->model->meshes[m], hold, &tracks) && glb->result == TH_OK)
            glb->result = TH_ERR_MEMORY;
        else if (tracks.count > 0)
            put_mesh(glb, nodes, animation, m, &tracks);
        free(tracks.track);
        free(tracks.moments);
    }
}
