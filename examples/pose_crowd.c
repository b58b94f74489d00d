/* pose_crowd [MODEL [COUNT]]: a model file in, bone palettes out, on all cores. Without a file it poses the embedded
 * human. */
#include <throng/throng.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { FRAMES = 100 };

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(th_result result, const th_error *err)
{
    if (result == TH_OK)
        return;
    fprintf(stderr, "pose_crowd: %s\n", err->text);
    exit(result == TH_ERR_INPUT || result == TH_ERR_LIMIT ? 3 : 4);
}

int main(int argc, char **argv)
{
    th_error err;
    th_model *model;
    const th_import_desc file = {.path = argv[1]};
    check(argc > 1 ? th_import(&file, &model, &err) : th_human_create(&model, &err), &err);

    /* Clips become keys at equal distances, at most 0.1 mm off on a human of 1.8 m. */
    th_compiled_model *compiled;
    check(th_compiled_model_create(&(th_compiled_model_desc){.model = model}, &compiled, &err), &err);
    const th_compiled_model *compiled_models[] = {compiled};

    /* Who plays what, from when and how fast: here by a seed. */
    const uint32_t count = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1000;
    if (count == 0)
        return 2;
    th_crowd *crowd;
    const th_crowd_desc crowd_desc = {.compiled_models = compiled_models, .compiled_model_count = 1, .capacity = count};
    check(th_crowd_create(&crowd_desc, &crowd, &err), &err);
    check(th_crowd_scatter(crowd, count, TH_NO_INDEX, 1, &err), &err);

    /* Threads, the frame that hands batches of the crowd to them, and memory for the palettes. */
    th_jobs *jobs;
    th_frame *frame;
    void *palettes;
    check(th_jobs_create(&(th_jobs_desc){0}, &jobs, &err), &err);
    check(th_frame_create(&(th_frame_desc){.crowd = crowd, .jobs = jobs}, &frame, &err), &err);
    check(th_palettes_create(crowd, &palettes, &err), &err);

    double begin_s = 0;
    for (int f = 0; f <= FRAMES; f++) {
        if (f == 1)
            begin_s = now_s(); /* the first frame touches the memory */
        th_frame_run(frame, f / 60.0, palettes);
    }
    double ns = 1e9 * (now_s() - begin_s) / FRAMES;
    const th_palette_range range = th_crowd_palettes(crowd, 0);
    unsigned long long hash = 14695981039346656037u; /* FNV-1a */
    for (size_t i = range.offset; i < range.offset + range.count * range.stride; i++)
        hash = (hash ^ ((unsigned char *)palettes)[i]) * 1099511628211u;
    printf("%u characters, %u threads: %.2f ns a bone, palettes %016llx\n", count, th_jobs_threads(jobs),
           ns / count / model->bone_count, hash);

    th_palettes_destroy(palettes);
    th_frame_destroy(frame);
    th_jobs_destroy(jobs);
    th_crowd_destroy(crowd);
    th_compiled_model_destroy(compiled);
    th_model_destroy(model);
}
