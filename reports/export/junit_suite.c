/* SPDX-License-Identifier: MIT */
#include "reports/export/junit_suite.h"

#include <string.h>
#include <time.h>

#include "reports/export/xml.h"

/* Stands for an unknown start, because the schema requires one. Imported results may lack it. */
#define UNKNOWN_START "1970-01-01T00:00:00"
#define START_LENGTH  (sizeof(UNKNOWN_START) - 1)

void junit_begin(FILE *out)
{
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n", out);
}

void junit_end(FILE *out)
{
	fputs("</testsuites>\n", out);
}

/* Returns the seconds from one time to another; 0: unknown. */
static long elapsed_s(const char *from, const char *to)
{
	struct tm first = {0};
	struct tm last = {0};
	long elapsed;

	if (!strptime(from, "%Y-%m-%dT%H:%M:%S", &first) ||
	    !strptime(to, "%Y-%m-%dT%H:%M:%S", &last))
		return 0;
	elapsed = (long)(timegm(&last) - timegm(&first));
	return elapsed > 0 ? elapsed : 0;
}

/* JUnit timestamps have no time zone; ours are UTC. */
void junit_open_suite(FILE *out, const struct junit_suite *suite)
{
	char start[START_LENGTH + 1] = UNKNOWN_START;

	if (strlen(suite->started) >= START_LENGTH)
		memcpy(start, suite->started, START_LENGTH);
	fprintf(out, "<testsuite id=\"%zu\" package=\"verbmark\"", suite->number);
	xml_attribute(out, "name", suite->name);
	fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"%ld\"",
		suite->tests, suite->failures, suite->errors, suite->skipped,
		elapsed_s(suite->started, suite->finished));
	xml_attribute(out, "timestamp", start);
	xml_attribute(out, "hostname", suite->host[0] ? suite->host : "localhost");
	fputs(">\n<properties>\n", out);
}

void junit_property(FILE *out, const char *name, const char *value)
{
	fputs("<property", out);
	xml_attribute(out, "name", name);
	xml_attribute(out, "value", value);
	fputs("/>\n", out);
}

void junit_open_tests(FILE *out)
{
	fputs("</properties>\n", out);
}

void junit_open_output(FILE *out)
{
	fputs("<system-out>", out);
}

void junit_close_suite(FILE *out)
{
	fputs("</system-out>\n<system-err/>\n</testsuite>\n", out);
}

void junit_open_test(FILE *out, const char *name, const char *class_name, uint64_t duration_ns)
{
	fputs("<testcase", out);
	xml_attribute(out, "name", name);
	xml_attribute(out, "classname", class_name);
	fprintf(out, " time=\"%.6f\">\n", (double)duration_ns / 1e9);
}

void junit_ending(FILE *out, const char *element, const char *message, const char *type)
{
	fprintf(out, "<%s", element);
	xml_attribute(out, "message", message);
	if (type)
		xml_attribute(out, "type", type);
	fputs("/>\n", out);
}

void junit_close_test(FILE *out)
{
	fputs("</testcase>\n", out);
}
