/* SPDX-License-Identifier: MIT */
#include "reports/fleet/fleet.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/fleet/blame/judge.h"
#include "reports/io/json_make.h"

struct fleet_pair *fleet_add_pair(struct fleet *fleet)
{
	if (fleet->n_pairs == fleet->pairs_room) {
		size_t room = fleet->pairs_room ? fleet->pairs_room * 2 : 64;
		struct fleet_pair *grown = reallocarray(fleet->pairs, room, sizeof(*grown));

		if (!grown)
			return NULL;
		fleet->pairs = grown;
		fleet->pairs_room = room;
	}
	fleet->pairs[fleet->n_pairs] = (struct fleet_pair){0};
	return &fleet->pairs[fleet->n_pairs++];
}

void fleet_clear_pair(struct fleet_pair *pair)
{
	free(pair->error);
	free(pair->figures);
	json_decref(pair->histograms);
	json_decref(pair->errors);
	*pair = (struct fleet_pair){0};
}

int fleet_add_figures(const struct fleet *fleet, struct fleet_pair *pair)
{
	pair->figures = calloc(2 * fleet->n_cases, sizeof(*pair->figures));
	if (!pair->figures)
		return -ENOMEM;
	for (size_t i = 0; i < 2 * fleet->n_cases; i++)
		pair->figures[i] = (double)NAN;
	return 0;
}

void fleet_warn(struct fleet *fleet, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	json_make_append(&fleet->warnings, format, values);
	va_end(values);
}

void fleet_finish(struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->n_pairs; i++)
		fleet_clear_pair(&fleet->pairs[i]);
	free(fleet->pairs);
	free(fleet->nodes);
	free(fleet->cases);
	free(fleet->spreads);
	free(fleet->blames);
	json_decref(fleet->command);
	json_decref(fleet->warnings);
	json_decref(fleet->texts);
	*fleet = (struct fleet){0};
}

static uint64_t rail_mbps(const struct fleet *fleet, uint32_t node, uint8_t rail)
{
	const struct fleet_node *owner = &fleet->nodes[node];

	return rail < owner->n_rails ? owner->rails[rail].rate_mbps : 0;
}

double fleet_line_rate(const struct fleet *fleet, const struct fleet_pair *pair)
{
	uint64_t from = rail_mbps(fleet, pair->from, pair->from_rail);
	uint64_t to = rail_mbps(fleet, pair->to, pair->to_rail);

	return (double)(from < to ? from : to) * 1e6 / 8;
}

bool fleet_uses_soft(const struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->n_nodes; i++)
		for (size_t j = 0; j < fleet->nodes[i].n_rails; j++)
			if (fleet->nodes[i].rails[j].is_soft)
				return true;
	return false;
}

int fleet_exit_status(const struct fleet *fleet)
{
	if (fleet->n_blames)
		return 1;
	for (size_t i = 0; i < fleet->n_pairs && !fleet->is_interrupted; i++) {
		enum verdict verdict = fleet_pair_verdict(fleet, &fleet->pairs[i]);

		if (verdict == VERDICT_SAME || verdict == VERDICT_WORSE)
			return 0;
	}
	return 3;
}

static bool is_blamed(const struct fleet *fleet, size_t node)
{
	for (size_t i = 0; i < fleet->n_blames; i++)
		if (fleet->blames[i].culprit == FLEET_CULPRIT_NODE && fleet->blames[i].node == node)
			return true;
	return false;
}

bool fleet_is_only_lost(const struct fleet *fleet, size_t node)
{
	return fleet->nodes[node].presence == FLEET_LOST && !is_blamed(fleet, node);
}

const char *fleet_culprit_name(enum fleet_culprit culprit)
{
	static const char *const names[] = {
		[FLEET_CULPRIT_NODE] = "node",
		[FLEET_CULPRIT_RAIL] = "rail",
		[FLEET_CULPRIT_LINK] = "link",
		[FLEET_CULPRIT_PAIR] = "pair",
	};

	return names[culprit];
}

const char *fleet_status_name(enum fleet_status status)
{
	static const char *const names[] = {
		[FLEET_NOT_RUN] = "not run",
		[FLEET_MEASURED] = "measured",
		[FLEET_FAILED] = "failed",
		[FLEET_SKIPPED] = "skipped",
	};

	return names[status];
}

const char *fleet_faults_text(uint8_t faults, char *text, size_t size)
{
	static const char *const words[] = {"failed", "below the floor", "outlier",
					    "error counters rose"};
	size_t used = 0;

	text[0] = '\0';
	for (unsigned int i = 0; i < 4 && used < size; i++)
		if (faults & 1 << i)
			used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
						 words[i]);
	return text;
}
