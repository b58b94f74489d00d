#include "models.h"

#include <cli/command.h>

#include <throng/anim/archive.h>

#include <stdlib.h>

typedef struct parcel {
    uint8_t *bytes;
    uint64_t size;
} parcel;

/* Sends the parcel of rank 0 to all. Returns an exit code, the same on all ranks. */
static int send(th_mpi_job *job, parcel *p)
{
    th_mpi_broadcast(job, &p->size, sizeof p->size, "the size of a model");
    if (job->rank > 0)
        p->bytes = malloc(p->size + 1);
    const int code = th_mpi_agree(job, p->bytes ? TH_EXIT_GOOD : TH_EXIT_ENVIRONMENT, "no memory for a model");
    if (code == TH_EXIT_GOOD)
        th_mpi_broadcast(job, p->bytes, p->size, "a model");
    return code;
}

static int share_model(th_mpi_job *job, th_model **model)
{
    parcel p = {0};
    th_error err;
    th_result result = TH_OK;
    size_t size = 0;
    if (job->rank == 0)
        p.bytes = th_archive_write(*model, &size);
    p.size = size;
    int code = send(job, &p);
    if (code == TH_EXIT_GOOD) {
        if (job->rank > 0)
            result = th_archive_read(p.bytes, p.size, model, &err);
        code = th_mpi_agree_on(job, result, &err);
    }
    free(p.bytes);
    return code;
}

int th_mpi_models(th_mpi_job *job, const th_model_options *options, th_model_set *out)
{
    th_error err;
    th_result result = TH_OK;
    *out = (th_model_set){0};
    if (job->rank == 0)
        result = th_model_set_init(out, options, NULL, &err);
    int code = th_mpi_agree_on(job, result, &err);
    uint32_t count = out->count;
    if (code == TH_EXIT_GOOD)
        th_mpi_broadcast(job, &count, sizeof count, "the number of models");
    for (uint32_t m = 0; m < count && code == TH_EXIT_GOOD; m++) {
        code = share_model(job, &out->models[m]);
        out->count = job->rank > 0 && out->models[m] ? m + 1 : out->count;
    }
    if (code == TH_EXIT_GOOD && job->rank > 0)
        result = th_model_set_choose_clip(out, options->clip, &err);
    return code == TH_EXIT_GOOD ? th_mpi_agree_on(job, result, &err) : code;
}
