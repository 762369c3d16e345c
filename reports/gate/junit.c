/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "reports/export/junit_suite.h"
#include "reports/export/xml.h"
#include "reports/gate/sentences.h"
#include "reports/gate/show.h"
#include "reports/io/json_member.h"

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

static void count_cells(const struct gate_record *gate, struct junit_suite *suite)
{
	suite->tests = gate->n_cells;
	if (gate->invalid[0]) {
		suite->skipped = gate->n_cells;
		return;
	}
	for (size_t i = 0; i < gate->n_cells; i++) {
		suite->failures += gate->cells[i].verdict == VERDICT_WORSE;
		suite->errors += gate->cells[i].verdict == VERDICT_INVALID;
		suite->skipped += gate->cells[i].verdict == VERDICT_UNCLEAR;
	}
}

static void print_property(FILE *out, const struct judge_cell *cell, const char *key, double value)
{
	char name[CASE_ID + 64];
	char text[32];

	if (!isfinite(value))
		return;
	snprintf(name, sizeof(name), "%s %s %s", cell->id, cell->figure->key, key);
	snprintf(text, sizeof(text), "%.9g", value);
	junit_property(out, name, text);
}

static void print_properties(FILE *out, const struct judge_cell *cell)
{
	const struct judge_finding *finding = cell->again.count ? &cell->confirmed : &cell->finding;

	if (finding->pairs) {
		print_property(out, cell, "base", finding->medians[GATE_BASE]);
		print_property(out, cell, "head", finding->medians[GATE_HEAD]);
	}
	print_property(out, cell, "ratio", finding->judged.ratio);
	print_property(out, cell, "ratio_low", finding->judged.low);
	print_property(out, cell, "ratio_high", finding->judged.high);
}

static void print_verdict(FILE *out, const struct judge_cell *cell)
{
	const char *element = element_of(cell->verdict);
	char text[GATE_TEXT];

	if (!element)
		return;
	gate_describe_cell(text, cell);
	junit_ending(out, element, text,
		     cell->verdict == VERDICT_UNCLEAR ? NULL
		     : cell->verdict == VERDICT_WORSE ? "PerfRegression"
						      : "Invalid");
}

/* In an invalid gate, every test is skipped. */
static void print_skipped(FILE *out, const struct gate_record *gate)
{
	char text[GATE_TEXT];

	snprintf(text, sizeof(text), "the gate is invalid: %s", gate->invalid);
	junit_ending(out, "skipped", text, NULL);
}

/* The runs of a pair measure all cases in turn, so that a test has no time of its own. */
static void print_cell(FILE *out, const struct gate_record *gate, const struct judge_cell *cell)
{
	char class_name[64];

	snprintf(class_name, sizeof(class_name), "gate.%s", cell->figure->key);
	junit_open_test(out, cell->id, class_name, 0);
	if (gate->invalid[0])
		print_skipped(out, gate);
	else
		print_verdict(out, cell);
	junit_close_test(out);
}

/* Prints the gate itself as a test with an error. */
static void print_whole(FILE *out, const char *why)
{
	junit_open_test(out, "gate", "gate", 0);
	junit_ending(out, "error", why, "Invalid");
	junit_close_test(out);
}

static const char *host_of(const struct gate_record *gate)
{
	json_t *client = json_object_get(gate->sides[GATE_HEAD].ends, "client");

	return json_member_or_empty(client, "host");
}

static void open_suite(FILE *out, const struct gate_record *gate, bool is_whole_error)
{
	struct junit_suite suite = {
		.name = "gate",
		.started = gate->started,
		.finished = gate->finished,
		.host = host_of(gate),
	};

	count_cells(gate, &suite);
	suite.tests += is_whole_error;
	suite.errors += is_whole_error;
	junit_open_suite(out, &suite);
}

static void say(void *owner, const char *text)
{
	FILE *out = owner;

	xml_print(out, text);
	fputc('\n', out);
}

void gate_junit(FILE *out, const struct gate_record *gate)
{
	const char *why = gate->invalid[0] ? gate->invalid
			  : !gate->n_cells ? "nothing was measured"
					   : NULL;
	char sum[GATE_TEXT];

	junit_begin(out);
	open_suite(out, gate, why != NULL);
	for (size_t i = 0; i < gate->n_cells; i++)
		print_properties(out, &gate->cells[i]);
	junit_open_tests(out);
	for (size_t i = 0; i < gate->n_cells; i++)
		print_cell(out, gate, &gate->cells[i]);
	if (why)
		print_whole(out, why);
	junit_open_output(out);
	gate_say_head(gate, say, out);
	gate_say_notes(gate, say, out);
	gate_sum(gate, sum);
	say(out, sum);
	junit_close_suite(out);
	junit_end(out);
}
