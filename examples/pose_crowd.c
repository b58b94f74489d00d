/* pose_crowd [MODEL [COUNT]]: a model file in, bone palettes out, on all cores. Without a file it poses the embedded
 * human. */
#include <throng/throng.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

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

    /* Who plays what, from when and how fast: here by a seed. */
    const uint32_t count = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1000;
    const th_compiled_model *models[] = {compiled};
    th_crowd *crowd;
    const th_crowd_desc room = {.compiled_models = models, .compiled_model_count = 1, .capacity = count};
    check(th_crowd_create(&room, &crowd, &err), &err);
    check(th_crowd_scatter(crowd, count, TH_NO_INDEX, 1, NULL, &err), &err);

    /* Threads, the frame that hands batches of the crowd to them, and memory for the palettes. */
    th_jobs *jobs;
    th_frame *frame;
    void *palettes;
    check(th_jobs_create(&(th_jobs_desc){0}, &jobs, &err), &err);
    check(th_frame_create(&(th_frame_desc){.crowd = crowd, .jobs = jobs}, &frame, &err), &err);
    check(th_palettes_create(crowd, &palettes, &err), &err);

    const clock_t begin = clock();
    enum { FRAMES = 100 };
    for (int f = 0; f < FRAMES; f++)
        th_frame_run(frame, f / 60.0, palettes);
    const double ns = 1e9 * (double)(clock() - begin) / CLOCKS_PER_SEC / FRAMES;
    printf("%u characters, %u threads: %.2f ns of CPU a bone, palettes %016llx\n", count, th_jobs_threads(jobs),
           ns / count / model->bone_count, (unsigned long long)th_crowd_hash(crowd, palettes));

    th_palettes_destroy(palettes);
    th_frame_destroy(frame);
    th_jobs_destroy(jobs);
    th_crowd_destroy(crowd);
    th_compiled_model_destroy(compiled);
    th_model_destroy(model);
}
