#include <render/gpu_clock.h>

#include <assert.h>
#include <glad/gl.h>

#include <stdlib.h>

enum { QUERIES = 6 };

struct th_gpu_clock {
    bool trusted, running;
    GLuint queries[QUERIES]; /* a ring */
    uint32_t first, asked;   /* queries with a pending result */
};

th_result th_gpu_clock_create(const th_gl *gl, th_gpu_clock **out, th_error *err)
{
    assert(gl && out);
    *out = calloc(1, sizeof **out);
    if (!*out)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a clock");
    (*out)->trusted = th_gl_get_info(gl)->timer_queries;
    glGenQueries(QUERIES, (*out)->queries);
    return TH_OK;
}

void th_gpu_clock_destroy(th_gpu_clock *clock)
{
    if (!clock)
        return;
    glDeleteQueries(QUERIES, clock->queries);
    free(clock);
}

void th_gpu_clock_begin(th_gpu_clock *c)
{
    assert(c && !c->running);
    c->running = c->trusted && c->asked < QUERIES;
    if (c->running)
        glBeginQuery(GL_TIME_ELAPSED, c->queries[(c->first + c->asked) % QUERIES]);
}

void th_gpu_clock_end(th_gpu_clock *c)
{
    assert(c);
    if (!c->running)
        return;
    glEndQuery(GL_TIME_ELAPSED);
    assert(c->asked < QUERIES);
    c->asked++;
    c->running = false;
}

bool th_gpu_clock_read(th_gpu_clock *c, uint64_t *out_ns)
{
    assert(c && out_ns);
    bool read = false;
    while (c->asked > 0) {
        GLuint there;
        glGetQueryObjectuiv(c->queries[c->first], GL_QUERY_RESULT_AVAILABLE, &there);
        if (!there)
            break;
        glGetQueryObjectui64v(c->queries[c->first], GL_QUERY_RESULT, out_ns);
        c->first = (c->first + 1) % QUERIES;
        c->asked--;
        read = true;
    }
    return read;
}
