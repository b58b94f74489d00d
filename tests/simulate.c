#include "simulate.h"

#include "explore_atomics.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#undef aligned_alloc
#undef free

enum { MAX_LOCALS = 64, LINES = 4096 /* a power of two */, LINE_BYTES = 64, STACK_BYTES = 64 << 10 };

typedef enum fiber_state { READY, ASLEEP, JOINING, ENDED } fiber_state;

typedef struct fiber {
    ucontext_t context;
    void *stack;
    unsigned char locals[MAX_LOCALS];
    void *(*fn)(void *arg);
    void *arg;
    double now;
    fiber_state state;
    const void *waits_for; /* a futex, a fiber */
    double asleep_since;
} fiber;

/* A cache line: who has it, and since when it can be had from there. */
typedef struct line {
    uintptr_t address; /* divided by LINE_BYTES; 0: not used yet */
    uint64_t holders[SIMULATE_MAX_CORES / 64];
    bool is_exclusive;
    double free_at;
} line;

static struct {
    simulate_machine machine;
    ucontext_t home;
    unsigned char home_locals[MAX_LOCALS];
    fiber fibers[SIMULATE_MAX_CORES];
    uint32_t fiber_count;
    fiber *current;
    double next; /* the earliest clock of the others that are ready */
    line lines[LINES];
} world;

uint32_t explore_usable_cpus = SIMULATE_MAX_CORES, explore_range_max = 65535, explore_pool_group = 8;

extern unsigned char __start_explore_locals[], __stop_explore_locals[];

static void insist(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "simulate: %s\n", what);
    exit(1);
}

/* ---- fibers ---- */

static fiber *earliest(const fiber *except)
{
    fiber *first = NULL;
    for (fiber *f = world.fibers; f < world.fibers + world.fiber_count; f++)
        if (f != except && f->state == READY && (!first || f->now < first->now))
            first = f;
    return first;
}

static void find_next(void)
{
    const fiber *other = earliest(world.current);
    world.next = other ? other->now : (double)INFINITY;
}

static void exchange_locals(unsigned char *from, const unsigned char *to)
{
    const size_t bytes = (size_t)(__stop_explore_locals - __start_explore_locals);
    memcpy(from, __start_explore_locals, bytes);
    memcpy(__start_explore_locals, to, bytes);
}

/* Until the current fiber is ready and its clock the earliest. */
static void let_others(void)
{
    fiber *self = world.current;
    if (self->state == READY && self->now <= world.next)
        return;
    fiber *next = earliest(NULL);
    insist(next, "all threads wait for each other");
    if (next == self)
        return;
    exchange_locals(self->locals, next->locals);
    world.current = next;
    find_next();
    swapcontext(&self->context, &next->context);
}

static void fiber_main(void)
{
    fiber *self = world.current;
    self->fn(self->arg);
    self->state = ENDED;
    for (fiber *f = world.fibers; f < world.fibers + world.fiber_count; f++)
        if (f->state == JOINING && f->waits_for == self) {
            f->state = READY;
            f->now = fmax(f->now, self->now);
        }
    if (self == world.fibers) {
        exchange_locals(self->locals, world.home_locals);
        setcontext(&world.home);
    }
    let_others();
}

static fiber *fiber_create(void *(*fn)(void *arg), void *arg)
{
    insist(world.fiber_count < SIMULATE_MAX_CORES, "more threads than cores");
    fiber *f = &world.fibers[world.fiber_count++];
    void *stack = f->stack;
    if (!stack)
        stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    insist(stack != MAP_FAILED, "no memory for a stack");
    *f = (fiber){.stack = stack, .fn = fn, .arg = arg, .now = world.current ? world.current->now : 0};
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = stack;
    f->context.uc_stack.ss_size = STACK_BYTES;
    makecontext(&f->context, fiber_main, 0);
    world.next = fmin(world.next, f->now);
    return f;
}

void simulate_run(const simulate_machine *machine, void *(*fn)(void *arg), void *arg)
{
    insist(__stop_explore_locals - __start_explore_locals <= MAX_LOCALS, "too many variables of a thread");
    world.machine = *machine;
    world.fiber_count = 0;
    world.current = NULL;
    memset(world.lines, 0, sizeof world.lines);
    world.current = fiber_create(fn, arg);
    world.next = (double)INFINITY;
    exchange_locals(world.home_locals, world.current->locals);
    swapcontext(&world.home, &world.current->context);
}

double simulate_now(void)
{
    return world.current->now;
}

void simulate_work(double ns)
{
    world.current->now += ns;
}

/* ---- cache lines ---- */

static line *line_of(const volatile void *object)
{
    const uintptr_t address = (uintptr_t)object / LINE_BYTES;
    for (uintptr_t i = address * 0x9e3779b97f4a7c15u >> 52;; i++) {
        line *l = &world.lines[i % LINES];
        if (l->address == address)
            return l;
        if (l->address == 0) {
            l->address = address;
            return l;
        }
    }
}

static bool holds(const line *l, uint32_t core)
{
    return l->holders[core / 64] >> core % 64 & 1;
}

static double transfer_ns(const line *l, uint32_t core)
{
    const uint32_t together = world.machine.cores_together, first = core - core % together;
    bool is_held = false;
    for (uint32_t i = 0; i < SIMULATE_MAX_CORES; i++) {
        is_held |= holds(l, i);
        if (holds(l, i) && i >= first && i < first + together)
            return world.machine.near;
    }
    return is_held ? world.machine.far : world.machine.near;
}

/* When the line has come, at the earliest. */
static double fetch(line *l, uint32_t core, double now)
{
    const double start = fmax(now, l->free_at);
    l->free_at = start + world.machine.occupied;
    return start + transfer_ns(l, core);
}

static uint32_t own_core(void)
{
    return (uint32_t)(world.current - world.fibers);
}

static void read_line(const volatile void *object)
{
    let_others();
    line *l = line_of(object);
    const uint32_t core = own_core();
    if (holds(l, core)) {
        world.current->now += world.machine.hit;
        return;
    }
    world.current->now = fetch(l, core, world.current->now);
    l->is_exclusive = false;
    l->holders[core / 64] |= (uint64_t)1 << core % 64;
}

static double own_line(const volatile void *object)
{
    line *l = line_of(object);
    const uint32_t core = own_core();
    if (holds(l, core) && l->is_exclusive)
        return world.current->now;
    const double arrives = fetch(l, core, world.current->now);
    l->free_at = arrives; /* nobody can pass it on before */
    memset(l->holders, 0, sizeof l->holders);
    l->holders[core / 64] |= (uint64_t)1 << core % 64;
    l->is_exclusive = true;
    return arrives;
}

static void change_line(const volatile void *object)
{
    let_others();
    world.current->now = own_line(object) + world.machine.atomic;
    line_of(object)->free_at = world.current->now;
}

void explore_load(explore_site at, const volatile void *object)
{
    (void)at;
    read_line(object);
}

/* Nobody waits for a store, except if it is sequentially consistent. */
void explore_store(explore_site at, const volatile void *object)
{
    if (at.order == memory_order_seq_cst) {
        change_line(object);
        return;
    }
    let_others();
    own_line(object);
    world.current->now += world.machine.hit;
}

void explore_change(explore_site at, const volatile void *object)
{
    (void)at;
    change_line(object);
}

void explore_compare(explore_site at, const volatile void *object)
{
    (void)at;
    change_line(object);
}

uint64_t explore_loaded(explore_site at, const volatile void *object, uint64_t found)
{
    (void)at;
    (void)object;
    return found;
}

void explore_stored(explore_site at, const volatile void *object, uint64_t found, uint64_t value)
{
    (void)at;
    (void)object;
    (void)found;
    (void)value;
}

void explore_changed(explore_site at, const volatile void *object, uint64_t found, uint64_t value)
{
    explore_stored(at, object, found, value);
}

bool explore_compared(explore_site at, explore_site failed, bool weak, const volatile void *object, uint64_t *expected,
                      uint64_t found, uint64_t value)
{
    (void)at;
    (void)failed;
    (void)weak;
    (void)object;
    (void)value;
    const bool is_equal = *expected == found;
    *expected = found;
    return is_equal;
}

/* ---- threads, locks, time ---- */

int explore_thread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*fn)(void *arg), void *arg)
{
    (void)attributes;
    *thread = (pthread_t)(fiber_create(fn, arg) - world.fibers);
    return 0;
}

int explore_thread_join(pthread_t thread, void **result)
{
    (void)result;
    fiber *self = world.current;
    if (world.fibers[thread].state != ENDED) {
        self->state = JOINING;
        self->waits_for = &world.fibers[thread];
        let_others();
    }
    return 0;
}

int explore_thread_name(pthread_t thread, const char *name)
{
    (void)thread;
    (void)name;
    return 0;
}

pthread_t explore_thread_self(void)
{
    return (pthread_t)own_core();
}

/* Only one thread calls. */
int explore_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    (void)mutex;
    (void)attributes;
    return 0;
}

int explore_mutex_destroy(pthread_mutex_t *mutex)
{
    (void)mutex;
    return 0;
}

int explore_mutex_lock(pthread_mutex_t *mutex)
{
    change_line(mutex);
    return 0;
}

int explore_mutex_trylock(pthread_mutex_t *mutex)
{
    return explore_mutex_lock(mutex);
}

int explore_mutex_unlock(pthread_mutex_t *mutex)
{
    return explore_mutex_lock(mutex);
}

int explore_signal_mask(int how, const sigset_t *set, sigset_t *before)
{
    (void)how;
    (void)set;
    (void)before;
    return 0;
}

static long futex_wait(const uint32_t *word, uint32_t value)
{
    if (*word != value) {
        errno = EAGAIN;
        return -1;
    }
    fiber *self = world.current;
    self->state = ASLEEP;
    self->waits_for = word;
    self->asleep_since = self->now;
    let_others();
    return 0;
}

static bool futex_wake_one(const uint32_t *word)
{
    fiber *first = NULL;
    for (fiber *f = world.fibers; f < world.fibers + world.fiber_count; f++)
        if (f->state == ASLEEP && f->waits_for == word && (!first || f->asleep_since < first->asleep_since))
            first = f;
    if (!first)
        return false;
    world.current->now += world.machine.wake_call;
    first->state = READY;
    first->now = world.current->now + world.machine.wake;
    world.next = fmin(world.next, first->now);
    return true;
}

long explore_syscall(long number, ...)
{
    insist(number == SYS_futex, "a system call that is not known");
    va_list arguments;
    va_start(arguments, number);
    const uint32_t *word = va_arg(arguments, const uint32_t *);
    const int operation = va_arg(arguments, int);
    const uint32_t value = va_arg(arguments, uint32_t);
    va_end(arguments);
    change_line(word);
    if (operation == FUTEX_WAIT_PRIVATE)
        return futex_wait(word, value);
    long woken = 0;
    while (woken < (long)value && futex_wake_one(word))
        woken++;
    return woken;
}

void explore_pause(void)
{
    simulate_work(world.machine.pause);
}

uint64_t explore_ticks(void)
{
    if (world.current)
        simulate_work(world.machine.clock);
    return 1000000000u + (uint64_t)(world.current ? world.current->now : 0);
}

int explore_clock(clockid_t clock, struct timespec *now)
{
    (void)clock;
    const uint64_t ns = explore_ticks();
    *now = (struct timespec){.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    return 0;
}

int explore_nanosleep(const struct timespec *time, struct timespec *rest)
{
    (void)rest;
    simulate_work((double)time->tv_sec * 1e9 + (double)time->tv_nsec);
    return 0;
}

th_cpus explore_cpus(void)
{
    return (th_cpus){.online = SIMULATE_MAX_CORES, .affinity = SIMULATE_MAX_CORES, .usable = explore_usable_cpus};
}

void *explore_aligned_alloc(size_t alignment, size_t size)
{
    return aligned_alloc(alignment, size);
}

void explore_free(void *memory)
{
    free(memory);
}
