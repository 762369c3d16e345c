/* SPDX-License-Identifier: MIT */
/*
 * JUnit XML as CI servers accept it: valid against junit-10.xsd of Jenkins's xunit plugin and against
 * windyroad's JUnit-Schema. The latter requires every attribute of a suite, its empty elements, and
 * their order; neither allows properties in a test. Use: junit_begin; for each suite
 * junit_open_suite, junit_property..., junit_open_tests, tests, junit_open_output, text (escaped by
 * xml_print), junit_close_suite; junit_end. Write errors stay in the FILE.
 */
#ifndef REPORTS_EXPORT_JUNIT_SUITE_H
#define REPORTS_EXPORT_JUNIT_SUITE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct junit_suite {
	const char *name;
	size_t number;       /* in the document, from 0 */
	const char *started; /* ISO 8601, UTC; empty: unknown */
	const char *finished;
	const char *host; /* empty: unknown */
	size_t tests;
	size_t failures;
	size_t errors;
	size_t skipped;
};

void junit_begin(FILE *out);
void junit_end(FILE *out);

void junit_open_suite(FILE *out, const struct junit_suite *suite);
void junit_property(FILE *out, const char *name, const char *value);
void junit_open_tests(FILE *out);
void junit_open_output(FILE *out);
void junit_close_suite(FILE *out);

void junit_open_test(FILE *out, const char *name, const char *class_name, uint64_t duration_ns);
/* Prints why a test did not pass. element: "failure", "error", or "skipped"; its type is NULL. */
void junit_ending(FILE *out, const char *element, const char *message, const char *type);
void junit_close_test(FILE *out);

#endif
