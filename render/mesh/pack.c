#include "pack.h"

#include <core/half.h>

#include <assert.h>
#include <math.h>
#include <string.h>

#define LARGEST_HALF 65504.0

_Static_assert(sizeof(th_render_mesh_vertex) == 56, "vertices are compared and drawn as bytes");

uint32_t th_pack_normal(const float normal[3])
{
    assert(normal);
    double n[3], length = 0;
    for (int i = 0; i < 3; i++) {
        n[i] = (double)normal[i];
        length += n[i] * n[i];
    }
    length = sqrt(length);
    if (!(length > 0)) {
        memcpy(n, (double[3]){0, 0, 1}, sizeof n);
        length = 1;
    }
    uint32_t packed = 0;
    for (int i = 0; i < 3; i++)
        packed |= ((uint32_t)lrint(n[i] / length * 511) & 0x3ff) << (10 * i);
    return packed;
}

void th_unpack_normal(uint32_t packed, float out[3])
{
    for (int i = 0; i < 3; i++) {
        const int32_t bits = (int32_t)(packed >> (10 * i) & 0x3ff);
        out[i] = (float)(bits < 512 ? bits : bits - 1024) / 511;
    }
}

/* Rounds down, then adds the missing units to the weights that lost most (largest remainder method). Of equal weights
 * the first is chosen, so the order stays descending. */
static void pack_weights(const float weight[TH_MAX_INFLUENCES], uint8_t out[TH_MAX_INFLUENCES])
{
    assert(weight[0] > 0); /* the largest */
    double sum = 0, lost[TH_MAX_INFLUENCES];
    for (uint32_t k = 0; k < TH_MAX_INFLUENCES; k++)
        sum += (double)weight[k];
    int left = 255;
    for (uint32_t k = 0; k < TH_MAX_INFLUENCES; k++) {
        const double exact = (double)weight[k] / sum * 255;
        out[k] = (uint8_t)exact;
        lost[k] = exact - out[k];
        left -= out[k];
    }
    assert(left >= 0 && left <= (int)TH_MAX_INFLUENCES);
    for (; left > 0; left--) {
        uint32_t most = 0;
        for (uint32_t k = 1; k < TH_MAX_INFLUENCES; k++)
            if (lost[k] > lost[most])
                most = k;
        out[most]++;
        lost[most] = -1;
    }
}

static uint16_t pack_uv(float value, double offset)
{
    const double near = fmax(-LARGEST_HALF, fmin((double)value - offset, LARGEST_HALF));
    return th_half_from_float((float)near + 0.0F);
}

void th_pack_uv_offset(const th_mesh *mesh, double offset[2])
{
    assert(mesh && offset);
    for (int i = 0; i < 2; i++) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (uint32_t v = 0; v < mesh->vertex_count; v++) {
            low = fmin(low, (double)mesh->vertices[v].uv[i]);
            high = fmax(high, (double)mesh->vertices[v].uv[i]);
        }
        offset[i] = low <= high ? floor((low + high) / 2) : 0;
    }
}

double th_pack_uv_error(const th_mesh *mesh, uint32_t width, uint32_t height)
{
    const double pixels[2] = {width, height};
    double error = 0, uv_offset[2];
    th_pack_uv_offset(mesh, uv_offset);
    for (uint32_t v = 0; v < mesh->vertex_count; v++)
        for (int i = 0; i < 2; i++) {
            const float uv = mesh->vertices[v].uv[i];
            const double packed = (double)th_half_to_float(pack_uv(uv, uv_offset[i])) + uv_offset[i];
            error = fmax(error, fabs(packed - (double)uv) * pixels[i]);
        }
    return error;
}

void th_pack_vertex(const th_vertex *vertex, const double uv_offset[2], th_render_mesh_vertex *out)
{
    assert(vertex && uv_offset && out);
    for (int i = 0; i < 3; i++)
        out->position[i] = vertex->position[i] + 0.0F; /* turns -0 into 0, so that equal positions are equal bytes */
    out->normal = th_pack_normal(vertex->normal);
    for (int i = 0; i < 2; i++)
        out->uv[i] = pack_uv(vertex->uv[i], uv_offset[i]);
    memcpy(out->color, vertex->color, sizeof out->color);
    pack_weights(vertex->weight, out->weight);
    for (uint32_t k = 0; k < TH_MAX_INFLUENCES; k++)
        out->bone[k] = vertex->bone[out->weight[k] > 0 ? k : 0];
    memset(out->deltas, 0, sizeof out->deltas);
}
