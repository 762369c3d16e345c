/* SPDX-License-Identifier: MIT */
#include "reports/fleet/compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/fleet/blame/judge.h"
#include "reports/stats/median.h"

/* With fewer ratios, their spread is unknown. */
#define RATIOS_LEAST 6
/* The standard deviation of a normal distribution, in median absolute deviations. */
#define MAD_SIGMA 1.4826
/* Names in a note. */
#define NAMED_MOST 10

#define NONE UINT32_MAX

/* Maps nodes, rails and cases of BASE to those of NEW; NONE: there is no such. */
struct mapping {
	uint32_t *nodes;
	uint32_t *cases;
	uint32_t (*rails)[FLEET_MOST_RAILS];
};

/* A figure by its numbers in NEW, for sorting. */
struct entry {
	struct fleet_figure figure;
	const char *error;
	size_t number; /* keeps the order of equal ones */
};

struct entries {
	struct entry *list;
	size_t count;
	size_t n_foreign; /* figures of nodes, rails or cases that NEW lacks */
};

static void note(struct fleet_comparison *comparison, const char *format, const char *text)
{
	char line[512];

	snprintf(line, sizeof(line), "%s%s", format, text);
	json_array_append_new(comparison->notes, json_string(line));
}

/* Notes the names of nodes that the other fleet lacks. */
static void note_missing(struct fleet_comparison *comparison, const struct fleet *from,
			 const struct fleet *other, const char *title)
{
	char text[400] = "";
	size_t length = 0;
	size_t count = 0;

	for (size_t i = 0; i < from->n_nodes; i++) {
		bool is_found = false;

		for (size_t j = 0; j < other->n_nodes && !is_found; j++)
			is_found = !strcmp(from->nodes[i].name, other->nodes[j].name);
		if (is_found || count++ >= NAMED_MOST || length >= sizeof(text))
			continue;
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s",
					   length ? ", " : "", from->nodes[i].name);
	}
	if (count > NAMED_MOST && length < sizeof(text))
		snprintf(text + length, sizeof(text) - length, " and %zu more", count - NAMED_MOST);
	if (count)
		note(comparison, title, text);
}

static uint32_t find_node(const struct fleet *fleet, const char *name)
{
	for (uint32_t i = 0; i < fleet->n_nodes; i++)
		if (!strcmp(fleet->nodes[i].name, name))
			return i;
	return NONE;
}

static uint32_t find_rail(const struct fleet_node *node, const struct fleet_rail *rail)
{
	for (uint32_t i = 0; i < node->n_rails; i++)
		if (!strcmp(node->rails[i].device, rail->device) &&
		    node->rails[i].port == rail->port)
			return i;
	return NONE;
}

static uint32_t find_case(const struct fleet *fleet, const struct fleet_case *line)
{
	for (uint32_t i = 0; i < fleet->n_cases; i++)
		if (!strcmp(fleet->cases[i].id, line->id) &&
		    fleet->cases[i].is_latency == line->is_latency)
			return i;
	return NONE;
}

static void map_rails(struct fleet_comparison *comparison, struct mapping *mapping, uint32_t node)
{
	const struct fleet_node *base = &comparison->base->nodes[node];
	uint32_t to = mapping->nodes[node];

	for (uint32_t i = 0; i < FLEET_MOST_RAILS; i++)
		mapping->rails[node][i] = NONE;
	for (uint32_t i = 0; i < base->n_rails && to != NONE; i++) {
		const struct fleet_rail *rail = &base->rails[i];

		mapping->rails[node][i] = find_rail(&comparison->now->nodes[to], rail);
		if (mapping->rails[node][i] == NONE) {
			char text[2 * FLEET_NAME + 32];

			snprintf(text, sizeof(text), "%s has no %s/%u", base->name, rail->device,
				 rail->port);
			note(comparison, "NEW: ", text);
		}
	}
}

static void mapping_finish(struct mapping *mapping)
{
	free(mapping->nodes);
	free(mapping->cases);
	free(mapping->rails);
}

static int mapping_init(struct mapping *mapping, struct fleet_comparison *comparison,
			struct error *error)
{
	const struct fleet *base = comparison->base;
	const struct fleet *now = comparison->now;

	mapping->nodes = calloc(base->n_nodes + 1, sizeof(*mapping->nodes));
	mapping->cases = calloc(base->n_cases + 1, sizeof(*mapping->cases));
	mapping->rails = calloc(base->n_nodes + 1, sizeof(*mapping->rails));
	if (!mapping->nodes || !mapping->cases || !mapping->rails)
		return error_set_errno(error, -ENOMEM, "cannot compare the fleets");
	for (uint32_t i = 0; i < base->n_nodes; i++) {
		mapping->nodes[i] = find_node(now, base->nodes[i].name);
		map_rails(comparison, mapping, i);
	}
	for (uint32_t i = 0; i < base->n_cases; i++) {
		mapping->cases[i] = find_case(now, &base->cases[i]);
		if (mapping->cases[i] == NONE)
			note(comparison, "case only in BASE: ", base->cases[i].id);
	}
	for (uint32_t i = 0; i < now->n_cases; i++)
		if (find_case(base, &now->cases[i]) == NONE)
			note(comparison, "case only in NEW: ", now->cases[i].id);
	return 0;
}

/* Translates a figure of BASE. Returns false if NEW lacks its nodes, rails or case. */
static bool translate(const struct mapping *mapping, struct fleet_figure *figure)
{
	struct fleet_view *view = &figure->view;
	uint32_t from_rail = mapping->rails[figure->from][view->from_rail];
	uint32_t to_rail = mapping->rails[figure->to][view->to_rail];

	if (mapping->cases[view->number] == NONE || from_rail == NONE || to_rail == NONE)
		return false;
	figure->from = mapping->nodes[figure->from];
	figure->to = mapping->nodes[figure->to];
	*view = (struct fleet_view){mapping->cases[view->number], (uint8_t)from_rail,
				    (uint8_t)to_rail};
	return true;
}

static int compare_keys(const struct entry *a, const struct entry *b)
{
	const struct fleet_view *left = &a->figure.view;
	const struct fleet_view *right = &b->figure.view;

	if (left->number != right->number)
		return left->number < right->number ? -1 : 1;
	if (a->figure.from != b->figure.from)
		return a->figure.from < b->figure.from ? -1 : 1;
	if (a->figure.to != b->figure.to)
		return a->figure.to < b->figure.to ? -1 : 1;
	if (left->from_rail != right->from_rail)
		return left->from_rail < right->from_rail ? -1 : 1;
	return (left->to_rail > right->to_rail) - (left->to_rail < right->to_rail);
}

static int compare_entries(const void *left, const void *right)
{
	const struct entry *a = left;
	const struct entry *b = right;
	int order = compare_keys(a, b);

	return order ? order : (a->number > b->number) - (a->number < b->number);
}

/* Collects all figures, sorted. The first of repeated ones counts. mapping NULL: of NEW. */
static int collect(struct entries *entries, const struct fleet *fleet,
		   const struct mapping *mapping, struct error *error)
{
	size_t kept = 0;

	entries->list = calloc(2 * fleet->n_pairs * fleet->n_cases + 1, sizeof(*entries->list));
	if (!entries->list)
		return error_set_errno(error, -ENOMEM, "cannot compare the fleets");
	for (size_t i = 0; i < fleet->n_pairs; i++)
		for (size_t j = 0; j < 2 * fleet->n_cases; j++) {
			struct entry *entry = &entries->list[entries->count];

			if (!fleet_figure(fleet, &fleet->pairs[i], j / 2, (int)(j % 2),
					  &entry->figure))
				continue;
			if (mapping && !translate(mapping, &entry->figure)) {
				entries->n_foreign += !fleet->pairs[i].retest;
				continue;
			}
			entry->error = fleet->pairs[i].error;
			entry->number = entries->count++;
		}
	qsort(entries->list, entries->count, sizeof(*entries->list), compare_entries);
	for (size_t i = 0; i < entries->count; i++)
		if (!kept || compare_keys(&entries->list[kept - 1], &entries->list[i]) != 0)
			entries->list[kept++] = entries->list[i];
	entries->count = kept;
	return 0;
}

static void add_change(struct fleet_comparison *comparison, const struct entry *base,
		       const struct entry *now)
{
	double ratio = now->figure.value / base->figure.value;

	comparison->changes[comparison->n_changes++] = (struct fleet_change){
		.figure = now->figure,
		.base = base->figure.value,
		.ratio = ratio > 0 && isfinite(ratio) ? ratio : (double)NAN,
		.z = (double)NAN,
		.error = now->error,
	};
}

/* Joins both sorted lists. */
static int join(struct fleet_comparison *comparison, const struct entries *base,
		const struct entries *now, struct error *error)
{
	comparison->changes = calloc(now->count + 1, sizeof(*comparison->changes));
	if (!comparison->changes)
		return error_set_errno(error, -ENOMEM, "cannot compare the fleets");
	for (size_t i = 0, j = 0; j < now->count; j++) {
		while (i < base->count && compare_keys(&base->list[i], &now->list[j]) < 0)
			i++;
		if (i < base->count && !compare_keys(&base->list[i], &now->list[j]))
			add_change(comparison, &base->list[i], &now->list[j]);
		else
			comparison->n_unmatched++;
	}
	comparison->n_vanished = base->n_foreign + base->count - comparison->n_changes;
	return 0;
}

/* Computes median and spread of the ratios of a case, from all of its changes. */
static int find_shift(struct fleet_shift *shift, const struct fleet_change *changes, size_t count,
		      struct error *error)
{
	double *values = calloc(count + 1, sizeof(*values));

	if (!values)
		return error_set_errno(error, -ENOMEM, "cannot compare the fleets");
	for (size_t i = 0; i < count; i++)
		if (!isnan(changes[i].ratio))
			values[shift->count++] = log(changes[i].ratio);
	if (shift->count) {
		double middle;

		median_sort(values, shift->count);
		middle = median_of_sorted(values, shift->count);
		shift->median = exp(middle);
		for (size_t i = 0; i < shift->count; i++)
			values[i] = fabs(values[i] - middle);
		median_sort(values, shift->count);
		shift->spread = MAD_SIGMA * median_of_sorted(values, shift->count);
	}
	free(values);
	return 0;
}

/* One of the measurements failed, or nothing arrived. */
static enum verdict judge_failure(const struct fleet_change *change)
{
	bool had_figure = change->base > 0;

	if (had_figure == (change->figure.value > 0))
		return VERDICT_SAME;
	return had_figure ? VERDICT_WORSE : VERDICT_BETTER;
}

static enum verdict judge(const struct fleet_shift *shift, struct fleet_change *change,
			  bool is_latency)
{
	double distance = fabs(log(change->ratio));

	if (isnan(change->ratio))
		return judge_failure(change);
	change->z = log(change->ratio) / fmax(shift->spread, 1e-9);
	if (distance <= log(1 + FLEET_OUTLIER_SHARE))
		return VERDICT_SAME;
	if (shift->count < RATIOS_LEAST || fabs(change->z) <= FLEET_OUTLIER_Z)
		return VERDICT_UNCLEAR;
	return (change->ratio > 1) == is_latency ? VERDICT_WORSE : VERDICT_BETTER;
}

static int judge_case(struct fleet_comparison *comparison, size_t first, size_t count,
		      struct error *error)
{
	struct fleet_shift *shift = &comparison->shifts[comparison->n_shifts++];
	struct fleet_change *changes = &comparison->changes[first];
	int code;

	*shift = (struct fleet_shift){.number = changes->figure.view.number, .median = (double)NAN};
	code = find_shift(shift, changes, count, error);
	for (size_t i = 0; i < count && !code; i++) {
		changes[i].verdict =
			judge(shift, &changes[i], comparison->now->cases[shift->number].is_latency);
		shift->n_verdicts[changes[i].verdict]++;
		comparison->n_verdicts[changes[i].verdict]++;
	}
	return code;
}

/* Sorts the worst first; a failure is worse than any ratio. */
static int compare_changes(const void *left, const void *right)
{
	const struct fleet_change *a = left;
	const struct fleet_change *b = right;
	double one = isnan(a->ratio) ? (double)INFINITY : fabs(log(a->ratio));
	double other = isnan(b->ratio) ? (double)INFINITY : fabs(log(b->ratio));

	if (a->verdict != b->verdict)
		return a->verdict > b->verdict ? -1 : 1;
	return (one < other) - (one > other);
}

static int judge_all(struct fleet_comparison *comparison, struct error *error)
{
	size_t count = comparison->n_changes;
	int code = 0;

	comparison->shifts = calloc(comparison->now->n_cases + 1, sizeof(*comparison->shifts));
	if (!comparison->shifts)
		return error_set_errno(error, -ENOMEM, "cannot compare the fleets");
	for (size_t i = 0, end; i < count && !code; i = end) {
		const struct fleet_change *changes = comparison->changes;

		for (end = i + 1; end < count &&
				  changes[end].figure.view.number == changes[i].figure.view.number;)
			end++;
		code = judge_case(comparison, i, end - i, error);
	}
	if (!code)
		qsort(comparison->changes, count, sizeof(*comparison->changes), compare_changes);
	return code;
}

static int check_common(const struct fleet_comparison *comparison, struct error *error)
{
	const char *first;

	if (comparison->n_changes)
		return 0;
	first = json_string_value(json_array_get(comparison->notes, 0));
	return error_set(error, -ENODATA, "the fleets have no figure in common%s%.180s",
			 first ? ": " : "", first ? first : "");
}

int fleet_compare(struct fleet_comparison *comparison, const struct fleet *base,
		  const struct fleet *now, struct error *error)
{
	struct mapping mapping = {0};
	struct entries old = {0};
	struct entries new = {0};
	int code;

	*comparison = (struct fleet_comparison){.base = base, .now = now, .notes = json_array()};
	note_missing(comparison, base, now, "nodes that vanished: ");
	note_missing(comparison, now, base, "nodes that appeared: ");
	code = mapping_init(&mapping, comparison, error);
	if (!code)
		code = collect(&old, base, &mapping, error);
	if (!code)
		code = collect(&new, now, NULL, error);
	if (!code)
		code = join(comparison, &old, &new, error);
	if (!code)
		code = judge_all(comparison, error);
	free(old.list);
	free(new.list);
	mapping_finish(&mapping);
	return code ? code : check_common(comparison, error);
}

void fleet_comparison_finish(struct fleet_comparison *comparison)
{
	free(comparison->changes);
	free(comparison->shifts);
	json_decref(comparison->notes);
	*comparison = (struct fleet_comparison){0};
}

bool fleet_comparison_has_passed(const struct fleet_comparison *comparison)
{
	const size_t *verdicts = comparison->n_verdicts;

	return comparison->n_changes && !comparison->n_vanished && !verdicts[VERDICT_WORSE] &&
	       !verdicts[VERDICT_UNCLEAR];
}
