/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "reports/export/xml.h"
#include "reports/gate/sentences.h"
#include "reports/gate/show.h"

struct count {
	size_t failures;
	size_t errors;
	size_t skipped;
};

/* Returns the XML element for a verdict; NULL: the test passed. */
static const char *element_of(enum verdict verdict)
{
	static const char *const elements[] = {
		[VERDICT_BETTER] = NULL,       [VERDICT_SAME] = NULL,
		[VERDICT_UNCLEAR] = "skipped", [VERDICT_INVALID] = "error",
		[VERDICT_WORSE] = "failure",
	};

	return elements[verdict];
}

static struct count count_cells(const struct gate_record *gate)
{
	struct count count = {0};

	if (gate->invalid[0]) {
		count.skipped = gate->n_cells;
		return count;
	}
	for (size_t i = 0; i < gate->n_cells; i++) {
		count.failures += gate->cells[i].verdict == VERDICT_WORSE;
		count.errors += gate->cells[i].verdict == VERDICT_INVALID;
		count.skipped += gate->cells[i].verdict == VERDICT_UNCLEAR;
	}
	return count;
}

static void print_property(FILE *out, const char *name, double value)
{
	if (isfinite(value))
		fprintf(out, "<property name=\"%s\" value=\"%.9g\"/>\n", name, value);
}

static void print_verdict(FILE *out, const struct judge_cell *cell)
{
	const char *element = element_of(cell->verdict);
	char text[GATE_TEXT];

	if (!element)
		return;
	gate_describe_cell(text, cell);
	fprintf(out, "<%s", element);
	xml_attribute(out, "message", text);
	if (cell->verdict != VERDICT_UNCLEAR)
		xml_attribute(out, "type",
			      cell->verdict == VERDICT_WORSE ? "PerfRegression" : "Invalid");
	fputs("/>\n", out);
}

/* In an invalid gate, every test is skipped. */
static void print_skipped(FILE *out, const struct gate_record *gate)
{
	char text[GATE_TEXT];

	snprintf(text, sizeof(text), "the gate is invalid: %s", gate->invalid);
	fputs("<skipped", out);
	xml_attribute(out, "message", text);
	fputs("/>\n", out);
}

static void print_cell(FILE *out, const struct gate_record *gate, const struct judge_cell *cell)
{
	const struct judge_finding *finding = cell->again.count ? &cell->confirmed : &cell->finding;

	fputs("<testcase", out);
	xml_attribute(out, "name", cell->id);
	fprintf(out, " classname=\"gate.%s\">\n<properties>\n", cell->figure->key);
	if (finding->pairs) {
		print_property(out, "base", finding->medians[GATE_BASE]);
		print_property(out, "head", finding->medians[GATE_HEAD]);
	}
	print_property(out, "ratio", finding->judged.ratio);
	print_property(out, "ratio_low", finding->judged.low);
	print_property(out, "ratio_high", finding->judged.high);
	fputs("</properties>\n", out);
	if (gate->invalid[0])
		print_skipped(out, gate);
	else
		print_verdict(out, cell);
	fputs("</testcase>\n", out);
}

/* Prints the gate itself as a test with an error. */
static void print_whole(FILE *out, const char *why)
{
	fputs("<testcase name=\"gate\" classname=\"gate\">\n<error", out);
	xml_attribute(out, "message", why);
	fputs(" type=\"Invalid\"/>\n</testcase>\n", out);
}

static void say(void *owner, const char *text)
{
	FILE *out = owner;

	xml_print(out, text);
	fputc('\n', out);
}

void gate_junit(FILE *out, const struct gate_record *gate)
{
	struct count count = count_cells(gate);
	const char *why = gate->invalid[0] ? gate->invalid
			  : !gate->n_cells ? "nothing was measured"
					   : NULL;
	char counts[128];
	char sum[GATE_TEXT];

	snprintf(counts, sizeof(counts),
		 " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\"",
		 gate->n_cells + (why != NULL), count.failures, count.errors + (why != NULL),
		 count.skipped);
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"verbmark\"%s>\n"
		"<testsuite name=\"gate\"%s timestamp=\"%.19s\">\n",
		counts, counts, gate->started);
	for (size_t i = 0; i < gate->n_cells; i++)
		print_cell(out, gate, &gate->cells[i]);
	if (why)
		print_whole(out, why);
	fputs("<system-out>", out);
	gate_say_head(gate, say, out);
	gate_say_notes(gate, say, out);
	gate_sum(gate, sum);
	say(out, sum);
	fputs("</system-out>\n</testsuite>\n</testsuites>\n", out);
}
