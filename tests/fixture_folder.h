/* A folder of its own for each test, and a path in it. */
#ifndef FIXTURE_FOLDER_H
#define FIXTURE_FOLDER_H

extern char folder[64];
extern char path[128];

/* For .init and .fini of a suite; the latter fails when anything but `path` is left. */
void make_folder(void);
void remove_folder(void);

int count_files(void);

#endif
