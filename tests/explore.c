#include "explore_atomics.h"

#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#undef aligned_alloc
#undef free

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

enum {
    MAX_FIBERS = EXPLORE_MAX_FIBERS,
    MAX_READS = 16,
    MAX_LOCKS = 8,
    MAX_BLOCKS = 64,
    MAX_LOCALS = 64,
    PLACES = 4096, /* a power of two */
    EVENTS = 1024, /* a power of two */
    SHOWN_EVENTS = 250,
    STACK_BYTES = 256 << 10,
    GUARD_BYTES = 64 << 10,
    MAX_STEPS = 20000000,
    READING_NS = 10,       /* what looking at the clock takes */
    RUSH_NS = 20000000,    /* the same for a fiber whose time is up: longer than anybody spins */
    START_NS = 1000000000, /* of time */
};

typedef enum state {
    ENDED,
    READY,
    DOZING,  /* spins, and nothing that it looks at has changed */
    RESTING, /* until nobody else can go on */
    ASLEEP,  /* on a futex */
    LOCKING,
    JOINING,
} state;

static const char *const state_names[] = {
    [ENDED] = "ended",   [READY] = "ready",     [DOZING] = "spinning", [RESTING] = "resting",
    [ASLEEP] = "asleep", [LOCKING] = "locking", [JOINING] = "joining",
};

typedef struct fiber {
    ucontext_t context;
    unsigned char *stack;
    void *fake_stack; /* AddressSanitizer's */
    unsigned char locals[MAX_LOCALS];
    void *(*fn)(void *arg);
    void *arg, *result;
    bool is_joined;
    bool is_rushing; /* its time is up: it may look once more, then it sleeps */
    bool is_patient;
    bool is_stale; /* something that it looked at since its last pause has changed */
    uint32_t read_count;
    const volatile void *reads[MAX_READS]; /* since its last pause */
    const volatile void *waits_for;        /* a futex, a lock, a fiber */
    uint64_t since;                        /* when it fell asleep, in steps */
    int woken;                             /* what the futex returns */
    uint32_t clock[MAX_FIBERS];            /* the latest of everybody that this one has seen */
} fiber;

/* What has been released at an address, for those who acquire. */
typedef struct place {
    const volatile void *address;
    uint64_t run;
    bool is_released;
    uint32_t clock[MAX_FIBERS];
} place;

typedef struct lock {
    const pthread_mutex_t *mutex; /* NULL: destroyed */
    fiber *owner;
} lock;

typedef struct block {
    unsigned char *memory;
    size_t size;
    bool is_freed; /* kept, so that nobody else gets it, and looked after */
} block;

typedef struct event {
    uint32_t fiber;
    int line;
    const char *file, *verb;
    uint64_t value;
} event;

uint32_t explore_usable_cpus = 1, explore_range_max = 65534;

extern unsigned char __start_explore_locals[], __stop_explore_locals[];

static struct {
    explore_policy policy;
    const char *what;
    bool is_running, is_quiet;
    uint64_t runs, steps, hash, now_ns;
    uint32_t refused; /* threads until one is refused */
    ucontext_t home;
    const void *home_stack; /* for AddressSanitizer */
    size_t home_bytes;
    void *home_fake_stack;
    unsigned char home_locals[MAX_LOCALS];
    fiber *current;
    uint32_t fiber_count, lock_count, block_count;
    uint8_t states[MAX_FIBERS];
    fiber fibers[MAX_FIBERS];
    lock locks[MAX_LOCKS];
    block blocks[MAX_BLOCKS];
    place places[PLACES];
    event events[EVENTS];
    uint64_t event_count;
} world = {.now_ns = START_NS};

static uint32_t number(const fiber *f)
{
    return (uint32_t)(f - world.fibers);
}

/* ---- reports ---- */

static void report(void)
{
    fprintf(stderr, "in %s\n", world.what);
    if (!world.is_running)
        return;
    const uint64_t first = world.event_count > SHOWN_EVENTS ? world.event_count - SHOWN_EVENTS : 0;
    uint32_t last = MAX_FIBERS;
    for (uint64_t i = first; i < world.event_count; i++) {
        const event *e = &world.events[i % EVENTS];
        const char *slash = strrchr(e->file, '/');
        fprintf(stderr, "%8llu %s fiber %-3u %s:%d %s %llx\n", (unsigned long long)i, e->fiber == last ? " " : ">",
                e->fiber, slash ? slash + 1 : e->file, e->line, e->verb, (unsigned long long)e->value);
        last = e->fiber;
    }
    for (uint32_t i = 0; i < world.fiber_count && world.fiber_count < 20; i++)
        fprintf(stderr, "fiber %u: %s%s\n", i, state_names[world.states[i]],
                &world.fibers[i] == world.current ? ", running" : "");
    fprintf(stderr, "hash %016llx\n", (unsigned long long)world.hash);
}

void explore_insist(bool holds, const char *format, ...)
{
    if (holds)
        return;
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "FAILED: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    report();
    _exit(1);
}

static void on_signal(int signal)
{
    explore_insist(false, "died of signal %d", signal);
}

static void watch_for_death(void)
{
    static unsigned char stack[64 << 10];
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | (int)SA_RESETHAND};
    sigaction(SIGABRT, &action, NULL);
#ifdef __SANITIZE_ADDRESS__
    (void)stack;
    __sanitizer_set_death_callback(report);
#else
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
#endif
}

static void note(const fiber *who, explore_site at, const char *verb)
{
    world.events[world.event_count++ % EVENTS] =
        (event){.fiber = number(who), .line = at.line, .file = at.file, .verb = verb};
    const uint64_t sum = (uint64_t)number(who) << 32 | (uint32_t)at.line;
    world.hash = (world.hash ^ sum) * 0x100000001b3u;
}

void explore_value(uint64_t value)
{
    if (world.is_running && !world.current->is_rushing)
        world.events[(world.event_count - 1) % EVENTS].value = value;
}

/* ---- fibers ---- */

static void exchange_locals(unsigned char *from, const unsigned char *to)
{
    const size_t bytes = (size_t)(__stop_explore_locals - __start_explore_locals);
    memcpy(from, __start_explore_locals, bytes);
    memcpy(__start_explore_locals, to, bytes);
}

/* Stacks switch after before_switch and have switched before after_switch. ended: nobody will come back. */
static void before_switch(void **fake_stack, bool ended, const void *stack, size_t bytes)
{
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(ended ? NULL : fake_stack, stack, bytes);
#else
    (void)fake_stack, (void)ended, (void)stack, (void)bytes;
#endif
}

static void after_switch(void *fake_stack, const void **stack, size_t *bytes)
{
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(fake_stack, stack, bytes);
#else
    (void)fake_stack, (void)stack, (void)bytes;
#endif
}

static void switch_to(fiber *next)
{
    fiber *self = world.current;
    if (next == self)
        return;
    exchange_locals(self->locals, next->locals);
    world.current = next;
    before_switch(&self->fake_stack, world.states[number(self)] == ENDED, next->stack, STACK_BYTES);
    swapcontext(&self->context, &next->context);
    after_switch(self->fake_stack, NULL, NULL);
}

static void go_home(void)
{
    exchange_locals(world.current->locals, world.home_locals);
    before_switch(NULL, true, world.home_stack, world.home_bytes);
    setcontext(&world.home);
}

/* Who could go on; see explore_choice. */
static explore_choice list_options(bool can_go_on, uint16_t *fibers)
{
    explore_choice choice = {.question = EXPLORE_WHO, .fibers = fibers};
    const uint32_t self = number(world.current);
    if (can_go_on)
        fibers[choice.count++] = (uint16_t)self;
    for (uint32_t i = 0; i < world.fiber_count; i++)
        if (world.states[i] == READY && !(can_go_on && i == self))
            fibers[choice.count++] = (uint16_t)i;
    choice.ready = choice.count;
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < world.fiber_count; i++)
            if (pass == 0 ? world.states[i] == RESTING && choice.ready == 0 && !world.fibers[i].is_patient
                          : world.states[i] == DOZING)
                fibers[choice.count++] = (uint16_t)i;
    for (uint32_t i = 0; choice.count == 0 && i < world.fiber_count; i++)
        if (world.states[i] == RESTING)
            fibers[choice.count++] = (uint16_t)i;
    choice.idle = choice.count - choice.ready;
    for (uint32_t i = 0; i < world.fiber_count; i++)
        if (world.states[i] == ASLEEP)
            fibers[choice.count++] = (uint16_t)i;
    choice.free = can_go_on ? 1 : choice.ready ? choice.ready : choice.idle;
    return choice;
}

static uint32_t choose(const explore_choice *choice)
{
    if (world.is_quiet || choice->count == 1)
        return 0;
    return world.policy.choose(world.policy.ctx, choice);
}

static const explore_site own_site = {"explored", 0, memory_order_seq_cst};

static void forget_reads(fiber *f)
{
    f->read_count = 0;
    f->is_stale = false;
}

/* Makes a fiber go on that waits for time or, if it must be, for a signal. */
static void rouse(fiber *f)
{
    uint8_t *its_state = &world.states[number(f)];
    if (*its_state == DOZING) {
        note(f, own_site, "has spun for long");
        f->is_rushing = true;
    }
    if (*its_state == ASLEEP) {
        note(f, own_site, "gets a signal");
        f->woken = EINTR;
    }
    *its_state = READY;
}

static void reschedule(bool can_go_on)
{
    if (can_go_on && world.is_quiet)
        return;
    uint16_t fibers[MAX_FIBERS];
    const explore_choice choice = list_options(can_go_on, fibers);
    explore_insist(choice.ready + choice.idle > 0, "nobody can go on");
    fiber *next = &world.fibers[fibers[choose(&choice)]];
    rouse(next);
    switch_to(next);
}

static void wait_as(state why, const volatile void *what)
{
    world.current->waits_for = what;
    world.states[number(world.current)] = (uint8_t)why;
    reschedule(false);
}

/* Returns how many. */
static uint32_t wake_those(state why, const volatile void *what)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < world.fiber_count; i++)
        if (world.states[i] == why && world.fibers[i].waits_for == what) {
            world.states[i] = READY;
            count++;
        }
    return count;
}

static void end_of_run(void)
{
    for (uint32_t i = 1; i < world.fiber_count; i++)
        explore_insist(world.states[i] == ENDED && world.fibers[i].is_joined, "fiber %u is left, %s", i,
                       state_names[world.states[i]]);
    go_home();
}

static void fiber_main(void)
{
    const bool is_first = world.current == world.fibers;
    after_switch(NULL, is_first ? &world.home_stack : NULL, is_first ? &world.home_bytes : NULL);
    fiber *self = world.current;
    self->result = self->fn(self->arg);
    world.states[number(self)] = ENDED;
    wake_those(JOINING, self);
    if (is_first)
        end_of_run();
    reschedule(false);
}

static unsigned char *stack_create(void)
{
    unsigned char *stack =
        mmap(NULL, GUARD_BYTES + STACK_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    explore_insist(stack != MAP_FAILED && mprotect(stack + GUARD_BYTES, STACK_BYTES, PROT_READ | PROT_WRITE) == 0,
                   "no memory for a stack");
    return stack + GUARD_BYTES;
}

static fiber *fiber_create(void *(*fn)(void *arg), void *arg)
{
    explore_insist(world.fiber_count < MAX_FIBERS, "too many fibers");
    fiber *f = &world.fibers[world.fiber_count++];
    unsigned char *stack = f->stack ? f->stack : stack_create();
    *f = (fiber){.stack = stack, .fn = fn, .arg = arg};
#ifdef __SANITIZE_ADDRESS__
    ASAN_UNPOISON_MEMORY_REGION(stack, STACK_BYTES); /* of those who ended there */
#endif
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = stack;
    f->context.uc_stack.ss_size = STACK_BYTES;
    makecontext(&f->context, fiber_main, 0);
    world.states[number(f)] = READY;
    f->clock[number(f)] = 1;
    return f;
}

/* ---- what has been seen ---- */

static place *place_of(const volatile void *address, bool create)
{
    uint32_t i = (uint32_t)(((uintptr_t)address >> 1) * 0x9e3779b97f4a7c15u >> 40) % PLACES;
    for (uint32_t looked = 0; looked < PLACES; looked++, i = (i + 1) % PLACES) {
        place *p = &world.places[i];
        if (p->run == world.runs && p->address == address)
            return p;
        if (p->run == world.runs)
            continue;
        if (create)
            *p = (place){.address = address, .run = world.runs};
        return create ? p : NULL;
    }
    explore_insist(!create, "too many places");
    return NULL;
}

static void join_clock(uint32_t *clock, const uint32_t *other)
{
    for (uint32_t i = 0; i < world.fiber_count; i++)
        clock[i] = clock[i] > other[i] ? clock[i] : other[i];
}

static void acquire(const volatile void *address, memory_order order)
{
    if (order == memory_order_relaxed || order == memory_order_release)
        return;
    const place *p = place_of(address, false);
    if (p && p->is_released)
        join_clock(world.current->clock, p->clock);
}

/* continues: as a change does, which leaves what others have released there; a store does not. */
static void release(const volatile void *address, memory_order order, bool continues)
{
    fiber *self = world.current;
    const bool is_relaxed =
        order != memory_order_release && order != memory_order_acq_rel && order != memory_order_seq_cst;
    place *p = place_of(address, !is_relaxed);
    if (!p)
        return;
    if (!continues)
        memset(p->clock, 0, sizeof p->clock);
    p->is_released = !is_relaxed || (continues && p->is_released);
    if (is_relaxed)
        return;
    join_clock(p->clock, self->clock);
    self->clock[number(self)]++;
}

explore_mark explore_mark_here(void)
{
    const uint32_t self = number(world.current);
    return (explore_mark){.fiber = self, .clock = world.current->clock[self]};
}

bool explore_sees(explore_mark mark)
{
    return world.current->clock[mark.fiber] >= mark.clock;
}

/* ---- steps ---- */

static void insist_alive(const volatile void *address)
{
    const unsigned char *byte = (const unsigned char *)(uintptr_t)address;
    for (uint32_t i = 0; i < world.block_count; i++) {
        const block *b = &world.blocks[i];
        explore_insist(!b->is_freed || byte < b->memory || byte >= b->memory + b->size, "touches freed memory");
    }
}

static void step(explore_site at, const volatile void *object, const char *verb)
{
    reschedule(true);
    note(world.current, at, verb);
    insist_alive(object);
    explore_insist(++world.steps < MAX_STEPS, "no end after %d steps", MAX_STEPS);
}

static void remember_read(const volatile void *object)
{
    fiber *self = world.current;
    for (uint32_t i = 0; i < self->read_count; i++)
        if (self->reads[i] == object)
            return;
    if (self->read_count == MAX_READS)
        self->is_stale = true; /* who looks at so much is in no loop yet; the next round shows */
    else
        self->reads[self->read_count++] = object;
}

static void wake_readers(const volatile void *object)
{
    for (uint32_t i = 0; i < world.fiber_count; i++) {
        fiber *f = &world.fibers[i];
        if (f == world.current || world.states[i] == ENDED)
            continue;
        for (uint32_t r = 0; r < f->read_count; r++)
            f->is_stale |= f->reads[r] == object;
        if (f->is_stale && world.states[i] == DOZING)
            world.states[i] = READY;
    }
}

static void has_written(explore_site at, const volatile void *object, bool continues)
{
    if (continues)
        acquire(object, at.order);
    release(object, at.order, continues);
    wake_readers(object);
}

void explore_load(explore_site at, const volatile void *object)
{
    if (!world.is_running)
        return;
    if (!world.current->is_rushing) /* else it sees what it saw when it began to doze: nothing to interleave with */
        step(at, object, "load");
    remember_read(object);
    acquire(object, at.order);
}

static void step_to_write(explore_site at, const volatile void *object, const char *verb)
{
    world.current->is_rushing = false;
    step(at, object, verb);
}

void explore_store(explore_site at, const volatile void *object)
{
    if (!world.is_running)
        return;
    step_to_write(at, object, "store");
    has_written(at, object, false);
}

void explore_change(explore_site at, const volatile void *object)
{
    if (!world.is_running)
        return;
    step_to_write(at, object, "change");
    has_written(at, object, true);
}

void explore_compare(explore_site at, const volatile void *object)
{
    if (world.is_running)
        step_to_write(at, object, "exchange");
}

bool explore_fails_weakly(void)
{
    const explore_choice choice = {.question = EXPLORE_WEAK, .count = 2, .free = 1};
    return world.is_running && choose(&choice) == 1;
}

void explore_compared(explore_site at, const volatile void *object, bool is_equal)
{
    if (!world.is_running)
        return;
    if (is_equal) {
        has_written(at, object, true);
        return;
    }
    world.events[(world.event_count - 1) % EVENTS].verb = "finds";
    remember_read(object);
    acquire(object, at.order);
}

void explore_step(void)
{
    world.current->is_rushing = false;
    step(own_site, NULL, "works");
}

void explore_quiet(bool quiet)
{
    world.is_quiet = quiet;
}

void explore_rest(bool patient)
{
    world.current->is_patient = patient;
    wait_as(RESTING, NULL);
}

uint32_t explore_sleepers(void)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < world.fiber_count; i++)
        count += world.states[i] == ASLEEP;
    return count;
}

/* ---- threads ---- */

void explore_refuse_thread(uint32_t threads)
{
    world.refused = threads;
}

int explore_thread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*fn)(void *arg), void *arg)
{
    (void)attributes;
    if (world.refused == 0)
        return EAGAIN;
    world.refused -= world.refused != UINT32_MAX;
    fiber *f = fiber_create(fn, arg);
    join_clock(f->clock, world.current->clock);
    world.current->clock[number(world.current)]++;
    *thread = (pthread_t)number(f);
    return 0;
}

int explore_thread_join(pthread_t thread, void **result)
{
    fiber *f = &world.fibers[thread];
    explore_insist(thread > 0 && thread < world.fiber_count && !f->is_joined, "joins what is no thread");
    f->is_joined = true;
    while (world.states[thread] != ENDED)
        wait_as(JOINING, f);
    join_clock(world.current->clock, f->clock);
    if (result)
        *result = f->result;
    return 0;
}

int explore_thread_name(pthread_t thread, const char *name)
{
    (void)thread;
    return strlen(name) < 16 ? 0 : ERANGE;
}

pthread_t explore_thread_self(void)
{
    return (pthread_t)number(world.current);
}

int explore_signal_mask(int how, const sigset_t *set, sigset_t *before)
{
    (void)how, (void)set;
    if (before)
        sigemptyset(before);
    return 0;
}

static lock *lock_of(const pthread_mutex_t *mutex)
{
    uint32_t i = 0;
    while (i < world.lock_count && world.locks[i].mutex != mutex)
        i++;
    explore_insist(i < world.lock_count, "there is no such lock");
    return &world.locks[i];
}

int explore_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    (void)attributes;
    explore_insist(world.lock_count < MAX_LOCKS, "too many locks");
    world.locks[world.lock_count++] = (lock){.mutex = mutex};
    return 0;
}

int explore_mutex_destroy(pthread_mutex_t *mutex)
{
    lock *l = lock_of(mutex);
    explore_insist(!l->owner && wake_those(LOCKING, mutex) == 0, "destroys a lock in use");
    l->mutex = NULL;
    return 0;
}

/* NULL when it is taken and the thread does not want to wait. */
static lock *take_lock(pthread_mutex_t *mutex, bool waits)
{
    world.current->is_rushing = false;
    step(own_site, mutex, waits ? "locks" : "tries to lock");
    lock *l = lock_of(mutex);
    while (l->owner && waits)
        wait_as(LOCKING, mutex);
    if (l->owner)
        return NULL;
    explore_insist(l->mutex == mutex, "waits for a lock that is destroyed");
    l->owner = world.current;
    acquire(mutex, memory_order_acquire);
    return l;
}

int explore_mutex_lock(pthread_mutex_t *mutex)
{
    take_lock(mutex, true);
    return 0;
}

int explore_mutex_trylock(pthread_mutex_t *mutex)
{
    return take_lock(mutex, false) ? 0 : EBUSY;
}

int explore_mutex_unlock(pthread_mutex_t *mutex)
{
    lock *l = lock_of(mutex);
    explore_insist(l->owner == world.current, "unlocks what it has not locked");
    note(world.current, own_site, "unlocks");
    release(mutex, memory_order_release, false);
    l->owner = NULL;
    wake_those(LOCKING, mutex);
    return 0;
}

/* ---- the system ---- */

static long futex_wait(const uint32_t *word, uint32_t value)
{
    if (*(const volatile uint32_t *)word != value) {
        errno = EAGAIN;
        return -1;
    }
    world.current->woken = 0;
    world.current->since = world.steps;
    wait_as(ASLEEP, word);
    errno = world.current->woken;
    return errno ? -1 : 0;
}

/* Wakes one of them, if there are any: whoever has slept longest, or whom the policy says. */
static bool futex_wake_one(const uint32_t *word)
{
    uint16_t sleepers[MAX_FIBERS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < world.fiber_count; i++) {
        if (world.states[i] != ASLEEP || world.fibers[i].waits_for != word)
            continue;
        uint32_t at = count++;
        for (; at > 0 && world.fibers[sleepers[at - 1]].since > world.fibers[i].since; at--)
            sleepers[at] = sleepers[at - 1];
        sleepers[at] = (uint16_t)i;
    }
    if (count == 0)
        return false;
    const explore_choice choice = {.question = EXPLORE_WAKE, .count = count, .free = count};
    world.states[sleepers[choose(&choice)]] = READY;
    return true;
}

long explore_syscall(long number_of_call, ...)
{
    explore_insist(number_of_call == SYS_futex, "unknown system call %ld", number_of_call);
    va_list arguments;
    va_start(arguments, number_of_call);
    const uint32_t *word = va_arg(arguments, const uint32_t *);
    const int operation = va_arg(arguments, int);
    const uint32_t value = va_arg(arguments, uint32_t);
    va_end(arguments);

    world.current->is_rushing = false;
    const bool waits = operation == FUTEX_WAIT_PRIVATE;
    explore_insist(waits || operation == FUTEX_WAKE_PRIVATE, "unknown futex operation %d", operation);
    step(own_site, word, waits ? "wants to sleep" : "wakes");
    if (waits)
        return futex_wait(word, value);
    long woken = 0;
    while (woken < (long)value && futex_wake_one(word))
        woken++;
    explore_value((uint64_t)woken);
    return woken;
}

/* Where a spin ends or goes on with no news. */
void explore_pause(void)
{
    fiber *self = world.current;
    if (self->is_rushing)
        return;
    const bool has_news = self->is_stale;
    if (!has_news)
        wait_as(DOZING, NULL);
    forget_reads(self);
}

uint64_t explore_ticks(void)
{
    const bool is_rushing = world.is_running && world.current->is_rushing;
    if (world.policy.stops_at_clocks && world.is_running && !is_rushing)
        reschedule(true);
    world.now_ns += is_rushing ? RUSH_NS : READING_NS;
    return world.now_ns;
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
    world.now_ns += (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
    return 0;
}

th_cpus explore_cpus(void)
{
    return (th_cpus){.online = 256, .affinity = 256, .usable = explore_usable_cpus};
}

void *explore_aligned_alloc(size_t alignment, size_t size)
{
    unsigned char *memory = aligned_alloc(alignment, size);
    if (memory && world.is_running) {
        explore_insist(world.block_count < MAX_BLOCKS, "too many blocks");
        world.blocks[world.block_count++] = (block){.memory = memory, .size = size};
    }
    return memory;
}

static const unsigned char freed_byte = 0xdd;

void explore_free(void *memory)
{
    uint32_t i = 0;
    while (i < world.block_count && world.blocks[i].memory != memory)
        i++;
    if (i == world.block_count) {
        free(memory);
        return;
    }
    block *b = &world.blocks[i];
    explore_insist(!b->is_freed, "frees twice");
    b->is_freed = true;
    memset(b->memory, freed_byte, b->size);
#ifdef __SANITIZE_ADDRESS__
    ASAN_POISON_MEMORY_REGION(b->memory, b->size);
#endif
}

static void free_blocks(void)
{
    for (uint32_t i = 0; i < world.block_count; i++) {
        const block *b = &world.blocks[i];
        explore_insist(b->is_freed, "%zu bytes are left", b->size);
#ifdef __SANITIZE_ADDRESS__
        ASAN_UNPOISON_MEMORY_REGION(b->memory, b->size);
#endif
        explore_insist(b->memory[0] == freed_byte && memcmp(b->memory, b->memory + 1, b->size - 1) == 0,
                       "writes to freed memory");
        free(b->memory);
    }
    world.block_count = 0;
}

explore_result explore_run(const explore_policy *policy, const char *what, void *(*fn)(void *arg), void *arg)
{
    if (world.runs++ == 0)
        watch_for_death();
    explore_insist(__stop_explore_locals - __start_explore_locals <= MAX_LOCALS, "too many variables of a thread");
    world.policy = *policy;
    world.what = what;
    world.fiber_count = world.lock_count = 0;
    world.is_quiet = false;
    world.refused = UINT32_MAX;
    world.steps = world.event_count = 0;
    world.hash = 0xcbf29ce484222325u;
    world.current = fiber_create(fn, arg);
    world.is_running = true;
    exchange_locals(world.home_locals, world.current->locals);
    before_switch(&world.home_fake_stack, false, world.current->stack, STACK_BYTES);
    swapcontext(&world.home, &world.current->context);
    after_switch(world.home_fake_stack, NULL, NULL);
    free_blocks();
    world.is_running = false;
    return (explore_result){.steps = world.steps, .hash = world.hash};
}
