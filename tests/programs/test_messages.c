/* What the program says, as documents: help, completion, complaints, what it tells of models and of poses. It looks
 * inside for the parser and the first two, because a process for each line takes time. */
#include "fixture_document.h"
#include "fixture_program.h"
#include "fixture_text.h"
#include "src/cli/help.h"
#include <cli/options.h>

#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <wordexp.h>

#define LAYERS                                                                                                         \
    "pose --layer walk,weight=0.75 --layer run,weight=0.25,time=0.5 --layer wave,mode=add,mask=clavicle_l --time 0.2"

/* ---- help ---- */

static const th_command *shown;

static void print_next_command(FILE *file)
{
    th_help_command(shown++, file);
}

Test(messages, help_is_the_stored_one_and_fits_a_terminal)
{
    golden_document rows[32] = {
        {"throng.txt", th_help_program}, {"options.txt", th_help_options}, {"synthetic.txt", th_help_synthetic}};
    char names[32][32], path[512];
    size_t count = 3;
    shown = th_command_table;
    for (const th_command *c = th_command_table; c->name; c++, count++) {
        snprintf(names[count], sizeof names[count], "%s.txt", c->name);
        rows[count] = (golden_document){names[count], print_next_command};
    }
    check_documents("help", rows, count);
    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, TEST_GOLDEN "/documents/help/%s", rows[i].name);
        slurp(path, out, sizeof out);
        expect_narrow(out);
    }
}

Test(messages, help_comes_however_it_is_asked_for)
{
    static const char *const ways[][2] = {{"help", "throng.txt"},           {"help help", "throng.txt"},
                                          {"--help", "throng.txt"},         {"-h", "throng.txt"},
                                          {"help pose", "pose.txt"},        {"pose --help", "pose.txt"},
                                          {"pose -h --time 3", "pose.txt"}, {"help synthetic", "synthetic.txt"},
                                          {"help options", "options.txt"}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        expect(0, ways[i][0], "");
        check_document("help", ways[i][1], out);
        cr_expect_str_eq(err, "");
    }
    cr_expect_eq(throng(""), 2);
    check_document("help", "throng.txt", err);
    cr_expect_str_eq(out, "");
    expect(0, "--version", "");
    cr_expect_eq(strncmp(out, "throng 0.", 9), 0, "%s", out);
}

/* ---- completion ---- */

/* What shells can offer at the end of this line: of which files, and words. */
static void print_completion(FILE *file, int count, const char *const *words)
{
    char *text = NULL;
    size_t size = 0;
    FILE *offered = open_memstream(&text, &size);
    th_complete(count, (char *const *)words, offered);
    fclose(offered);
    for (int i = 0; i < count; i++)
        fprintf(file, "%s%s", i > 0 ? " " : "", words[i][0] ? words[i] : "...");
    fputs(" =>", file);
    const bool no_files = strncmp(text, "none\n", 5) == 0;
    for (char *word = strtok(no_files ? text + 5 : text, "\n"); word; word = strtok(NULL, "\n"))
        fprintf(file, " %.*s", (int)strcspn(word, "\t"), word);
    fputc('\n', file);
    free(text);
}

Test(messages, completion_is_the_stored_one)
{
    char *text = NULL, name[64];
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    print_completion(file, 1, (const char *[]){""});
    print_completion(file, 2, (const char *[]){"help", ""});
    for (const th_command *c = th_command_table; c->name; c++) {
        if (c->operand)
            print_completion(file, 2, (const char *[]){c->name, ""});
        print_completion(file, 2, (const char *[]){c->name, "--"});
    }
    for (const th_option *o = th_option_table; o->name; o++) {
        const th_command *c = th_command_table;
        while (!(c->bit & o->commands))
            c++;
        snprintf(name, sizeof name, "--%s", o->name);
        bool is_seen = false; /* an option before it in the table has the same values */
        for (const th_option *other = th_option_table; other < o; other++)
            is_seen |= strcmp(other->name, o->name) == 0 && other->choices == o->choices;
        if (o->argument && !is_seen)
            print_completion(file, 3, (const char *[]){c->name, name, ""});
    }
    fclose(file);
    check_document(".", "completion.txt", text);
    free(text);
}

/* ---- models and poses ---- */

static const char *const models[][2] = {
    {"inspect.txt", "inspect"},
    {"inspect_synthetic.txt", "inspect synthetic:joints=24,clips=2"},
    {"inspect_still.txt", "inspect synthetic:joints=2,moving=0"},
    {"inspect_targets.txt", "inspect morph.glb"},
    {"inspect_repaired.txt", "inspect limits.fbx"},
    {"inspect.json", "inspect --json synthetic:joints=4"},
    {"pose.txt", "pose --clip walk --time 0.37"},
    {"pose_targets.txt", "pose morph.glb --time 0.5"},
    {"pose_cubic.txt", "pose synthetic:joints=5,shape=chain --animation synthetic:clips=2,keys=9 --clip 2 --time 0.1 "
                       "--interpolation cubic"},
    {"pose_layers.txt", LAYERS},
    {"pose_layers_compiled.txt", LAYERS " --sampling compiled --isa scalar"},
    {"pose_layers.json", LAYERS " --json"},
};
static size_t next_model;

/* Documents with fewer digits: in the last ones C libraries differ. The matrices of joints are for test_pose.c. */
static void print_next_model(FILE *file)
{
    const char *command = models[next_model++][1];
    expect(0, command, "");
    json_t *json = json_loads(out, JSON_REJECT_DUPLICATES, NULL);
    if (json && strncmp(command, "pose", 4) == 0)
        json_object_del(json, "joints");
    if (json)
        json_dumpf(json, file, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    fputs(json ? "\n" : out, file);
    json_decref(json);
}

Test(messages, models_and_poses_are_told_as_stored)
{
    enum { COUNT = sizeof models / sizeof *models };
    golden_document rows[COUNT];
    cr_assert_eq(system("cp " TEST_DATA "/morph.glb " TEST_DATA "/limits.fbx ."), 0);
    for (size_t i = 0; i < COUNT; i++)
        rows[i] = (golden_document){models[i][0], print_next_model};
    check_documents("models", rows, COUNT);
}

/* ---- complaints ---- */

#define OUTSIDE                                                                                                        \
    "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"mesh\":0}],\"meshes\":["  \
    "{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],\"accessors\":[{\"bufferView\":0,\"componentType\":5126,"   \
    "\"count\":3,\"type\":\"VEC3\"}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":36}],"                              \
    "\"buffers\":[{\"byteLength\":36,\"uri\":\"../zeros.bin\"}]}"

/* What the lines of messages.txt read, and what they must not replace. Nothing can be kept in /dev/null. */
static void make_files(void)
{
    static const char files[] =
        "mkdir folder folder.html inner; echo old >old.json; echo old >human; ln old.json hard.html; ln -s old.json "
        "link.html\n"
        "ln -s new.json new.html; ln -s /dev/null null.json; ln -s /dev/full full.json\n"
        "echo 'glTF, or so it says' >broken.glb; head -c 36 /dev/zero >zeros.bin; echo '" OUTSIDE
        "' >inner/outside.gltf\n"
        "result() { echo '{\"context\": {'$2'}, \"benchmarks\": [{\"name\": \"e\", \"time_unit\": \"ns\", "
        "\"real_time\": 1, \"cpu_time\": '$3'}]}' >$1.json; }\n"
        "result a '\"commit\":\"c\"' 1; result other '\"commit\":\"c\",\"compiler\":\"another\"' 1\n"
        "result text '' '\"fast\"'; result next '\"throng_schema_version\":2' 1\n"
        "echo '{' >open.json; echo '{\"context\": {}}' >bare.json\n";
    make_folder();
    cr_assert_eq(system(files), 0);
    /* What is taken by mistake does not measure for minutes. */
    setrlimit(RLIMIT_CPU, &(struct rlimit){60, RLIM_INFINITY});
#ifndef __SANITIZE_ADDRESS__ /* which takes more; scale writes through half of it */
    setrlimit(RLIMIT_DATA, &(struct rlimit){128 << 20, RLIM_INFINITY});
#endif
    setenv("XDG_DATA_HOME", "/dev/null", 1);
}

TestSuite(messages, .init = make_files, .fini = remove_folder);

/* Why the parser refuses the words; NULL where it takes them, or where they need a shell. */
static const char *refusal(const char *command)
{
    static th_error error;
    static th_options options;
    static th_run run;
    wordexp_t words;
    if (wordexp(command, &words, WRDE_NOCMD) != 0)
        return NULL;
    const th_command *c = words.we_wordc > 0 ? th_command_find(words.we_wordv[0]) : NULL;
    const bool refused =
        c && th_options_parse(&options, &run, c, (int)words.we_wordc - 1, words.we_wordv + 1, &error) != TH_OK;
    wordfree(&words);
    return refused ? error.text : NULL;
}

/* "command => exit code: text", and more lines of that below; without what the importer's sandbox lacks here. */
static void print_message(const char *command, FILE *file)
{
    static const char begin[] = "throng: ";
    const char *why = refusal(command);
    if (why) {
        fprintf(file, "%s => %d: %s\n", command, TH_EXIT_USAGE, why);
        return;
    }
    fprintf(file, "%s => %d", command, throng(command));
    const char *between = ": ";
    for (char *line = strtok(err, "\n"); line; line = strtok(NULL, "\n")) {
        if (strstr(line, "Landlock"))
            continue;
        const bool begins = strncmp(line, begin, strlen(begin)) == 0;
        cr_expect(begins, "%s: %s", command, line);
        fprintf(file, "%s%s", between, line + (begins ? strlen(begin) : 0));
        between = "\n    ";
    }
    fputc('\n', file);
}

static void list_files(const char *into)
{
    char command[128];
    snprintf(command, sizeof command, "find . -type f -name '[!.]*' -exec cksum {} + | sort >%s", into);
    cr_assert_eq(system(command), 0);
}

/* Every command of the document is run, its headings are kept. */
Test(messages, complaints_are_the_stored_ones_and_no_file_changes)
{
    char line[2048], *text = NULL;
    size_t size = 0;
    FILE *stored = fopen(TEST_GOLDEN "/documents/messages.txt", "r"), *now = open_memstream(&text, &size);
    cr_assert(stored && now);
    list_files(".before");
    while (fgets(line, sizeof line, stored)) {
        char *arrow = strstr(line, " =>");
        if (arrow) {
            *arrow = '\0';
            print_message(line, now);
        } else if (line[0] != ' ') {
            fputs(line, now);
        }
    }
    fclose(stored);
    fclose(now);
    check_document(".", "messages.txt", text);
    list_files(".after");
    cr_expect_eq(system("cmp .before .after"), 0);
    free(text);
}
