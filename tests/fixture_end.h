/* What a test makes ends with the test, so that it need not be said there: TestSuite(x, .fini = end_all). */
#ifndef FIXTURE_END_H
#define FIXTURE_END_H

#include <stddef.h>

/* The last comes first. Returns the thing. */
void *at_end(void (*end)(void *), void *thing);
void end_all(void);

/* Memory that is freed at the end. */
void *borrow(size_t bytes);

/* END_BY(th_hud_destroy) is a function for at_end, end_by_th_hud_destroy. */
#define END_BY(destroy)                                                                                                \
    static void end_by_##destroy(void *thing)                                                                          \
    {                                                                                                                  \
        destroy(thing);                                                                                                \
    }

#endif
