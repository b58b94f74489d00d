/* Made-up results, written and read back. */
#ifndef FIXTURE_RESULT_FILE_H
#define FIXTURE_RESULT_FILE_H

#include <bench/result_file.h>

/* A time in nanoseconds, for a row, a process and a repetition. */
typedef double made_up_time(uint32_t row, uint32_t process, uint32_t repetition);

/* Rows row/0, row/1, ... on one thread, of palettes that are right, each from so many processes of so many repetitions.
 * Wall time is twice the CPU time that `ns` says; the pulse is steady. th_report_fini. */
th_report report_of(uint32_t rows, uint32_t processes, uint32_t repetitions, made_up_time *ns);

/* A millisecond, give or take 0.5 % from process to process and 0.2 % from one repetition to the next; and the same
 * from another day. */
double steady(uint32_t row, uint32_t process, uint32_t repetition);
double steady_again(uint32_t row, uint32_t process, uint32_t repetition);

/* Reads what the report writes; the test fails where that is not possible. th_result_file_free. */
th_result_file *result_file_of(const th_report *report, const char *name);

/* The report's document, for changes; json_decref. And what is read of a document. */
json_t *document_of(const th_report *report);
th_result parse_document(const json_t *document, const char *name, th_result_file **out, th_error *err);

#endif
