#include "events.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct event {
    uint32_t users;
    size_t size;
    char text[];
} event;

typedef struct client {
    struct th_events *events;
    struct MHD_Connection *connection;
    struct client *next, **link; /* link: the pointer to this client */
    uint64_t number;             /* of the next event it gets */
    event *current;              /* the event being sent; NULL: none */
    size_t sent;                 /* bytes of it that are sent */
    bool sleeps;
} client;

struct th_events {
    event *kept[TH_EVENTS_KEPT]; /* a ring buffer */
    uint64_t count;              /* events published since the start */
    client *clients;
    uint64_t client_count, dropped;
    bool closed;
};

static void release(event *e)
{
    if (e && --e->users == 0)
        free(e);
}

/* Skips events that are no longer in the ring, up to the newest: older states are of no use. */
static bool take_next(client *c)
{
    th_events *events = c->events;
    if (c->number >= events->count)
        return false;
    if (events->count - c->number > TH_EVENTS_KEPT) {
        events->dropped += events->count - 1 - c->number;
        c->number = events->count - 1;
    }
    c->current = events->kept[c->number++ % TH_EVENTS_KEPT];
    c->current->users++;
    c->sent = 0;
    return true;
}

static ssize_t read_events(void *cls, uint64_t position, char *out, size_t most)
{
    client *c = cls;
    (void)position;
    if (c->events->closed)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (!c->current && !take_next(c)) {
        c->sleeps = true;
        MHD_suspend_connection(c->connection);
        return 0;
    }
    const size_t left = c->current->size - c->sent, count = left < most ? left : most;
    memcpy(out, c->current->text + c->sent, count);
    c->sent += count;
    if (c->sent == c->current->size) {
        release(c->current);
        c->current = NULL;
    }
    return (ssize_t)count;
}

static void remove_client(void *cls)
{
    client *c = cls;
    *c->link = c->next;
    if (c->next)
        c->next->link = c->link;
    c->events->client_count--;
    release(c->current);
    free(c);
}

struct MHD_Response *th_events_response(th_events *events, struct MHD_Connection *connection)
{
    client *c = events->client_count < TH_EVENTS_CLIENTS ? calloc(1, sizeof *c) : NULL;
    if (!c)
        return NULL;
    *c = (client){
        .events = events,
        .connection = connection,
        .next = events->clients,
        .link = &events->clients,
        .number = events->count ? events->count - 1 : 0,
    };
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 8192, read_events, c, remove_client);
    if (!response) {
        free(c);
        return NULL;
    }
    if (c->next)
        c->next->link = &c->next;
    events->clients = c;
    events->client_count++;
    return response;
}

static void wake_all(th_events *events)
{
    for (client *c = events->clients; c; c = c->next)
        if (c->sleeps) {
            c->sleeps = false;
            MHD_resume_connection(c->connection);
        }
}

void th_events_publish(th_events *events, const char *name, const char *data)
{
    assert(name && data && !strpbrk(name, "\r\n") && !strpbrk(data, "\r\n"));
    const size_t room = strlen(name) + strlen(data) + 64;
    event *e = malloc(sizeof *e + room);
    if (!e)
        return;
    e->users = 1;
    e->size = (size_t)snprintf(e->text, room, "id: %llu\nevent: %s\ndata: %s\n\n", (unsigned long long)events->count,
                               name, data);
    event **place = &events->kept[events->count++ % TH_EVENTS_KEPT];
    release(*place);
    *place = e;
    wake_all(events);
}

th_events *th_events_create(void)
{
    return calloc(1, sizeof(th_events));
}

void th_events_close(th_events *events)
{
    events->closed = true;
    wake_all(events);
}

void th_events_destroy(th_events *events)
{
    if (!events)
        return;
    for (int k = 0; k < TH_EVENTS_KEPT; k++)
        release(events->kept[k]);
    free(events);
}

uint64_t th_events_clients(const th_events *events)
{
    return events->client_count;
}

uint64_t th_events_dropped(const th_events *events)
{
    return events->dropped;
}
