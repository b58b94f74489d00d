#include "fixture_end.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { MOST = 10000 };

static struct {
    void (*end)(void *);
    void *thing;
} things[MOST];
static int count;

void *at_end(void (*end)(void *), void *thing)
{
    cr_assert_lt(count, MOST);
    things[count].end = end;
    things[count++].thing = thing;
    return thing;
}

void end_all(void)
{
    while (count > 0) {
        count--;
        things[count].end(things[count].thing);
    }
}

void *borrow(size_t bytes)
{
    void *memory = calloc(1, bytes + 1);
    cr_assert_not_null(memory);
    return at_end(free, memory);
}
