/* The machine, the build and its state: what a measurement depends on besides the code. */
#ifndef THRONG_BENCH_CONTEXT_H
#define THRONG_BENCH_CONTEXT_H

#include <jobs/jobs.h>

#include <jansson.h>

/* Of our JSON documents; docs/reference/schema has one for each. A new one is due when a reader of the old one would
 * misread or reject a document. Only this one is read. */
enum { TH_SCHEMA_VERSION = 1 };

enum { TH_CONTEXT_MAX_CACHES = 8 };

typedef struct th_cache {
    char type[16]; /* "Data", "Instruction" or "Unified" */
    uint32_t level;
    uint64_t bytes;
    uint32_t sharing; /* hardware threads that share one */
} th_cache;

/* Whether cores may exceed their base clock for a while. */
typedef enum th_boost {
    TH_BOOST_UNKNOWN = 0,
    TH_BOOST_OFF,
    TH_BOOST_ON,
} th_boost;

typedef struct th_context {
    char date[32]; /* RFC 3339, local time */
    char host[64];
    char executable[256];
    char cpu[96];
    char cpu_family[16], cpu_model_number[16], cpu_stepping[16]; /* of the first CPU; "" = unknown, as on ARM */
    char cpu_microcode[32];
    th_cpus cpus;
    uint32_t cores; /* 0 where the topology is unknown */
    uint32_t threads_per_core;
    uint32_t numa_nodes;
    double mhz;        /* of the fastest CPU now; 0 = unknown */
    char governor[32]; /* "" where the system does not show its clock, as in most virtual machines */
    th_boost boost;
    /* The system's clock source, "tsc" on most machines; "" = unknown. */
    char clock_source[32];
    uint64_t clock_step_ns; /* as th_clock_resolution_ns */
    bool virtual_machine;
    int nice;            /* of the thread that asked; 0 where it is unknown */
    double load[3];      /* over 1, 5 and 15 minutes; includes this program */
    char system[96];     /* kernel and release: "Linux 6.1.0" */
    char libc[32];       /* "glibc 2.36": results of sine and cosine depend on it */
    uint32_t page_bytes; /* of a memory page */
    char huge_pages[16]; /* transparent ones: "always", "madvise", "never"; "" = unknown */
    th_cache caches[TH_CONTEXT_MAX_CACHES];
    uint32_t cache_count;
} th_context;

/* Fills in all of it. Never fails: fields that are unknown stay empty. */
void th_context_read(th_context *context);

/* Google Benchmark's context block with our fields added, and with what is true of this process now: its command line,
 * environment and scheduling. */
json_t *th_context_json(const th_context *context);

/* "0.1.0 (1a2b3c4d5e6f)". Static storage. */
const char *th_context_version(void);

#endif
