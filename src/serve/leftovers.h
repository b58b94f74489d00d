/* Files and folders that must not outlive the server, however it stops: temporary folders of runs, a Unix socket. A
 * stop that takes too long ends the process without waiting for the threads that would have removed them. */
#ifndef TH_SERVE_LEFTOVERS_H
#define TH_SERVE_LEFTOVERS_H

enum { TH_LEFTOVERS = 8 };

/* Any thread. At most TH_LEFTOVERS at a time; further ones are not remembered. Copies the path. */
void th_leftovers_add(const char *path);

/* Removes one, if it was added, or all: NULL. A folder goes with the files in it. */
void th_leftovers_remove(const char *path);

/* Removes the files of a folder whose names begin like that. Returns how many. */
unsigned th_remove_files(const char *folder, const char *prefix);

#endif
