#include "composite.h"

#include "resolve.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static uint32_t strip_begin(const th_mpi_composite *c, int rank)
{
    return (uint32_t)((uint64_t)c->pixels * (uint32_t)rank / (uint32_t)c->job->size);
}

static void set_strips(th_mpi_composite *c)
{
    const int size = c->job->size;
    for (int r = 0; r < size; r++) {
        c->offsets[r] = (int)strip_begin(c, r);
        c->counts[r] = (int)strip_begin(c, r + 1) - c->offsets[r];
    }
    for (int r = 0; r < size; r++) {
        c->own_counts[r] = c->counts[c->job->rank];
        c->own_offsets[r] = r * c->counts[c->job->rank];
    }
    c->between_bytes = (uint64_t)(size - 1) * c->pixels * c->samples * sizeof *c->drawn;
    c->out_bytes = (uint64_t)(c->pixels - (uint32_t)c->counts[0]) * sizeof *c->merged;
}

bool th_mpi_composite_init(th_mpi_composite *c, th_mpi_job *job, uint32_t pixels, uint32_t samples)
{
    const size_t size = (size_t)job->size;
    *c = (th_mpi_composite){.job = job, .pixels = pixels, .samples = samples};
    MPI_Type_contiguous((int)samples, MPI_UINT64_T, &c->pixel);
    MPI_Type_commit(&c->pixel);
    c->counts = calloc(size, sizeof *c->counts);
    c->offsets = calloc(size, sizeof *c->offsets);
    c->own_counts = calloc(size, sizeof *c->own_counts);
    c->own_offsets = calloc(size, sizeof *c->own_offsets);
    c->drawn = calloc(pixels, samples * sizeof *c->drawn);
    if (!c->counts || !c->offsets || !c->own_counts || !c->own_offsets || !c->drawn)
        return false;
    set_strips(c);
    const size_t own = (size_t)c->counts[job->rank] + 1;
    c->strips = calloc(own, size * samples * sizeof *c->strips);
    c->merged = calloc(own, sizeof *c->merged);
    return c->strips && c->merged;
}

void th_mpi_composite_fini(th_mpi_composite *c)
{
    if (c->samples > 0)
        MPI_Type_free(&c->pixel);
    free(c->counts);
    free(c->offsets);
    free(c->own_counts);
    free(c->own_offsets);
    free(c->drawn);
    free(c->strips);
    free(c->merged);
    *c = (th_mpi_composite){0};
}

/* Floats that are not negative are in the order of their bits. */
void th_mpi_composite_put(th_mpi_composite *c, uint32_t sample, const uint8_t *rgba, const float *depth)
{
    assert(sample < c->samples && rgba && depth);
    for (uint32_t i = 0; i < c->pixels; i++) {
        uint32_t colour, bits;
        memcpy(&colour, rgba + (size_t)i * 4, sizeof colour);
        memcpy(&bits, &depth[i], sizeof bits);
        c->drawn[(size_t)i * c->samples + sample] = (uint64_t)bits << 32 | colour;
    }
}

static void exchange(th_mpi_composite *c)
{
    MPI_Request request;
    MPI_Ialltoallv(c->drawn, c->counts, c->offsets, c->pixel, c->strips, c->own_counts, c->own_offsets, c->pixel,
                   c->job->world, &request);
    th_mpi_wait(c->job, request, "strips of a picture");
}

static void merge(th_mpi_composite *c)
{
    const uint32_t pixels = (uint32_t)c->counts[c->job->rank];
    const size_t own = (size_t)pixels * c->samples;
    for (int r = 1; r < c->job->size; r++) {
        const uint64_t *strip = c->strips + (size_t)r * own;
        for (size_t i = 0; i < own; i++)
            c->strips[i] = strip[i] < c->strips[i] ? strip[i] : c->strips[i];
    }
    th_mpi_resolve(c->strips, pixels, c->samples, c->merged);
}

static void gather(th_mpi_composite *c, uint8_t *out_rgba)
{
    MPI_Request request;
    MPI_Igatherv(c->merged, c->counts[c->job->rank], MPI_UINT32_T, out_rgba, c->counts, c->offsets, MPI_UINT32_T, 0,
                 c->job->world, &request);
    th_mpi_wait(c->job, request, "merged strips of a picture");
}

void th_mpi_composite_run(th_mpi_composite *c, uint8_t *out_rgba)
{
    exchange(c);
    merge(c);
    gather(c, out_rgba);
}

void th_mpi_composite_run_bare(th_mpi_composite *c, uint8_t *out_rgba)
{
    exchange(c);
    gather(c, out_rgba);
}
