/* SPDX-License-Identifier: MIT */
#include "reports/fleet/document.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/compiler.h"
#include "reports/document/document.h"
#include "reports/fleet/hostlist.h"
#include "reports/fleet/member.h"
#include "reports/io/json_make.h"
#include "reports/io/save.h"
#include "reports/result/banner.h"

/* Figures are rounded: more digits are noise, and large fleets have millions of figures. */
#define DIGITS 6

/* The most bytes of the parts of a pair's text: its numbers, a figure, and an error. */
#define NUMBERS_BYTES 64
#define FIGURE_BYTES  13
#define ERROR_BYTES   260
/* A histogram is rarely longer. Each case has one. */
#define HISTOGRAM_BYTES 4096

const char *const fleet_presence_names[3] = {
	[FLEET_ABSENT] = "absent", [FLEET_PRESENT] = "present", [FLEET_LOST] = "lost"};

const char *const fleet_fault_names[FLEET_FAULTS] = {"failed", "floor", "outlier", "counters"};

static const char *const columns[] = {"round",     "from",      "to",
				      "from_rail", "to_rail",   "retest",
				      "status",    "faults",    "figures_or_error",
				      "counters",  "histograms"};

static json_t *make_figure(double value)
{
	char text[32];

	if (!isfinite(value))
		return NULL;
	snprintf(text, sizeof(text), "%.*g", DIGITS, value);
	return json_real(strtod(text, NULL));
}

static json_t *text_or_none(const char *text)
{
	return text[0] ? json_make_text(text) : NULL;
}

/* Makes a rail without its address, which differs on each node. */
static json_t *make_rail(const struct fleet_rail *rail)
{
	return json_pack("{s:o, s:I, s:o, s:I, s:i, s:o*, s:o*, s:i, s:b}", "device",
			 json_make_text(rail->device), "port", (json_int_t)rail->port, "link_layer",
			 json_make_text(rail->link_layer), "rate_mbps", (json_int_t)rail->rate_mbps,
			 "numa_node", rail->numa_node, "pci", text_or_none(rail->pci), "gpu",
			 text_or_none(rail->gpu), "pkey", (int)rail->pkey, "soft",
			 (int)rail->is_soft);
}

static json_t *make_rails(const struct fleet_node *node)
{
	json_t *made = json_array();

	for (size_t i = 0; i < node->n_rails; i++)
		if (json_array_append_new(made, make_rail(&node->rails[i]))) {
			json_decref(made);
			return NULL;
		}
	return made;
}

/* Makes a node without its rails and its fingerprint. */
static json_t *make_node(const struct fleet_node *node)
{
	json_t *addresses = json_array();
	int failed = !addresses;

	for (size_t i = 0; i < node->n_rails; i++)
		failed |= json_array_append_new(addresses, json_make_text(node->rails[i].address));
	if (failed) {
		json_decref(addresses);
		return NULL;
	}
	return json_pack("{s:o, s:o, s:o*, s:s, s:o*, s:o}", "name", json_make_text(node->name),
			 "host", json_make_text(node->host), "group", text_or_none(node->group),
			 "presence", fleet_presence_names[node->presence], "error",
			 text_or_none(node->error), "addresses", addresses);
}

json_t *fleet_node_encode(const struct fleet_node *node)
{
	json_t *made = make_node(node);
	int failed = json_object_set_new(made, "rails", make_rails(node));

	if (node->fingerprint[0])
		failed |=
			json_object_set_new(made, "fingerprint", json_make_text(node->fingerprint));
	if (!failed)
		return made;
	json_decref(made);
	return NULL;
}

static json_t *make_figures(const struct fleet *fleet, const struct fleet_pair *pair)
{
	json_t *made = json_array();
	int failed = !made;

	for (size_t i = 0; i < 2 * fleet->n_cases; i++) {
		json_t *figure = make_figure(pair->figures[i]);

		failed |= json_array_append_new(made, figure ? figure : json_null());
	}
	if (!failed)
		return made;
	json_decref(made);
	return NULL;
}

static json_t *make_outcome(const struct fleet *fleet, const struct fleet_pair *pair)
{
	if (pair->status == FLEET_MEASURED && pair->figures)
		return make_figures(fleet, pair);
	return pair->error && pair->error[0] ? json_make_text(pair->error) : json_null();
}

json_t *fleet_pair_encode(const struct fleet *fleet, const struct fleet_pair *pair)
{
	const json_int_t numbers[] = {pair->round,   pair->from,   pair->to,     pair->from_rail,
				      pair->to_rail, pair->retest, pair->status, pair->faults};
	json_t *made = json_array();
	int failed = !made;

	for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++)
		failed |= json_array_append_new(made, json_integer(numbers[i]));
	failed |= json_array_append_new(made, make_outcome(fleet, pair));
	if (pair->errors || pair->histograms)
		failed |= pair->errors ? json_array_append(made, pair->errors)
				       : json_array_append_new(made, json_null());
	if (pair->histograms)
		failed |= json_array_append(made, pair->histograms);
	if (!failed)
		return made;
	json_decref(made);
	return NULL;
}

/*
 * Adds a value to an array unless it is there already, and returns its number; negative: no memory.
 * index maps the texts of values to their numbers. Consumes the value.
 */
static json_int_t add_once(json_t *array, json_t *index, json_t *value)
{
	char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
	json_int_t number = (json_int_t)json_array_size(array);
	const json_t *known = text ? json_object_get(index, text) : NULL;

	if (known)
		number = json_integer_value(known);
	else if (!text || json_object_set_new(index, text, json_integer(number)) ||
		 json_array_append(array, value))
		number = -1;
	free(text);
	json_decref(value);
	return number;
}

struct shared {
	json_t *layouts;
	json_t *layout_index;
	json_t *fingerprints;
	json_t *fingerprint_index;
};

static json_t *make_listed_node(const struct fleet_node *node, struct shared *shared)
{
	json_t *made = make_node(node);
	json_int_t layout = add_once(shared->layouts, shared->layout_index, make_rails(node));
	json_int_t fingerprint = 0;
	int failed = json_object_set_new(made, "layout", json_integer(layout));

	if (node->fingerprint[0]) {
		fingerprint = add_once(shared->fingerprints, shared->fingerprint_index,
				       json_make_text(node->fingerprint));
		failed |= json_object_set_new(made, "fingerprint", json_integer(fingerprint));
	}
	if (!failed && layout >= 0 && fingerprint >= 0)
		return made;
	json_decref(made);
	return NULL;
}

static int set_nodes(json_t *document, const struct fleet *fleet)
{
	struct shared shared = {json_array(), json_object(), json_array(), json_object()};
	json_t *nodes = json_array();
	int failed = 0;

	for (size_t i = 0; i < fleet->n_nodes; i++)
		failed |= json_array_append_new(nodes, make_listed_node(&fleet->nodes[i], &shared));
	json_decref(shared.layout_index);
	json_decref(shared.fingerprint_index);
	failed |= json_object_set_new(document, "fingerprints", shared.fingerprints);
	failed |= json_object_set_new(document, "layouts", shared.layouts);
	return failed | json_object_set_new(document, "nodes", nodes);
}

static json_t *make_case(const struct fleet_case *line)
{
	json_t *floor = make_figure(line->floor);

	return json_pack("{s:o, s:s, s:b, s:I, s:o*, s:b}", "id", json_make_text(line->id),
			 "metric", line->is_latency ? "lat" : "bw", "both_ways",
			 (int)line->is_both_ways, "size", (json_int_t)line->size, "floor", floor,
			 "floor_is_line", (int)line->floor_is_line);
}

static int set_cases(json_t *document, const struct fleet *fleet)
{
	json_t *made = json_array();
	int failed = 0;

	for (size_t i = 0; i < fleet->n_cases; i++)
		failed |= json_array_append_new(made, make_case(&fleet->cases[i]));
	return failed | json_object_set_new(document, "cases", made);
}

static json_t *make_spread(const struct fleet_spread *spread)
{
	return json_pack("{s:I, s:i, s:b, s:b, s:I, s:o*, s:o*, s:o*, s:o*}", "case",
			 (json_int_t)spread->number, "rail", (int)spread->rail, "between",
			 (int)spread->is_between, "loopback", (int)spread->is_loopback, "count",
			 (json_int_t)spread->count, "median", make_figure(spread->median), "mad",
			 make_figure(spread->mad), "least", make_figure(spread->least), "most",
			 make_figure(spread->most));
}

static json_t *make_faults(uint8_t faults)
{
	json_t *made = json_array();

	for (unsigned int i = 0; i < FLEET_FAULTS; i++)
		if (faults & 1 << i)
			json_array_append_new(made, json_string(fleet_fault_names[i]));
	return made;
}

static bool has_peer(const struct fleet_blame *blame)
{
	return blame->culprit == FLEET_CULPRIT_LINK || blame->culprit == FLEET_CULPRIT_PAIR;
}

static json_t *make_blame(const struct fleet_blame *blame)
{
	json_t *made =
		json_pack("{s:s, s:I, s:I, s:I, s:o, s:o}", "culprit",
			  fleet_culprit_name(blame->culprit), "node", (json_int_t)blame->node,
			  "bad", (json_int_t)blame->bad, "good", (json_int_t)blame->good, "faults",
			  make_faults(blame->faults), "reason", json_make_text(blame->reason));
	int failed = !made;

	if (blame->rail != FLEET_ALL_RAILS)
		failed |= json_object_set_new(made, "rail", json_integer(blame->rail));
	if (has_peer(blame)) {
		failed |= json_object_set_new(made, "peer", json_integer(blame->peer));
		if (blame->peer_rail != FLEET_ALL_RAILS)
			failed |= json_object_set_new(made, "peer_rail",
						      json_integer(blame->peer_rail));
	}
	if (!failed)
		return made;
	json_decref(made);
	return NULL;
}

static int set_findings(json_t *document, const struct fleet *fleet)
{
	json_t *spreads = json_array();
	json_t *blames = json_array();
	char *bad = fleet_bad_nodes(fleet);
	int failed = 0;

	for (size_t i = 0; i < fleet->n_spreads; i++)
		failed |= json_array_append_new(spreads, make_spread(&fleet->spreads[i]));
	for (size_t i = 0; i < fleet->n_blames; i++)
		failed |= json_array_append_new(blames, make_blame(&fleet->blames[i]));
	failed |= json_object_set_new(document, "spreads", spreads);
	failed |= json_object_set_new(document, "blames", blames);
	failed |= json_object_set_new(document, "bad_nodes", bad ? json_make_text(bad) : NULL);
	free(bad);
	return failed |
	       json_object_set_new(document, "warnings",
				   fleet->warnings ? json_incref(fleet->warnings) : json_array());
}

static json_t *make_run(const struct fleet *fleet)
{
	return json_pack(
		"{s:o, s:o, s:o, s:o*, s:o, s:o, s:I, s:b, s:o*, s:b, s:i}", "started",
		json_make_text(fleet->started), "finished", json_make_text(fleet->finished),
		"command", fleet->command ? json_incref(fleet->command) : json_array(), "launcher",
		text_or_none(fleet->launcher), "pattern", json_make_text(fleet->pattern), "rails",
		json_make_text(fleet->rails), "rounds", (json_int_t)fleet->n_rounds, "interrupted",
		(int)fleet->is_interrupted, "interruption", text_or_none(fleet->interruption),
		"simulated", (int)fleet->is_simulated, "exit_status", fleet_exit_status(fleet));
}

json_t *fleet_columns_make(void)
{
	json_t *made = json_array();

	for (size_t i = 0; i < ARRAY_LENGTH(columns); i++)
		json_array_append_new(made, json_string(columns[i]));
	return made;
}

/* Makes everything except the pairs. */
static json_t *make_head(const struct fleet *fleet)
{
	const char *version = fleet->version ? fleet->version : "";
	json_t *document = json_pack("{s:s, s:{s:s, s:o}}", "schema", FLEET_SCHEMA, "tool", "name",
				     "verbmark", "version", json_make_text(version));
	int failed = !document;

	if (fleet_uses_soft(fleet))
		failed |= json_object_set_new(document, "banner", json_string(BANNER_SOFT));
	failed |= json_object_set_new(document, "run", make_run(fleet));
	failed |= set_nodes(document, fleet);
	failed |= set_cases(document, fleet);
	failed |= set_findings(document, fleet);
	failed |= json_object_set_new(document, "columns", fleet_columns_make());
	if (!failed)
		return document;
	json_decref(document);
	return NULL;
}

static int dump(FILE *out, json_t *json, size_t flags)
{
	int failed =
		!json || json_dumpf(json, out, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS) | flags);

	json_decref(json);
	/* Errors of the stream are detected when it is flushed. */
	return failed && !ferror(out) ? -ENOMEM : 0;
}

/* Writes pairs one by one, since all of them as JSON need ten times the memory of their text. */
int fleet_document_print(FILE *out, const struct fleet *fleet)
{
	int code;

	fputc('{', out);
	code = dump(out, make_head(fleet), JSON_EMBED);
	fputs(",\"pairs\":[", out);
	for (size_t i = 0; i < fleet->n_pairs && !code; i++) {
		fputs(i ? ",\n" : "\n", out);
		code = dump(out, fleet_pair_encode(fleet, &fleet->pairs[i]), 0);
	}
	fputs("]}\n", out);
	return code;
}

/* Returns the most bytes of a pair without error counters. */
static uint64_t pair_bytes(const struct fleet_size *size)
{
	uint64_t figures = 2 * size->n_cases * FIGURE_BYTES;

	if (size->has_histograms)
		figures += size->n_cases * HISTOGRAM_BYTES;
	return NUMBERS_BYTES + (figures > ERROR_BYTES ? figures : ERROR_BYTES);
}

int fleet_document_check(const struct fleet_size *size, struct error *error)
{
	uint64_t most = FLEET_BYTES_MOST / pair_bytes(size);

	if (size->n_nodes > FLEET_NODES_MOST)
		return error_set(error, -EFBIG, "a document has at most %d nodes",
				 FLEET_NODES_MOST);
	if (size->n_pairs <= most)
		return 0;
	return error_set(error, -EFBIG,
			 "%" PRIu64 " measurements may need more than %zu GiB, which 'verbmark "
			 "report' could not read; at most %" PRIu64
			 " are possible with these cases",
			 size->n_pairs, FLEET_BYTES_MOST >> 30, most);
}

static int write_fleet(FILE *out, const void *fleet)
{
	return fleet_document_print(out, fleet);
}

int fleet_document_write(const struct fleet *fleet, const char *path, struct error *error)
{
	return save_path(path, write_fleet, fleet, error);
}
