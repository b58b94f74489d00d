#include "explore_orders.h"

#include "explore.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

bool explore_lists_sites;

enum { LISTING = 100 }; /* tries that reach all operations */

static const char *const names[] = {
    [memory_order_relaxed] = "relaxed", [memory_order_acquire] = "acquire", [memory_order_release] = "release",
    [memory_order_acq_rel] = "acq_rel", [memory_order_seq_cst] = "seq_cst",
};

/* Whether an operation with this verb may have `weaker`, and that is weaker than `order`. */
static bool is_weaker(const char *verb, memory_order weaker, memory_order order)
{
    const bool loads = strcmp(verb, "load") == 0 || strcmp(verb, "finds") == 0, stores = strcmp(verb, "store") == 0;
    if (loads && weaker != memory_order_relaxed && weaker != memory_order_acquire)
        return false;
    if (stores && weaker != memory_order_relaxed && weaker != memory_order_release)
        return false;
    if (weaker == order || order == memory_order_relaxed)
        return false;
    return weaker == memory_order_relaxed || order == memory_order_seq_cst || order == memory_order_acq_rel;
}

/* In a process of its own, because a failure ends it. */
static bool fails(const explore_weakness *weakness, bool (*run)(uint32_t try))
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
        explore_weaken(weakness);
        for (uint32_t try = 0; run(try); try++)
            ;
        _exit(0);
    }
    int status = 0;
    explore_insist(child > 0 && waitpid(child, &status, 0) == child, "no process");
    return status != 0;
}

/* Whether the file says that a weaker order passes: that is not tried again. */
static bool is_known_to_pass(const char *file, const char *line, const char *order)
{
    char word[20];
    const char *found = strstr(file, line), *end = found ? strchr(found, '\n') : NULL;
    snprintf(word, sizeof word, " %s passes", order);
    const char *passes = end ? strstr(found, word) : NULL;
    return passes && passes < end;
}

static void print_site(FILE *out, const explore_weakness *site, uint32_t nth, const char *file,
                       bool (*run)(uint32_t try))
{
    char line[200], number[20] = "";
    const char *slash = strrchr(site->file, '/');
    if (nth > 0)
        snprintf(number, sizeof number, " (%u)", nth + 1);
    snprintf(line, sizeof line, "%s %s %s %s%s: %s;", slash ? slash + 1 : site->file, site->function, site->verb,
             site->object, number, names[site->order]);
    fputs(line, out);
    for (memory_order order = memory_order_relaxed; order < memory_order_seq_cst; order++) {
        explore_weakness weaker = *site;
        weaker.order = order;
        if (is_weaker(site->verb, order, site->order) && names[order])
            fprintf(out, " %s %s", names[order],
                    !is_known_to_pass(file, line, names[order]) && fails(&weaker, run) ? "fails" : "passes");
    }
    fprintf(out, "\n");
}

static bool is_same_place(const explore_weakness *a, const explore_weakness *b)
{
    return strcmp(a->file, b->file) == 0 && strcmp(a->function, b->function) == 0 && strcmp(a->verb, b->verb) == 0 &&
           strcmp(a->object, b->object) == 0;
}

static int compare_lines(const void *a, const void *b)
{
    const explore_weakness *x = a, *y = b;
    const int files = strcmp(x->file, y->file);
    return files ? files : x->line != y->line ? x->line - y->line : strcmp(x->verb, y->verb);
}

static char *read_text(const char *path)
{
    char *text = calloc(1, 1 << 16);
    FILE *file = fopen(path, "r");
    if (file && text)
        text[fread(text, 1, (1 << 16) - 1, file)] = '\0';
    if (file)
        fclose(file);
    return text;
}

int explore_orders(const char *path, bool (*run)(uint32_t try))
{
    const explore_weakness *listed;
    explore_weakness sites[256];
    explore_lists_sites = true;
    for (uint32_t try = 0; try < LISTING && run(try); try++)
        ;
    explore_lists_sites = false;
    const uint32_t count = explore_sites(&listed);
    memcpy(sites, listed, count * sizeof *sites);
    qsort(sites, count, sizeof *sites, compare_lines);

    const bool updates = getenv("THRONG_GOLDEN_UPDATE") != NULL;
    char *text = NULL, *wanted = read_text(path);
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t nth = 0;
        for (uint32_t before = 0; before < i; before++)
            nth += is_same_place(&sites[before], &sites[i]);
        if (sites[i].order != memory_order_relaxed)
            print_site(out, &sites[i], nth, updates ? "" : wanted, run);
        fflush(out);
    }
    fclose(out);
    fputs(text, stdout);
    int code = strcmp(text, wanted) != 0;
    if (updates) {
        FILE *file = fopen(path, "w");
        code = !file || fputs(text, file) < 0 || fclose(file) != 0;
    } else if (code) {
        fprintf(stderr, "FAILED: %s says otherwise (THRONG_GOLDEN_UPDATE=1 stores this)\n", path);
    }
    free(text);
    free(wanted);
    return code;
}
