#include <cli/options.h>

#include <anim/joint_lod.h>
#include <runtime/pose_plan.h>

#include <math.h>

/* The names of an enum, in its order. */
#define CHOICES(name, count, ...)                                                                                      \
    static const char *const name[] = {__VA_ARGS__, NULL};                                                             \
    _Static_assert(sizeof(name) / sizeof *(name) == (count) + 1, "a name for each")

CHOICES(isa_choices, TH_ISA_COUNT, "auto", "scalar", "sse4", "avx2", "avx512", "neon");
CHOICES(pose_evaluator_choices, TH_EVALUATOR_AUTO, "cpu", "gpu");
CHOICES(evaluator_choices, TH_EVALUATOR_COUNT, "cpu", "gpu", "auto");
CHOICES(palette_choices, TH_FORMAT_COUNT, "f32", "quat", "quat16");
CHOICES(drawn_palette_choices, TH_FORMAT_COUNT + 1, "f32", "quat", "quat16", "auto");
CHOICES(sampling_choices, TH_SAMPLING_EXACT + 1, "compiled", "exact");
CHOICES(keys_choices, TH_KEYS_COUNT, "32", "16");
CHOICES(interpolation_choices, TH_INTERPOLATION_COUNT, "authored", "step", "nlerp", "slerp", "cubic");
CHOICES(scheduler_choices, TH_SCHEDULER_COUNT, "work-stealing", "serial", "openmp-dynamic", "openmp-guided",
        "openmp-static");
CHOICES(placement_choices, TH_PLACEMENT_COUNT, "none", "workers", "compact", "spread", "cores");
CHOICES(scene_choices, TH_LAYOUT_COUNT, "grid", "ring", "street", "plaza", "stadium");
CHOICES(behaviour_choices, TH_BEHAVIOUR_KIND_COUNT, "none", "fade", "graph", "blend");
CHOICES(look_choices, TH_LOOK_COUNT, "natural", "lod", "skeleton", "workers", "error");
CHOICES(fail_on_choices, TH_FAIL_ON_COUNT, "inconclusive", "slower", "wrong");
static const char *const result_endings[] = {".json", ".csv", ".md", ".html", NULL};
static const char *const picture_endings[] = {".png", ".mp4", ".mkv", ".webm", NULL};

#define EACH      (TH_COMMAND_INSPECT | TH_COMMAND_POSE | CROWDS)
#define PLAYED    (EACH | TH_COMMAND_SERVE)
#define CROWDS    (MEASURES | DRAWING)
#define DRAWING   (TH_COMMAND_RENDER | TH_COMMAND_VIEW)
#define MEASURES  (REPEATS | TH_COMMAND_STRESS)
#define REPEATS   (TH_COMMAND_BENCH | TH_COMMAND_SCALE)
#define ONE_WAY   (TH_COMMAND_SCALE | TH_COMMAND_STRESS | TH_COMMAND_SERVE | DRAWING)
#define PICTURES  (TH_COMMAND_STRESS | DRAWING)
#define AT(field) offsetof(th_options, field)

/* clang-format off */
const th_option th_option_table[] = {
    {.name = "model", .argument = "FILE", .commands = TH_COMMAND_INSPECT | TH_COMMAND_POSE, .parse = th_parse_file, .offset = AT(models.models),
     .help = "same as [MODEL]: a model file, human for the embedded human (the default), or synthetic:... for a generated model (`throng help synthetic`)"},
    {.name = "model", .argument = "FILE", .commands = CROWDS, .repeatable = true, .parse = th_parse_file, .offset = AT(models.models),
     .help = "model to use: a model file, human for the embedded human (the default), or synthetic:... for a generated model (`throng help synthetic`)"},
    {.name = "model", .argument = "FILE", .commands = TH_COMMAND_SERVE, .repeatable = true, .parse = th_parse_file, .offset = AT(models.models),
     .help = "model to use: a model file, human for the embedded human (the default), synthetic:... for a generated model (`throng help synthetic`), or a folder of model files that clients may request by name"},
    {.name = "animation", .group = TH_GROUP_MODEL, .argument = "FILE", .commands = PLAYED, .repeatable = true, .parse = th_parse_file, .offset = AT(models.animations),
     .help = "attach the clips of this file, or of all model files in this folder, to the models; joints are matched by name"},
    {.name = "clip", .argument = "NAME", .commands = TH_COMMAND_POSE, .parse = th_parse_text, .offset = AT(models.clip),
     .help = "clip to play, by name or by index from 0 (default: the first)"},
    {.name = "clip", .argument = "NAME", .fallback = "all", .commands = CROWDS | TH_COMMAND_SERVE, .parse = th_parse_text, .offset = AT(models.clip),
     .help = "clip to play, by name or by index from 0; all: a mix of all clips"},
    {.name = "time", .argument = "S", .fallback = "0", .commands = TH_COMMAND_POSE, .parse = th_parse_real, .offset = AT(pose.time_s),
     .low = -1e9, .high = 1e9, .help = "time in the clip, in seconds; wraps at the clip's end"},
    {.name = "layer", .argument = "CLIP,...", .commands = TH_COMMAND_POSE, .repeatable = true, .parse = th_parse_word, .noun = "clip", .offset = AT(pose.layers),
     .help = "blend this clip with others, instead of --clip: CLIP[,weight=0..1][,time=S][,mode=override|add|add-rest][,mask=JOINT]"},
    {.name = "count", .argument = "N", .fallback = "1000", .commands = TH_COMMAND_BENCH, .parse = th_parse_whole, .offset = AT(crowd.count),
     .low = 1, .high = 1e6, .help = "number of characters in the crowd; frame/ entries draw 20 unless it is given"},
    {.name = "count", .argument = "N", .fallback = "1000", .commands = TH_COMMAND_VIEW | TH_COMMAND_SERVE, .parse = th_parse_whole, .offset = AT(crowd.count),
     .low = 1, .high = 1e6, .help = "number of characters in the crowd"},
    {.name = "count", .argument = "LIST", .fallback = "10000", .commands = TH_COMMAND_SCALE, .parse = th_parse_counts, .offset = AT(scale.counts),
     .low = 1, .high = 1e6, .help = "number of characters in the crowd; a list, such as 100,1000, is compared in a map; 1000/thread: for each thread, so that the crowd grows with the threads (weak scaling)"},
    {.name = "counters", .commands = MEASURES, .parse = th_parse_switch, .offset = AT(counters),
     .help = "count cycles, instructions and cache misses, where the system permits, in additional frames"},
    {.name = "count", .argument = "N", .commands = TH_COMMAND_STRESS, .parse = th_parse_whole, .offset = AT(crowd.count),
     .low = 1, .high = 1e9, .help = "skip the search; test exactly N characters"},
    {.name = "count", .argument = "N", .fallback = "100", .commands = TH_COMMAND_RENDER, .parse = th_parse_whole, .offset = AT(crowd.count),
     .low = 1, .high = 1e6, .help = "number of characters in the crowd"},
    {.name = "count", .argument = "N", .fallback = "10000", .commands = TH_COMMAND_DEMO, .parse = th_parse_whole, .offset = AT(crowd.count),
     .low = 1, .high = 1e6, .help = "number of characters in the largest crowd"},
    {.name = "threads", .argument = "N", .fallback = "max", .commands = DRAWING | TH_COMMAND_SERVE | TH_COMMAND_DEMO, .parse = th_parse_threads, .offset = AT(crowd.jobs.threads),
     .help = "number of worker threads; max: one per usable CPU"},
    {.name = "out", .argument = "FILE", .fallback = "throng.png", .commands = TH_COMMAND_RENDER, .parse = th_parse_named_file, .offset = AT(render.path),
     .choices = picture_endings, .help = "output file: a .png, numbered .png files with %d in the name, as in crowd-%03d.png, or a video: .mp4, .mkv or .webm"},
    {.name = "out", .argument = "FILE", .commands = TH_COMMAND_DEMO, .parse = th_parse_named_file, .offset = AT(render.path),
     .choices = picture_endings, .help = "write a film instead of opening a window: .mp4, .mkv or .webm, or numbered .png files with %d in the name, as in demo-%04d.png"},
    {.name = "draw", .commands = TH_COMMAND_STRESS, .parse = th_parse_switch, .offset = AT(stress.draw),
     .help = "pose and draw the characters, without a window; otherwise only pose them"},
    {.name = "size", .group = TH_GROUP_PICTURE, .argument = "WxH", .fallback = "1280x720", .commands = TH_COMMAND_RENDER | TH_COMMAND_STRESS | TH_COMMAND_DEMO, .parse = th_parse_size, .offset = AT(picture),
     .low = 16, .high = 8192, .help = "picture size in pixels"},
    {.name = "size", .argument = "WxH", .fallback = "160x90", .commands = TH_COMMAND_BENCH, .parse = th_parse_size, .offset = AT(picture),
     .low = 16, .high = 8192, .help = "picture size of frame/ entries in pixels"},
    {.name = "frames", .argument = "N", .fallback = "1", .commands = TH_COMMAND_RENDER, .parse = th_parse_whole, .offset = AT(render.frame_count),
     .low = 1, .high = 1e6, .help = "number of frames to render"},
    {.name = "size", .argument = "WxH", .fallback = "1280x720", .commands = TH_COMMAND_VIEW, .parse = th_parse_size, .offset = AT(picture),
     .low = 16, .high = 8192, .help = "window size in screen coordinates"},
    {.name = "frames", .argument = "N", .fallback = "1200", .commands = TH_COMMAND_DEMO, .parse = th_parse_whole, .offset = AT(render.frame_count),
     .low = 1, .high = 1e6, .help = "length of the demo in frames of --fps"},
    {.name = "frames", .argument = "N", .commands = TH_COMMAND_VIEW, .parse = th_parse_whole, .offset = AT(view.frames),
     .low = 1, .high = 1e9, .help = "quit after N frames (default: when the window is closed)"},
    {.name = "fps", .argument = "N", .fallback = "30", .commands = TH_COMMAND_RENDER | TH_COMMAND_DEMO, .parse = th_parse_real, .offset = AT(render.frames_per_s),
     .low = 0.001, .high = 1000, .help = "frames per second of crowd time"},
    {.name = "start", .group = TH_GROUP_PICTURE, .argument = "S", .fallback = "0", .commands = DRAWING, .parse = th_parse_real, .offset = AT(crowd.start_s),
     .low = -1e6, .high = 1e6, .help = "start time in seconds"},
    {.name = "camera", .group = TH_GROUP_PICTURE, .argument = "YAW,PITCH,ZOOM", .commands = PICTURES, .parse = th_parse_camera, .offset = AT(camera),
     .help = "yaw and downward pitch in degrees, and zoom; yaw 0: in front of the crowd, 90: on its +X side; zoom 1: the camera sees all of it; what is left out is the scene's; render flies from A to B with A:B"},
    {.name = "scene", .group = TH_GROUP_PICTURE, .argument = "NAME", .fallback = "grid", .commands = PICTURES, .parse = th_parse_choice, .offset = AT(scene),
     .choices = scene_choices, .help = "arrangement of the characters, its surroundings, and a camera that they fill: grid or ring on the plain ground, street, plaza or stadium; only in a street do walking characters move; of a mix nobody walks in a plaza or a stadium"},
    {.name = "behaviour", .argument = "NAME", .fallback = "none", .commands = PICTURES | TH_COMMAND_SERVE, .parse = th_parse_choice, .offset = AT(behaviour.kind),
     .choices = behaviour_choices, .help = "what characters play: none: one clip each; fade: all clips in random order, in place; graph: stand, walk, change gait, gesture; blend: idle and gaits at a pace"},
    {.name = "look", .argument = "NAME", .fallback = "natural", .commands = DRAWING, .parse = th_parse_choice, .offset = AT(crowd.look),
     .choices = look_choices, .help = "shading: natural; lod: a colour per level of detail; skeleton: bones as lines; workers: a colour per thread; error: a colour per error on screen, yellow from half a pixel on"},
    {.name = "error", .argument = "N", .commands = PICTURES, .parse = th_parse_whole, .offset = AT(crowd.error_every),
     .low = 1, .high = 1e6, .help = "measure the error on screen in every N-th frame: the pixels between each visible character's skin and its full evaluation"},
    {.name = "samples", .group = TH_GROUP_PICTURE, .argument = "N", .fallback = "4", .commands = TH_COMMAND_BENCH | PICTURES | TH_COMMAND_DEMO, .parse = th_parse_whole, .offset = AT(picture.samples),
     .low = 1, .high = 64, .help = "antialiasing samples per pixel (MSAA)"},
    {.name = "shadow", .argument = "N", .fallback = "512", .commands = TH_COMMAND_BENCH, .parse = th_parse_whole, .offset = AT(crowd.shadow_pixels),
     .low = 0, .high = 16384, .help = "shadow map size of frame/ entries, in pixels per side; 0: no shadows"},
    {.name = "shadow", .group = TH_GROUP_PICTURE, .argument = "N", .fallback = "2048", .commands = PICTURES | TH_COMMAND_DEMO, .parse = th_parse_whole, .offset = AT(crowd.shadow_pixels),
     .low = 0, .high = 16384, .help = "shadow map size in pixels per side; 0: no shadows"},
    {.name = "share", .argument = "HZ", .fallback = "0", .commands = TH_COMMAND_BENCH | TH_COMMAND_SCALE | PICTURES, .parse = th_parse_real, .offset = AT(crowd.share_hz),
     .low = 0, .high = 1000, .help = "far characters of a clip that are within the same of this many steps per second show one pose; 0: each is posed by itself"},
    {.name = "animation-budget", .argument = "MS", .commands = PICTURES, .parse = th_parse_budget, .offset = AT(crowd.budget),
     .low = 0.001, .high = 1e4, .help = "share and hold poses, and leave out joints, by distance, so that evaluating poses takes at most this many milliseconds a frame, or with bones:N at most N bones; says by how many pixels characters are then off"},
    {.name = "threads", .argument = "N", .fallback = "2", .commands = TH_COMMAND_BENCH, .parse = th_parse_threads, .offset = AT(crowd.jobs.threads),
     .help = "number of threads for jobs/ and frame/ entries; max: one per usable CPU"},
    {.name = "threads", .argument = "LIST", .commands = TH_COMMAND_SCALE, .parse = th_parse_thread_list, .offset = AT(scale.threads),
     .high = 1024, .help = "thread counts to compare, such as 1,2,4 or 1-8 or 1,max; at most 1024 threads together (default: up to the number of usable CPUs)"},
    {.name = "threads", .argument = "LIST", .fallback = "max", .commands = TH_COMMAND_STRESS, .parse = th_parse_thread_list, .offset = AT(stress.threads),
     .high = HUGE_VAL, .help = "thread counts to search with, such as 1,2,4 or 1-8 or 1,max; max: one per usable CPU"},
    {.name = "scheduler", .argument = "LIST", .fallback = "work-stealing", .commands = TH_COMMAND_SCALE, .parse = th_parse_schedulers, .offset = AT(scale.schedulers),
     .choices = scheduler_choices, .help = "schedulers to compare, separated by commas: work-stealing, serial, openmp-dynamic, openmp-guided, openmp-static, or all"},
    {.name = "scheduler", .argument = "NAME", .fallback = "work-stealing", .commands = DRAWING, .parse = th_parse_choice, .offset = AT(crowd.jobs.scheduler),
     .choices = scheduler_choices, .help = "scheduler: work-stealing, serial, openmp-dynamic, openmp-guided or openmp-static"},
    {.name = "placement", .argument = "NAME", .fallback = "workers", .commands = TH_COMMAND_SCALE | TH_COMMAND_STRESS | TH_COMMAND_VIEW, .parse = th_parse_choice, .offset = AT(crowd.jobs.placement),
     .choices = placement_choices, .help = "thread pinning; none: not pinned; workers: one CPU per worker; compact: close to the caller; spread: far apart; cores: close, but one per core first"},
    {.name = "grain", .argument = "LIST", .commands = TH_COMMAND_SCALE, .parse = th_parse_whole_list, .offset = AT(scale.grains),
     .low = 1, .high = 1e6, .help = "grain size in batches of 16 characters; a list is compared in a map (default: 2)"},
    {.name = "frames", .argument = "N", .commands = TH_COMMAND_BENCH | TH_COMMAND_SCALE, .parse = th_parse_whole, .offset = AT(measure.iterations),
     .low = 1, .high = 1e6, .help = "frames per repetition (default: chosen to take a few milliseconds)"},
    {.name = "budget-ms", .argument = "MS", .fallback = "16.6", .commands = TH_COMMAND_STRESS, .parse = th_parse_real, .offset = AT(stress.budget_ms),
     .low = 0.001, .high = 1e4, .help = "frame time budget and frame interval in milliseconds"},
    {.name = "frames", .argument = "N", .fallback = "1800", .commands = TH_COMMAND_STRESS, .parse = th_parse_whole, .offset = AT(stress.frames),
     .low = 299, .high = 1e5, .help = "scheduled ticks per confirmation run, each a frame or missed; at least 299, the fewest that can show that 99 % meet the budget"},
    {.name = "repetitions", .argument = "N", .commands = REPEATS, .parse = th_parse_whole, .offset = AT(measure.repetitions),
     .low = 1, .high = 1e5, .help = "repetitions of each entry (default: until --precision or --max-time is reached)"},
    {.name = "repetition-time", .argument = "MS", .commands = TH_COMMAND_BENCH, .parse = th_parse_multiple, .offset = AT(measure.repetition_ns),
     .unit = 1e6, .low = 0.01, .high = 1e6, .help = "shortest time of a repetition in milliseconds (default: 5; 1 with several processes)"},
    {.name = "repetition-time", .argument = "MS", .commands = TH_COMMAND_SCALE, .parse = th_parse_multiple, .offset = AT(measure.repetition_ns),
     .unit = 1e6, .low = 0.01, .high = 1e6, .help = "shortest time of a repetition in milliseconds (default: 20)"},
    {.name = "precision", .argument = "PERCENT", .fallback = "1", .commands = REPEATS, .parse = th_parse_fraction, .offset = AT(measure.precision),
     .unit = 100, .low = 0.01, .high = 100, .help = "repeat until the 95 % CI of every compared median is within +- this percentage"},
    {.name = "max-time", .argument = "S", .fallback = "0.2", .commands = TH_COMMAND_BENCH, .parse = th_parse_multiple, .offset = AT(measure.max_ns),
     .unit = 1e9, .low = 0.001, .high = 86400, .help = "stop after this many seconds per entry even if --precision is not reached"},
    {.name = "max-time", .argument = "S", .fallback = "2", .commands = TH_COMMAND_SCALE, .parse = th_parse_multiple, .offset = AT(measure.max_ns),
     .unit = 1e9, .low = 0.001, .high = 86400, .help = "stop after this many seconds per measured point or ablation even if --precision is not reached"},
    {.name = "dry-run", .commands = MEASURES, .parse = th_parse_switch, .offset = AT(measure.is_dry_run),
     .help = "run each entry once and check its palettes; time nothing"},
    {.name = "seed", .argument = "N", .fallback = "1", .commands = CROWDS | TH_COMMAND_SERVE, .parse = th_parse_seed, .offset = AT(crowd.seed),
     .help = "random seed for clips, phases and speeds; the same seed gives the same crowd"},
    {.name = "isa", .argument = "NAME", .fallback = "auto", .commands = TH_COMMAND_POSE | ONE_WAY, .parse = th_parse_choice, .offset = AT(crowd.isa),
     .choices = isa_choices, .help = "kernel instruction set: auto, scalar, sse4, avx2, avx512 or neon"},
    {.name = "evaluator", .argument = "NAME", .fallback = "cpu", .commands = TH_COMMAND_POSE, .parse = th_parse_choice, .offset = AT(pose.evaluator),
     .choices = pose_evaluator_choices, .help = "what poses: cpu, or gpu: an OpenGL compute shader, compiled keys only; it writes the palettes of the scalar kernel"},
    {.name = "evaluator", .group = TH_GROUP_PICTURE, .argument = "NAME", .fallback = "cpu", .commands = PICTURES, .parse = th_parse_choice, .offset = AT(crowd.evaluator),
     .choices = evaluator_choices, .help = "what culls and poses: cpu, gpu (OpenGL compute shaders, which write the palettes of the scalar kernel), or auto: gpu where there is one"},
    {.name = "palette", .argument = "NAME", .fallback = "auto", .commands = DRAWING, .parse = th_parse_choice, .offset = AT(crowd.palette),
     .choices = drawn_palette_choices, .help = "palette format: f32, quat (quaternions, in two thirds of the memory; not for scaled joints), quat16 (in a third), or auto: quat on a GPU where all models can, otherwise f32"},
    {.name = "palette", .argument = "NAME", .fallback = "f32", .commands = TH_COMMAND_POSE | (ONE_WAY & ~(DRAWING)), .parse = th_parse_choice, .offset = AT(crowd.palette),
     .choices = palette_choices, .help = "palette format: f32, quat (quaternions, in two thirds of the memory; not for scaled joints), or quat16 (in a third)"},
    {.name = "sampling", .argument = "HOW", .fallback = "exact", .commands = TH_COMMAND_POSE, .parse = th_parse_choice, .offset = AT(crowd.compile.sampling),
     .choices = sampling_choices, .help = "exact: authored keys in double precision; compiled: resampled keys, as the kernels play them"},
    {.name = "sampling", .argument = "HOW", .fallback = "compiled", .commands = ONE_WAY, .parse = th_parse_choice, .offset = AT(crowd.compile.sampling),
     .choices = sampling_choices, .help = "compiled: resampled keys; exact: authored keys"},
    {.name = "interpolation", .group = TH_GROUP_MODEL, .argument = "HOW", .fallback = "authored", .commands = PLAYED, .parse = th_parse_choice, .offset = AT(crowd.compile.interpolation),
     .choices = interpolation_choices, .help = "interpolation between keys; authored: each track's own mode; step, nlerp, slerp or cubic: this mode for all tracks"},
    {.name = "keys", .group = TH_GROUP_MODEL, .argument = "BITS", .fallback = "32", .commands = PLAYED, .parse = th_parse_choice, .offset = AT(crowd.compile.keys),
     .choices = keys_choices, .help = "bits per number in compiled keys: 32, or 16 in half the memory"},
    {.name = "error-bound", .group = TH_GROUP_MODEL, .argument = "MM", .fallback = "0.1", .commands = PLAYED, .parse = th_parse_fraction, .offset = AT(crowd.compile.bound_m),
     .unit = 1000, .low = 1e-4, .high = 1e3, .help = "largest error of a compiled clip, in millimetres on a human of 1.8 m"},
    {.name = "processes", .argument = "N", .commands = TH_COMMAND_BENCH, .for_one = true, .parse = th_parse_whole, .offset = AT(bench.processes),
     .low = 1, .high = TH_REPORT_MAX_PROCESSES, .help = "measure in N processes, one after the other (default: 12 with --save unless --repetitions or --dry-run is given, else 1)"},
    {.name = "processes", .argument = "N", .fallback = "1", .commands = TH_COMMAND_SCALE, .for_one = true, .parse = th_parse_whole, .offset = AT(scale.processes),
     .low = 1, .high = TH_REPORT_MAX_PROCESSES, .help = "measure in N processes, one after the other; intervals are then over processes"},
    {.name = "external", .argument = "COMMAND", .commands = TH_COMMAND_BENCH, .repeatable = true, .parse = th_parse_word, .noun = "program", .offset = AT(bench.programs),
     .help = "also measure the entries of another program, in turns with pose/ entries; a shell runs COMMAND (docs/reference/external.md)"},
    {.name = "threshold", .argument = "PERCENT", .fallback = "2.5", .commands = TH_COMMAND_COMPARE, .for_one = true, .parse = th_parse_fraction, .offset = AT(compare.desc.threshold),
     .unit = 100, .low = 0.01, .high = 1e6, .help = "changes up to this are none, in percent; of the slowest 5 % up to ten times this"},
    {.name = "fail-on", .argument = "VERDICT", .fallback = "inconclusive", .commands = TH_COMMAND_COMPARE, .for_one = true, .parse = th_parse_choice, .offset = AT(compare.desc.fail_on),
     .choices = fail_on_choices, .help = "what is a failure: wrong palettes only; slower: also slower entries (exit code 1), and those not compared at all (5); inconclusive: also undecided ones (5)"},
    {.name = "run", .commands = TH_COMMAND_COMPARE, .for_one = true, .parse = th_parse_switch, .offset = AT(compare.run),
     .help = "OLD and NEW are throng programs: run their bench in turns, with the options after --, until each entry is decided or one is slower"},
    {.name = "interleaved", .commands = TH_COMMAND_COMPARE, .for_one = true, .parse = th_parse_switch, .offset = AT(compare.desc.interleaved),
     .help = "processes of OLD and NEW were measured alternately, as --run does; else intervals are wider, those of medians twice"},
    {.name = "max-time", .argument = "S", .fallback = "600", .commands = TH_COMMAND_COMPARE, .for_one = true, .parse = th_parse_multiple, .offset = AT(compare.max_ns),
     .unit = 1e9, .low = 0.001, .high = 86400, .help = "with --run, start no more processes after this many seconds"},
    {.name = "force", .commands = TH_COMMAND_COMPARE, .for_one = true, .parse = th_parse_switch, .offset = AT(compare.desc.force),
     .help = "compare even if machine, build or scene differ"},
    {.name = "filter", .argument = "RE", .commands = TH_COMMAND_BENCH | TH_COMMAND_COMPARE, .parse = th_parse_regex, .offset = AT(filter),
     .help = "only entries that match this regular expression"},
    {.name = "import-timeout", .group = TH_GROUP_MODEL, .argument = "S", .fallback = "8", .commands = PLAYED, .parse = th_parse_real, .offset = AT(models.import_timeout_s),
     .low = 0.01, .high = 86400, .help = "abort the import of a file after this many seconds of processor time; in proportion, how much work compiling its clips may take"},
    {.name = "allow-outside", .group = TH_GROUP_MODEL, .commands = PLAYED, .parse = th_parse_switch, .offset = AT(models.allow_outside),
     .help = "read files that a model names even if they lie outside of its folder"},
    {.name = "listen", .argument = "ADDR:PORT", .fallback = "127.0.0.1:8347", .commands = TH_COMMAND_SERVE, .parse = th_parse_text, .offset = AT(serve.desc.listen),
     .help = "address to listen on, such as [::1]:8347; port 0: any free port; an address other than loopback needs a token; or unix:PATH, a socket for this user and root"},
    {.name = "rate", .argument = "HZ", .fallback = "60", .commands = TH_COMMAND_SERVE, .parse = th_parse_rate, .offset = AT(serve.desc.settings.rate_hz),
     .low = TH_SETTINGS_MIN_RATE_HZ, .high = TH_SETTINGS_MAX_RATE_HZ, .help = "ticks per second; 0: as many as possible"},
    {.name = "results", .argument = "DIR", .commands = TH_COMMAND_SERVE, .parse = th_parse_text, .offset = AT(serve.desc.results),
     .help = "folder for results and reports of runs; files are written atomically (default: kept in memory)"},
    {.name = "token-file", .argument = "FILE", .commands = TH_COMMAND_SERVE, .parse = th_parse_text, .offset = AT(serve.desc.token_file),
     .help = "file whose first line is the token that clients must send"},
    {.name = "allow-host", .argument = "NAME", .commands = TH_COMMAND_SERVE, .repeatable = true, .parse = th_parse_word, .noun = "host", .offset = AT(serve.hosts),
     .help = "additional Host header to accept, besides localhost, IP addresses and, where other machines can connect, this machine's name"},
    {.name = "max-memory", .argument = "MB", .commands = TH_COMMAND_SERVE, .parse = th_parse_multiple, .offset = AT(serve.desc.limits.max_memory_bytes),
     .unit = 1e6, .low = 1, .high = 1e9, .help = "memory for models, crowds, pictures and runs together, in MB, beyond a constant base of each process (default: a quarter of the memory of the machine or cgroup)"},
    {.name = "max-memory", .argument = "MB", .commands = TH_COMMAND_STRESS, .parse = th_parse_multiple, .offset = AT(stress.memory_bytes),
     .unit = 1e6, .low = 1, .high = 1e9, .help = "memory limit for the crowd in MB (default: 80 % of available memory)"},
    {.name = "json", .group = TH_GROUP_OUTPUT, .commands = EACH | TH_COMMAND_COMPARE | TH_COMMAND_DEMO, .for_one = true, .parse = th_parse_switch, .offset = AT(output.json),
     .help = "print JSON instead of text"},
    {.name = "save", .group = TH_GROUP_OUTPUT, .argument = "NAME", .commands = REPEATS, .for_one = true, .parse = th_parse_name, .offset = AT(output.save),
     .help = "save the result as a baseline under this name; replaces a baseline of the same name"},
    {.name = "out", .argument = "FILE", .commands = MEASURES | TH_COMMAND_COMPARE, .for_one = true, .repeatable = true, .parse = th_parse_output, .offset = AT(output),
     .choices = result_endings, .help = "also write the result to FILE, as its name ends: .json, .csv, .md (Markdown, with all columns of the tables), or .html, a page with plots; atomic"},
    {.name = "out", .argument = "FILE", .commands = EACH & ~TH_COMMAND_RENDER & ~MEASURES, .parse = th_parse_text, .offset = AT(output.out),
     .help = "also write the result to FILE as JSON; atomic"},
    {.name = "trace", .group = TH_GROUP_OUTPUT, .argument = "FILE", .commands = CROWDS, .for_one = true, .parse = th_parse_text, .offset = AT(trace),
     .help = "write a trace of all threads to FILE, for ui.perfetto.dev or chrome://tracing"},
    {.name = "help", .commands = PLAYED | TH_COMMAND_COMPARE | TH_COMMAND_DEMO, .parse = th_parse_switch, .offset = AT(help), .repeatable = true,
     .help = "show this help"},
    {0},
};
/* clang-format on */

_Static_assert(sizeof th_option_table / sizeof *th_option_table <= TH_RUN_MAX_OPTIONS, "room for all in a run");
