#include "labelled_metrics.h"

#include "metrics/prometheus.h"

#include <stdbool.h>
#include <string.h>

/* A part of a text. */
typedef struct slice {
    const char *at;
    size_t size;
} slice;

static const char help[] = "# HELP ";

/* Of a text; ours has a tenth of that. Each is looked for in the whole of it. */
enum { MOST_FAMILIES = 200 };

static slice line_at(const char *at)
{
    return (slice){at, strcspn(at, "\n")};
}

static const char *next(slice line)
{
    return line.at + line.size + (line.at[line.size] == '\n');
}

static bool begins(slice line, const char *with)
{
    const size_t size = strlen(with);
    return line.size >= size && memcmp(line.at, with, size) == 0;
}

/* The name of the family that a line begins; empty: none. */
static slice family_of(slice line)
{
    if (!begins(line, help))
        return (slice){"", 0};
    const char *name = line.at + strlen(help);
    return (slice){name, strcspn(name, " \n")};
}

static bool is_same(slice a, slice b)
{
    return a.size == b.size && memcmp(a.at, b.at, a.size) == 0;
}

/* Where the family begins in the text; NULL: nowhere. */
static const char *find(const char *text, slice family)
{
    for (const char *at = text; at && *at; at = next(line_at(at)))
        if (is_same(family_of(line_at(at)), family))
            return at;
    return NULL;
}

/* A sample begins with the family's name; "_bucket", "_sum" or "_count" may follow. */
static bool is_sample(slice line, slice family)
{
    return line.size > family.size && memcmp(line.at, family.at, family.size) == 0 &&
           strchr("_{ ", line.at[family.size]) != NULL;
}

static void write_sample(FILE *file, slice line, const char *instance)
{
    const size_t name = strcspn(line.at, "{ ");
    const bool has_labels = line.at[name] == '{';
    fwrite(line.at, 1, name, file);
    th_prometheus_label(file, '{', "instance", instance);
    fputc(has_labels ? ',' : '}', file);
    fwrite(line.at + name + has_labels, 1, line.size - name - has_labels, file);
    fputc('\n', file);
}

/* at: the family's first line. Writes its comments if they are wanted, and its samples. */
static void write_family(FILE *file, const char *at, slice family, bool comments, const char *instance)
{
    bool is_first = true;
    for (slice line = line_at(at); *line.at && (is_first || family_of(line).size == 0); line = line_at(next(line))) {
        if (line.at[0] == '#' && comments)
            fprintf(file, "%.*s\n", (int)line.size, line.at);
        else if (is_sample(line, family))
            write_sample(file, line, instance);
        is_first = false;
    }
}

void th_labelled_metrics_write(FILE *file, const th_labelled_text *texts, uint32_t count)
{
    const slice up = {"throng_fleet_up", strlen("throng_fleet_up")};
    for (uint32_t t = 0; t < count; t++) {
        uint32_t families = 0;
        for (const char *at = texts[t].text; at && *at && families < MOST_FAMILIES; at = next(line_at(at))) {
            const slice family = family_of(line_at(at));
            families += family.size > 0;
            bool is_written = family.size == 0 || is_same(family, up) || find(texts[t].text, family) != at;
            for (uint32_t before = 0; before < t && !is_written; before++)
                is_written = find(texts[before].text, family) != NULL;
            for (uint32_t of = t; of < count && !is_written; of++) {
                const char *begin = find(texts[of].text, family);
                if (begin)
                    write_family(file, begin, family, of == t, texts[of].instance);
            }
        }
    }
}
