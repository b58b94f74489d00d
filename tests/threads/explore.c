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
    PLACES = 4096,      /* a power of two */
    SHARED_PLACES = 96, /* of which loads may read older values: the first of a run */
    OLDER_VALUES = 4,   /* a power of two */
    MAX_SITES = 256,
    MAX_SEQ_CST = 512, /* operations in a run whose order is looked after */
    EVENTS = 1024,     /* a power of two */
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

/* What somebody has seen: of each fiber, so many steps; of each place, at least this value of all it has had. */
typedef struct view {
    uint32_t fibers[MAX_FIBERS], places[SHARED_PLACES];
} view;

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
    view seen;
} fiber;

/* Of seq_cst operations, by number. */
typedef struct sc_set {
    uint64_t words[MAX_SEQ_CST / 64];
} sc_set;

/* A seq_cst operation, and those that come before it in the total order of all. */
typedef struct sc_event {
    uint32_t fiber, clock;
    sc_set before;
} sc_event;

/* A store to a place: its value, and the view that loads with acquire take over. */
typedef struct message {
    uint64_t value;
    bool is_released;
    uint32_t seq_cst; /* number + 1 of the operation that stored it; 0: none */
    view seen;
} message;

typedef struct place {
    const volatile void *address;
    uint64_t run;
    uint32_t index;          /* in order of creation */
    uint32_t oldest, newest; /* the numbers of its messages */
    uint32_t sc_forgotten;   /* times that the order of seq_cst had been forgotten by then */
    sc_set loads;            /* seq_cst ones */
    message messages[OLDER_VALUES];
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

uint32_t explore_usable_cpus = 1, explore_range_max = 65534, explore_pool_group = 8;

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
    uint32_t place_count, sc_count, sc_forgotten;
    sc_event sc_events[MAX_SEQ_CST];
    place places[PLACES];
    explore_weakness weakness;
    uint32_t site_count;
    explore_weakness sites[MAX_SITES];
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

/* Of the last event. */
static void set_value(uint64_t value)
{
    if (!world.current->is_rushing)
        world.events[(world.event_count - 1) % EVENTS].value = value;
}

static void set_verb(const char *verb)
{
    world.events[(world.event_count - 1) % EVENTS].verb = verb;
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

static const explore_site own_site = {.file = "explored", .order = memory_order_seq_cst};

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
    explore_insist(choice.ready + choice.idle > 0, "nobody can go on: a wake-up was lost, or all wait for each other");
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
    f->seen.fibers[number(f)] = 1;
    return f;
}

/* ---- what has been seen ---- */

static void join_view(view *into, const view *other)
{
    for (uint32_t i = 0; i < world.fiber_count; i++)
        into->fibers[i] = into->fibers[i] > other->fibers[i] ? into->fibers[i] : other->fibers[i];
    for (uint32_t i = 0; i < world.place_count && i < SHARED_PLACES; i++)
        into->places[i] = into->places[i] > other->places[i] ? into->places[i] : other->places[i];
}

static message *message_of(const place *p, uint32_t index)
{
    return (message *)&p->messages[index % OLDER_VALUES];
}

/* found: what is stored there. If that is not the newest message, it was stored before the place was shared. */
static place *place_of(const volatile void *address, uint64_t found)
{
    uint32_t i = (uint32_t)(((uintptr_t)address >> 1) * 0x9e3779b97f4a7c15u >> 40) % PLACES;
    for (uint32_t looked = 0; looked < PLACES; looked++, i = (i + 1) % PLACES) {
        place *p = &world.places[i];
        if (p->run == world.runs && p->address != address)
            continue;
        if (p->run != world.runs) {
            p->run = world.runs;
            p->address = address;
            p->index = world.place_count++;
            p->newest = 0;
            *message_of(p, 0) = (message){.value = found};
        } else if (message_of(p, p->newest)->value != found) {
            *message_of(p, ++p->newest) = (message){.value = found};
        } else if (p->sc_forgotten == world.sc_forgotten) {
            return p;
        }
        p->oldest = p->newest;
        p->loads = (sc_set){0};
        p->sc_forgotten = world.sc_forgotten;
        message_of(p, p->newest)->seq_cst = 0;
        return p;
    }
    explore_insist(false, "too many places");
    return NULL;
}

/* ---- the order of seq_cst ---- */

static void sc_add(sc_set *set, uint32_t id)
{
    set->words[id / 64] |= (uint64_t)1 << id % 64;
}

static bool sc_has(const sc_set *set, uint32_t id)
{
    return set->words[id / 64] >> id % 64 & 1;
}

static void sc_join(sc_set *into, const sc_set *other)
{
    for (uint32_t w = 0; w <= world.sc_count / 64 && w < MAX_SEQ_CST / 64; w++)
        into->words[w] |= other->words[w];
}

/* An event and all before it. */
static void sc_add_after(sc_set *set, uint32_t id)
{
    if (sc_has(set, id))
        return;
    sc_join(set, &world.sc_events[id].before);
    sc_add(set, id);
}

/* What comes before an operation of the current fiber on this place, as far as it does not matter what it reads. */
static sc_set sc_before(const place *p, bool is_load)
{
    sc_set before = {0};
    for (uint32_t i = p->newest; !is_load && i-- > p->oldest;)
        if (message_of(p, i)->seq_cst > 0)
            sc_add_after(&before, message_of(p, i)->seq_cst - 1);
    for (uint32_t e = world.sc_count; e-- > 0;)
        if (!sc_has(&before, e) && (world.sc_events[e].clock <= world.current->seen.fibers[world.sc_events[e].fiber] ||
                                    (!is_load && sc_has(&p->loads, e))))
            sc_add_after(&before, e);
    return before;
}

/* Whether the current fiber may, seq_cst, read a message older than `index`, which was stored by then. */
static bool sc_may_precede(const place *p, uint32_t index, const sc_set *before)
{
    const uint32_t id = message_of(p, index)->seq_cst;
    return id == 0 || !sc_has(before, id - 1);
}

/* Appends an operation; returns its number + 1, or 0 when there are too many: then all are forgotten, and what was
 * stored before this moment will be read by nobody. */
static uint32_t sc_append(const sc_set *before)
{
    const uint32_t self = number(world.current);
    if (!world.policy.is_weak)
        return 0;
    if (world.sc_count == MAX_SEQ_CST) {
        world.sc_count = 0;
        world.sc_forgotten++;
        return 0;
    }
    world.sc_events[world.sc_count] = (sc_event){self, world.current->seen.fibers[self]++, *before};
    return ++world.sc_count;
}

static void sc_load(place *p, uint32_t index, sc_set before)
{
    if (message_of(p, index)->seq_cst > 0)
        sc_add_after(&before, message_of(p, index)->seq_cst - 1);
    const uint32_t id = sc_append(&before);
    if (id == 0)
        return;
    sc_add(&p->loads, id - 1);
    for (uint32_t i = index + 1; i <= p->newest; i++) {
        const uint32_t later = message_of(p, i)->seq_cst;
        for (uint32_t e = 0; later > 0 && e < id - 1; e++)
            if (e == later - 1 || sc_has(&world.sc_events[e].before, later - 1))
                sc_add_after(&world.sc_events[e].before, id - 1);
    }
}

static bool acquires(memory_order order)
{
    return order != memory_order_relaxed && order != memory_order_release;
}

static bool releases(memory_order order)
{
    return order == memory_order_release || order == memory_order_acq_rel || order == memory_order_seq_cst;
}

static void see(place *p, uint32_t index, memory_order order)
{
    view *seen = &world.current->seen;
    const message *m = message_of(p, index);
    if (order == memory_order_seq_cst && !world.current->is_rushing) /* else it has read this already */
        sc_load(p, index, sc_before(p, true));
    if (p->index < SHARED_PLACES)
        seen->places[p->index] = index;
    if (acquires(order) && m->is_released)
        join_view(seen, &m->seen);
}

/* The oldest message that may be read by who has seen so much. */
static uint32_t oldest_readable(const place *p, uint32_t seen, memory_order order)
{
    const uint32_t oldest = p->oldest > seen ? p->oldest : seen;
    if (!world.policy.is_weak || world.is_quiet || p->index >= SHARED_PLACES)
        return p->newest;
    if (order != memory_order_seq_cst || oldest == p->newest)
        return oldest;
    const sc_set before = sc_before(p, true);
    uint32_t index = p->newest;
    while (index > oldest && sc_may_precede(p, index, &before))
        index--;
    return index;
}

/* Returns which message a load reads. excepted: a value that it may not read if it is not the newest. */
static uint32_t choose_message(place *p, memory_order order, const uint64_t *excepted)
{
    fiber *self = world.current;
    const uint32_t seen = p->index < SHARED_PLACES ? self->seen.places[p->index] : 0;
    const uint32_t count = p->newest - oldest_readable(p, seen, order) + 1;
    const explore_choice choice = {.question = EXPLORE_STALE, .count = count, .free = 1};
    const uint32_t index = self->is_rushing ? p->newest : p->newest - choose(&choice);
    if (index == p->newest || (excepted && message_of(p, index)->value == *excepted))
        return p->newest;
    self->is_stale = true; /* the newer value will be seen some time: it is news */
    return index;
}

/* continues: as a change does, which leaves what others have released there; a store does not. */
static void add_message(place *p, uint64_t value, memory_order order, bool continues)
{
    fiber *self = world.current;
    const message *before = message_of(p, p->newest++);
    message *m = message_of(p, p->newest);
    const bool keeps = continues && before->is_released;
    if (p->newest - p->oldest == OLDER_VALUES)
        p->oldest++;
    m->value = value;
    m->is_released = keeps || releases(order);
    if (keeps)
        m->seen = before->seen;
    else
        memset(&m->seen, 0, sizeof m->seen);
    if (p->index < SHARED_PLACES)
        self->seen.places[p->index] = p->newest;
    const sc_set first = order == memory_order_seq_cst ? sc_before(p, false) : (sc_set){0};
    m->seq_cst = order == memory_order_seq_cst ? sc_append(&first) : 0;
    if (!releases(order))
        return;
    join_view(&m->seen, &self->seen);
    self->seen.fibers[number(self)]++;
}

explore_mark explore_mark_here(void)
{
    const uint32_t self = number(world.current);
    return (explore_mark){.fiber = self, .clock = world.current->seen.fibers[self]};
}

bool explore_sees(explore_mark mark)
{
    return world.current->seen.fibers[mark.fiber] >= mark.clock;
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

/* ---- orders that are weaker than in the code ---- */

static bool is_same_site(const explore_weakness *a, const explore_weakness *b)
{
    return a->line == b->line && strcmp(a->verb, b->verb) == 0 && strcmp(a->file, b->file) == 0;
}

static memory_order order_of(explore_site at, const char *verb)
{
    const explore_weakness site = {at.file, at.function, at.object, verb, at.line, at.order};
    if (world.weakness.line == at.line && is_same_site(&world.weakness, &site))
        return world.weakness.order;
    for (uint32_t i = 0; world.policy.lists_sites; i++) {
        if (i == world.site_count) {
            explore_insist(i < MAX_SITES, "too many sites");
            world.sites[world.site_count++] = site;
        }
        if (is_same_site(&world.sites[i], &site))
            break;
    }
    return at.order;
}

uint32_t explore_sites(const explore_weakness **out)
{
    *out = world.sites;
    return world.site_count;
}

void explore_weaken(const explore_weakness *weakness)
{
    world.weakness = *weakness;
}

/* ---- operations ---- */

void explore_load(explore_site at, const volatile void *object)
{
    if (!world.is_running)
        return;
    if (!world.current->is_rushing) /* else it sees what it saw when it began to doze: nothing to interleave with */
        step(at, object, "load");
    remember_read(object);
}

uint64_t explore_loaded(explore_site at, const volatile void *object, uint64_t found)
{
    if (!world.is_running)
        return found;
    const memory_order order = order_of(at, "load");
    place *p = place_of(object, found);
    const uint32_t index = choose_message(p, order, NULL);
    const uint64_t value = message_of(p, index)->value;
    see(p, index, order);
    if (index != p->newest)
        set_verb("loads old");
    set_value(value);
    return value;
}

static void step_to_write(explore_site at, const volatile void *object, const char *verb)
{
    if (!world.is_running)
        return;
    world.current->is_rushing = false;
    step(at, object, verb);
}

void explore_store(explore_site at, const volatile void *object)
{
    step_to_write(at, object, "store");
}

void explore_change(explore_site at, const volatile void *object)
{
    step_to_write(at, object, "change");
}

void explore_compare(explore_site at, const volatile void *object)
{
    step_to_write(at, object, "exchange");
}

void explore_stored(explore_site at, const volatile void *object, uint64_t found, uint64_t value)
{
    if (!world.is_running)
        return;
    add_message(place_of(object, found), value, order_of(at, "store"), false);
    wake_readers(object);
    set_value(value);
}

static void change(const volatile void *object, uint64_t found, uint64_t value, memory_order order)
{
    place *p = place_of(object, found);
    see(p, p->newest, order);
    add_message(p, value, order, true);
    wake_readers(object);
    set_value(value);
}

void explore_changed(explore_site at, const volatile void *object, uint64_t found, uint64_t value)
{
    if (world.is_running)
        change(object, found, value, order_of(at, "change"));
}

static bool fails_weakly(void)
{
    const explore_choice choice = {.question = EXPLORE_WEAK, .count = 2, .free = 1};
    return choose(&choice) == 1;
}

bool explore_compared(explore_site at, explore_site failed, bool weak, const volatile void *object, uint64_t *expected,
                      uint64_t found, uint64_t value)
{
    const uint64_t wanted = *expected;
    *expected = found;
    if (!world.is_running)
        return found == wanted;
    const memory_order order = order_of(at, "exchange"), failed_order = order_of(failed, "finds");
    place *p = place_of(object, found);
    const uint32_t index = choose_message(p, failed_order, &wanted);
    if (index == p->newest && found == wanted && !(weak && fails_weakly())) {
        change(object, found, value, order);
        return true;
    }
    *expected = message_of(p, index)->value;
    set_verb(index == p->newest ? "finds" : "finds old");
    set_value(*expected);
    remember_read(object);
    see(p, index, failed_order);
    return false;
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
    join_view(&f->seen, &world.current->seen);
    world.current->seen.fibers[number(world.current)]++;
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
    join_view(&world.current->seen, &f->seen);
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
    place *p = place_of(mutex, 0);
    see(p, p->newest, memory_order_acquire);
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
    add_message(place_of(mutex, 0), 0, memory_order_release, false);
    l->owner = NULL;
    wake_those(LOCKING, mutex);
    return 0;
}

/* ---- the system ---- */

/* Stands for the lock of the kernel's queue of this futex. No variable has its address. */
static place *queue_of(const uint32_t *word)
{
    return place_of((const char *)word + 1, 0);
}

/* What the kernel reads may be old as well, but not older than what a waker before had seen. Who is woken sees what
 * wakers had seen (Linux, memory-barriers.txt, sleep and wake-up functions); who does not sleep sees no more for it. */
static bool still_is(const uint32_t *word, uint32_t value)
{
    const place *queue = queue_of(word);
    place *p = place_of(word, *(const volatile uint32_t *)word);
    uint32_t seen = 0;
    if (p->index < SHARED_PLACES) {
        const uint32_t own = world.current->seen.places[p->index];
        const uint32_t woken = queue->messages[queue->newest % OLDER_VALUES].seen.places[p->index];
        seen = own > woken ? own : woken;
    }
    const uint32_t count = p->newest - oldest_readable(p, seen, memory_order_relaxed) + 1;
    const explore_choice choice = {.question = EXPLORE_STALE, .count = count, .free = 1};
    return (uint32_t)message_of(p, p->newest - choose(&choice))->value == value;
}

static long futex_wait(const uint32_t *word, uint32_t value)
{
    if (!still_is(word, value)) {
        errno = EAGAIN;
        return -1;
    }
    world.current->woken = 0;
    world.current->since = world.steps;
    wait_as(ASLEEP, word);
    errno = world.current->woken;
    if (errno)
        return -1;
    place *queue = queue_of(word);
    see(queue, queue->newest, memory_order_acquire);
    return 0;
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
    add_message(queue_of(word), 0, memory_order_release, true);
    long woken = 0;
    while (woken < (long)value && futex_wake_one(word))
        woken++;
    set_value((uint64_t)woken);
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
    world.fiber_count = world.lock_count = world.place_count = world.sc_count = 0;
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
