/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "bench/fleet/rank_parts.h"
#include "reports/fleet/blame/blame.h"
#include "reports/fleet/blame/judge.h"

/* The key that rank 0 publishes the measurements to repeat under. */
#define KEY_RETESTS   "verbmark.retests.%u"
#define RETEST_ROUNDS 64 /* at most, each time */

/* Publishes the measurements to repeat, at rank 0. Returns them in *wanted, which the caller owns. */
static int publish_retests(struct rank *rank, unsigned int retest, json_t **wanted,
			   struct error *error)
{
	struct fleet_retest *wishes = NULL;
	size_t count = 0;
	json_t *list = json_array();
	char key[32];
	char *text;
	int code = fleet_judge(rank->fleet, error);

	if (!code)
		code = fleet_choose_retests(rank->fleet, retest, &wishes, &count, error);
	for (size_t i = 0; i < count && !code; i++)
		json_array_append_new(list,
				      json_pack("[i,i,i,i,i]", (int)wishes[i].round,
						(int)wishes[i].from, (int)wishes[i].to,
						(int)wishes[i].from_rail, (int)wishes[i].to_rail));
	text = json_dumps(list, JSON_COMPACT);
	snprintf(key, sizeof(key), KEY_RETESTS, retest);
	if (!code)
		code = job_publish(&rank->job, key, text, error);
	free(text);
	free(wishes);
	*wanted = list;
	return code;
}

/* Gets the measurements to repeat, at other ranks. */
static int read_retests(const struct rank *rank, unsigned int retest, json_t **wanted,
			struct error *error)
{
	char key[32];
	char *text;
	int code;

	snprintf(key, sizeof(key), KEY_RETESTS, retest);
	code = job_get(&rank->job, 0, key, &text, error);
	if (!code) {
		*wanted = json_loads(text, 0, NULL);
		if (!*wanted)
			code = error_set(error, -EPROTO, "the list of rank 0 is not valid");
	}
	free(text);
	return code;
}

static int run_retest_round(struct rank *rank, const json_t *list, int round, unsigned int retest,
			    struct error *error)
{
	int code = rank_begin_round(rank, error);
	const json_t *wish;
	size_t i;

	/* The other end of a repeat does not wait for it. */
	if (rank->is_loose)
		return code;

	json_array_foreach(list, i, wish)
	{
		int turn, from, to, from_rail, to_rail;

		if (code || json_unpack((json_t *)(uintptr_t)wish, "[i,i,i,i,i]", &turn, &from, &to,
					&from_rail, &to_rail))
			return code;
		if (turn != round || from != (int)rank->job.rank || to < 0 || from_rail < 0 ||
		    from_rail >= FLEET_MOST_RAILS || to_rail < 0 || to_rail >= FLEET_MOST_RAILS ||
		    to >= (int)rank->job.size)
			continue;
		code = rank_drive(
			rank,
			&(struct round_pair){.round = rank->fleet->n_rounds + (uint32_t)round,
					     .from = rank->job.rank,
					     .to = (uint32_t)to,
					     .retest = (uint8_t)retest,
					     .from_rail = (uint8_t)from_rail,
					     .to_rail = (uint8_t)to_rail},
			error);
	}
	return code;
}

/*
 * Agrees on what is repeated. Without barriers, or if PMIx fails, rank 0 cannot tell the others: then
 * nothing is, and the ranks go on without barriers. Fails only as rank_meet_all does.
 */
static int agree(struct rank *rank, unsigned int retest, json_t **list, struct error *error)
{
	struct error fault = {0};
	int code;

	if (rank_is_first(rank) && publish_retests(rank, retest, list, &fault))
		rank->is_loose = rank->is_broken = true;
	code = rank_meet_all(rank, 2 * rank->round_ms + COLLECT_MS, error);
	if (!code && !rank->is_loose && !rank_is_first(rank) &&
	    read_retests(rank, retest, list, &fault))
		rank->is_loose = rank->is_broken = true;
	if (fault.code)
		fleet_warn(rank->fleet, "nothing was repeated: %s", fault.text);
	return code;
}

int rank_run_retest(struct rank *rank, unsigned int retest, struct error *error)
{
	json_t *list = NULL;
	int last = -1;
	int code = agree(rank, retest, &list, error);
	const json_t *wish;
	size_t i;

	if (code || rank->is_loose) {
		json_decref(list);
		return code;
	}
	json_array_foreach(list, i, wish)
	{
		json_int_t turn = json_integer_value(json_array_get(wish, 0));

		if (turn > last && turn < RETEST_ROUNDS)
			last = (int)turn;
	}
	for (int round = 0; round <= last && !code && !rank->is_loose; round++)
		code = run_retest_round(rank, list, round, retest, error);
	json_decref(list);
	return code ? code : rank_end_phase(rank, error);
}
