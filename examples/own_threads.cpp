// own_threads: a crowd posed by the tasks of somebody else's scheduler, here std::async.
#include <throng/throng.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <vector>

using futures = std::vector<std::future<void>>;
static const uint32_t workers = 4, count = 1000;

static void *enqueue(th_task_fn *fn, uint32_t batches, uint32_t grain, void *task, void *)
{
    futures *started = new futures;
    const uint32_t size = std::max(grain, (batches + workers - 1) / workers);
    for (uint32_t begin = 0, worker = 0; begin < batches; begin += size, worker++)
        started->push_back(std::async(std::launch::async, fn, begin, std::min(begin + size, batches), worker, task));
    return started;
}

static void finish(void *started, void *)
{
    delete static_cast<futures *>(started); // each waits for its task
}

static th_error err;

static void check(th_result result)
{
    if (result == TH_OK)
        return;
    std::fprintf(stderr, "own_threads: %s\n", err.text);
    std::exit(4);
}

int main()
{
    th_model *model;
    th_compiled_model *compiled;
    th_crowd *crowd;
    th_frame *frame;
    void *palettes;
    check(th_human_create(&model, &err));
    const th_compiled_model_desc how{model};
    check(th_compiled_model_create(&how, &compiled, &err));
    const th_crowd_desc room{&compiled, 1, count};
    check(th_crowd_create(&room, &crowd, &err));
    check(th_crowd_scatter(crowd, count, TH_NO_INDEX, 1, NULL, &err));
    const th_frame_desc threads{crowd, nullptr, {enqueue, finish, nullptr}, workers};
    check(th_frame_create(&threads, &frame, &err));
    check(th_palettes_create(crowd, &palettes, &err));
    th_frame_run(frame, 1.5, palettes);
    std::printf("%u characters, palettes %016llx\n", count, (unsigned long long)th_crowd_hash(crowd, palettes));
    th_palettes_destroy(palettes);
    th_frame_destroy(frame);
    th_crowd_destroy(crowd);
    th_compiled_model_destroy(compiled);
    th_model_destroy(model);
}
