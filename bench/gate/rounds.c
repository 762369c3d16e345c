/* SPDX-License-Identifier: MIT */
#include "bench/gate/rounds.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/gate/tally.h"
#include "bench/host/facts/facts.h"
#include "core/base/clock.h"
#include "core/base/compiler.h"
#include "core/base/random.h"
#include "reports/compare/same_setup.h"
#include "reports/document/document.h"
#include "reports/io/json_member.h"
#include "reports/result/banner.h"

/* A run that takes ten times as long as expected has hung. This is added to its time limit. */
#define RUN_MS_LEAST 30000
/* After this many consecutive runs without a result, give up. */
#define LOST_MOST 3
/* A tail percentile needs a thousand messages, unless that takes more than twice as long. */
#define TAIL_MESSAGES  1100
#define TAIL_TIMES     2
#define MESSAGES_LEAST 60
/* Ignore fewer stolen ticks (of 10 ms): the percentage would mean nothing. */
#define STOLEN_LEAST 10

/* The cases of one run, in order. */
struct order {
	size_t *cases;
	size_t count;
};

static void shuffle(struct rounds *rounds, struct order *order)
{
	for (size_t i = order->count; i > 1; i--) {
		size_t other = random_next(&rounds->random) % i;
		size_t kept = order->cases[i - 1];

		order->cases[i - 1] = order->cases[other];
		order->cases[other] = kept;
	}
}

static uint64_t wanted_ns(const struct rounds *rounds, const struct one_case_plan *single)
{
	return single->duration_ns ? single->duration_ns : rounds->measure_ns;
}

/* iterations: 0 to measure by time and count the messages. */
static json_t *plan_case(const struct rounds *rounds, size_t number, uint64_t iterations)
{
	const struct one_case_plan *single = &rounds->singles.singles[number];
	uint64_t warmup = single->warmup_ns ? single->warmup_ns : rounds->warmup_ns;
	json_t *made = json_copy(single->product);

	json_object_set_new(made, "trials", json_pack("[i]", 1));
	json_object_set_new(made, "warmup_ns", json_pack("[I]", (json_int_t)warmup));
	if (iterations)
		json_object_set_new(made, "iterations", json_pack("[I]", (json_int_t)iterations));
	else
		json_object_set_new(made, "duration_ns",
				    json_pack("[I]", (json_int_t)wanted_ns(rounds, single)));
	return made;
}

static char *plan_text(const struct rounds *rounds, const struct order *order)
{
	json_t *plan = json_array();
	char *text;

	for (size_t i = 0; i < order->count; i++) {
		size_t number = order->cases[i];

		json_array_append_new(
			plan, plan_case(rounds, number, rounds->gate->cases[number].iterations));
	}
	text = json_dumps(plan, JSON_COMPACT);
	json_decref(plan);
	return text;
}

static const struct result_case *rounds_find(const struct result *result, const char *id)
{
	for (size_t i = 0; i < result->n_cases; i++)
		if (!strcmp(result->cases[i].id, id))
			return &result->cases[i];
	return NULL;
}

/*
 * The duration of a trial with -n is unknown before the first run; assume a tenth of the time
 * limit of a case.
 */
#define COUNTED_NS (60000 * NS_PER_MS / 10)

/* Estimates a trial that has not run yet. */
static uint64_t guessed_ns(const struct rounds *rounds, const struct one_case_plan *single)
{
	return wanted_ns(rounds, single) + (single->iterations ? COUNTED_NS : 0);
}

/* Returns the time limit of a run: ten times the expected duration of its cases. */
static unsigned int run_ms(const struct rounds *rounds, const struct order *order)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < order->count; i++) {
		const struct one_case_plan *single = &rounds->singles.singles[order->cases[i]];

		sum += single->takes_ns ? single->takes_ns : guessed_ns(rounds, single);
		sum += single->warmup_ns ? single->warmup_ns : rounds->warmup_ns;
	}
	sum = RUN_MS_LEAST + 10 * (sum / NS_PER_MS);
	return sum < INT_MAX ? (unsigned int)sum : INT_MAX;
}

static int run_side(const struct rounds *rounds, enum gate_side side, const struct order *order,
		    struct result *result, struct error *error)
{
	char *plan = plan_text(rounds, order);
	int code;

	if (!plan)
		return error_set_errno(error, -ENOMEM, "cannot make the plan");
	code = runner_run(&rounds->sides[side], plan, run_ms(rounds, order), rounds->stop, result,
			  error);
	free(plan);
	return code;
}

/*
 * Removes the sections that may differ from the facts of client and server, and from their
 * fingerprints.
 */
static void forgive(struct result *result, const char *const *forgiven)
{
	struct result_end *ends[] = {&result->client, &result->server};

	for (size_t i = 0; i < ARRAY_LENGTH(ends); i++) {
		json_t *facts = json_copy(ends[i]->facts);

		for (const char *const *section = forgiven; facts && *section; section++)
			json_object_del(facts, *section);
		json_decref(ends[i]->facts);
		ends[i]->facts = facts;
		fingerprint_hard(facts, ends[i]->fingerprint);
	}
}

static bool is_forgiven(const struct rounds *rounds, const char *section)
{
	for (const char *const *name = rounds->forgiven; *name; name++)
		if (!strcmp(*name, section))
			return true;
	return false;
}

static void forgive_link(struct result_end *end, const struct result_end *base)
{
	end->link_layer = base->link_layer;
	end->rate_mbps = base->rate_mbps;
	end->mtu = base->mtu;
}

static int check_alike(const struct rounds *rounds, struct result results[static GATE_SIDES],
		       struct error *error)
{
	struct result *base = &results[GATE_BASE];
	struct result *head = &results[GATE_HEAD];
	int code;

	/* The documents keep the full facts. */
	forgive(base, rounds->forgiven);
	forgive(head, rounds->forgiven);
	if (is_forgiven(rounds, "device")) {
		head->client.kind = base->client.kind;
		head->server.kind = base->server.kind;
	}
	if (is_forgiven(rounds, "port")) {
		forgive_link(&head->client, &base->client);
		forgive_link(&head->server, &base->server);
	}
	if (is_forgiven(rounds, "clock"))
		head->clock = base->clock;
	code = same_setup_check(&(struct same_setup){base, "the base"},
				&(struct same_setup){head, "the head"}, error);
	if (code)
		error_append(error, "use --differs to name the facts that may differ");
	return code;
}

static void note_side(struct rounds *rounds, enum gate_side number, const struct result *result)
{
	struct gate_side_record *side = &rounds->gate->sides[number];
	const json_t *tool = json_object_get(result->client.facts, "tool");
	struct error unknown = {0};

	snprintf(side->version, sizeof(side->version), "%s", result->version);
	/* The side under test may send anything. */
	if (json_member_text(tool, "revision", side->revision, sizeof(side->revision), &unknown))
		side->revision[0] = '\0';
	json_decref(side->ends);
	side->ends = json_pack("{s:o, s:o}", "client", document_make_end(&result->client), "server",
			       document_make_end(&result->server));
	snprintf(rounds->fingerprints[number][0], FINGERPRINT_TEXT, "%s",
		 result->client.fingerprint);
	snprintf(rounds->fingerprints[number][1], FINGERPRINT_TEXT, "%s",
		 result->server.fingerprint);
	if (banner_of(result))
		rounds->gate->banner = banner_of(result);
}

/*
 * Returns the iterations per thread that fit into the time, but at least a thousand in total for
 * the tail percentiles if that is not too slow.
 */
static uint64_t choose_iterations(const struct rounds *rounds, const struct one_case_plan *single,
				  double each_ns)
{
	double fit = fmax(MESSAGES_LEAST, (double)wanted_ns(rounds, single) / each_ns);

	if (single->iterations)
		return single->iterations;
	if (!single->is_bandwidth && fit < TAIL_MESSAGES && fit * TAIL_TIMES > TAIL_MESSAGES)
		fit = TAIL_MESSAGES;
	return (uint64_t)ceil(floor(fit) / (double)single->threads);
}

/* Sets the iterations and expected duration of a case from its first trial. */
static void calibrate_case(const struct rounds *rounds, struct one_case_plan *single,
			   struct gate_case *line, const struct result_trial *trial)
{
	double each_ns = fmax(1, (double)trial->duration_ns / fmax(1, (double)trial->messages));

	line->iterations = choose_iterations(rounds, single, each_ns);
	single->takes_ns =
		(uint64_t)fmax((double)guessed_ns(rounds, single),
			       each_ns * (double)line->iterations * (double)single->threads);
}

/* Removes the cases that failed twice on the base; the others keep their order. */
static void calibrate(struct rounds *rounds, const struct result *result,
		      const struct result *second)
{
	struct gate_record *gate = rounds->gate;
	size_t kept = 0;

	for (size_t i = 0; i < gate->n_cases; i++) {
		const struct result_case *line = rounds_find(result, gate->cases[i].id);
		const struct result_case *again = rounds_find(second, gate->cases[i].id);
		struct one_case_plan *single = &rounds->singles.singles[i];

		line = tally_has_trial(line) || !again ? line : again;
		if (!tally_has_trial(line)) {
			gate_note(gate, "%.120s is skipped because the base does not run it: %s",
				  gate->cases[i].id,
				  line && line->error[0] ? line->error : "missing from its result");
			json_decref(single->product);
			continue;
		}
		rounds->singles.singles[kept] = *single;
		gate->cases[kept] = gate->cases[i];
		gate->cases[kept].resolution_ns = result->clock_resolution_ns;
		calibrate_case(rounds, &rounds->singles.singles[kept], &gate->cases[kept],
			       &line->trials[0]);
		kept++;
	}
	gate->n_cases = rounds->singles.count = kept;
}

static int order_open(struct order *order, const struct rounds *rounds, bool is_again,
		      struct error *error)
{
	const struct gate_record *gate = rounds->gate;

	*order = (struct order){.cases = calloc(gate->n_cases + 1, sizeof(*order->cases))};
	if (!order->cases)
		return error_set_errno(error, -ENOMEM, "cannot order %zu cases", gate->n_cases);
	for (size_t i = 0; i < gate->n_cases; i++)
		if (gate_takes_part(gate, is_again, i))
			order->cases[order->count++] = i;
	return 0;
}

static int make_cases(struct rounds *rounds, struct error *error)
{
	struct gate_record *gate = rounds->gate;

	gate->cases = calloc(rounds->singles.count + 1, sizeof(*gate->cases));
	if (!gate->cases)
		return error_set_errno(error, -ENOMEM, "cannot keep %zu cases",
				       rounds->singles.count);
	gate->n_cases = rounds->singles.count;
	for (size_t i = 0; i < gate->n_cases; i++) {
		snprintf(gate->cases[i].id, sizeof(gate->cases[i].id), "%s",
			 rounds->singles.singles[i].id);
		gate->cases[i].is_bandwidth = rounds->singles.singles[i].is_bandwidth;
	}
	return 0;
}

/* Runs cases that failed on the base once more before they are skipped. */
static int calibrate_all(struct rounds *rounds, const struct result *result, struct error *error)
{
	const struct gate_record *gate = rounds->gate;
	struct result second = {0};
	struct order order = {0};
	struct error fault = {0};
	int code = order_open(&order, rounds, false, error);

	if (code)
		return code;
	order.count = 0;
	for (size_t i = 0; i < gate->n_cases; i++)
		if (!tally_has_trial(rounds_find(result, gate->cases[i].id)))
			order.cases[order.count++] = i;
	if (order.count)
		code = run_side(rounds, GATE_BASE, &order, &second, &fault);
	free(order.cases);
	if (code == -EINTR || code == -ENOMEM)
		return error_set(error, code, "%s", fault.text);
	calibrate(rounds, result, &second);
	result_finish(&second);
	return 0;
}

/*
 * Runs one side for the first time. The base runs first, because its speed decides the number of
 * messages for both.
 */
static int open_side(struct rounds *rounds, enum gate_side side, struct result *result,
		     struct error *error)
{
	struct order order = {0};
	int code = order_open(&order, rounds, false, error);

	if (!code)
		code = run_side(rounds, side, &order, result, error);
	free(order.cases);
	if (code) {
		error_wrap(error, "the %s cannot run", gate_side_name(side));
		return code;
	}
	note_side(rounds, side, result);
	if (side == GATE_BASE)
		code = calibrate_all(rounds, result, error);
	if (!code && !rounds->gate->n_cases)
		code = error_set(error, -ENODATA, "the base cannot run any case: %s",
				 result->n_cases ? result->cases[0].error
						 : "its result has no cases");
	return code;
}

int rounds_open(struct rounds *rounds, struct error *error)
{
	struct result results[GATE_SIDES] = {0};
	int code = make_cases(rounds, error);

	rounds->start_ns = clock_now_ns();
	rounds->noise = facts_noise("");
	rounds->random = rounds->gate->seed;
	for (enum gate_side side = 0; side < GATE_SIDES && !code; side++)
		code = open_side(rounds, side, &results[side], error);
	if (!code)
		code = check_alike(rounds, results, error);
	for (enum gate_side side = 0; side < GATE_SIDES; side++)
		result_finish(&results[side]);
	return code;
}

/* Returns whether the setup of a side changed during the gate. */
static bool has_changed(const struct rounds *rounds, enum gate_side side,
			const struct result *result)
{
	return strcmp(rounds->fingerprints[side][0], result->client.fingerprint) != 0 ||
	       strcmp(rounds->fingerprints[side][1], result->server.fingerprint) != 0;
}

/* The outcome of one side in a pair of runs. */
struct attempt {
	int code; /* 0: there is a result; otherwise see fault */
	struct error fault;
	struct result result;
	uint64_t took_ns;
};

static int try_side(struct rounds *rounds, enum gate_side side, const struct order *order,
		    struct attempt *attempt, struct error *error)
{
	uint64_t began = clock_now_ns();

	attempt->code = run_side(rounds, side, order, &attempt->result, &attempt->fault);
	attempt->took_ns = clock_now_ns() - began;
	if (attempt->code == -EINTR)
		return error_set(error, -EINTR, "%s", attempt->fault.text);
	rounds->n_lost[side] = attempt->code ? rounds->n_lost[side] + 1 : 0;
	if (rounds->n_lost[side] == LOST_MOST)
		return error_set(error, -ECHILD, "the %s gave no result %d times in a row: %s",
				 gate_side_name(side), LOST_MOST, attempt->fault.text);
	return 0;
}

static void take_attempt(struct rounds *rounds, enum gate_side side, size_t round,
			 const struct order *order, const struct attempt *attempt)
{
	struct gate_record *gate = rounds->gate;
	uint64_t share_ns = tally_share(&attempt->result, attempt->took_ns, order->count);

	for (size_t i = 0; i < order->count; i++) {
		struct gate_case *line = &gate->cases[order->cases[i]];

		if (attempt->code)
			tally_failure(line, side, attempt->fault.text);
		else
			tally_trial(line, side, round, rounds_find(&attempt->result, line->id),
				    share_ns);
	}
	if (!attempt->code && has_changed(rounds, side, &attempt->result) && !gate->invalid[0])
		snprintf(gate->invalid, sizeof(gate->invalid),
			 "the %s changed in pair of runs %zu: its kernel, firmware, governor or "
			 "the like differs from the first run",
			 gate_side_name(side), round + 1);
}

/* Runs one pair of runs. If only one side ran, the pair is discarded. */
static int run_round(struct rounds *rounds, struct gate_round *round, size_t number,
		     const struct order *order, struct error *error)
{
	struct attempt attempts[GATE_SIDES] = {0};
	int code = 0;

	for (int turn = 0; turn < GATE_SIDES && !code; turn++) {
		enum gate_side side = (turn == 0) == round->is_head_first ? GATE_HEAD : GATE_BASE;

		code = try_side(rounds, side, order, &attempts[side], error);
		round->took_ns[side] = attempts[side].took_ns;
	}
	for (enum gate_side side = 0; side < GATE_SIDES; side++) {
		if (!code)
			take_attempt(rounds, side, number, order, &attempts[side]);
		result_finish(&attempts[side].result);
	}
	return code;
}

bool rounds_are_over(const struct rounds *rounds)
{
	return rounds->until_ns && clock_now_ns() >= rounds->until_ns;
}

static int run_rounds(struct rounds *rounds, size_t count, bool is_again, struct order *order,
		      struct error *error)
{
	struct gate_record *gate = rounds->gate;
	bool is_head_first = false;
	size_t due = count;
	size_t done = 0;
	int code = 0;

	for (size_t i = 0; i < due && !rounds_are_over(rounds); i++) {
		size_t number = gate->n_rounds + gate->n_again;
		struct gate_round *round = &gate->rounds[number];

		if (rounds->view)
			rounds->view->begins(rounds->view, i, due);
		/* The second of two pairs reverses the order. */
		is_head_first = i % 2 ? !is_head_first : random_next(&rounds->random) & 1;
		*round = (struct gate_round){.is_again = is_again,
					     .is_head_first = is_head_first,
					     .began_ns = clock_now_ns() - rounds->start_ns};
		shuffle(rounds, order);
		code = run_round(rounds, round, number, order, error);
		if (code)
			break;
		due = gate_add_round(gate, is_again, due);
		done++;
	}
	if (!code && done >= count && done < due)
		gate_note(
			gate,
			"the time limit was reached before %zu more pairs of runs to replace failed ones",
			due - done);
	return code;
}

int rounds_run(struct rounds *rounds, size_t count, bool is_again, struct error *error)
{
	struct gate_record *gate = rounds->gate;
	struct order order = {0};
	int code = gate_reserve(gate, gate->n_rounds + gate->n_again + gate_due_most(count), error);

	if (!code)
		code = order_open(&order, rounds, is_again, error);
	if (!code)
		code = run_rounds(rounds, count, is_again, &order, error);
	free(order.cases);
	return code;
}

void rounds_finish(struct rounds *rounds)
{
	struct gate_record *gate = rounds->gate;
	json_t *after = facts_noise("");
	struct noise_growth growth = facts_noise_growth(rounds->noise, after);

	json_decref(after);
	if (gate->invalid[0])
		return;
	if (growth.stolen >= STOLEN_LEAST && facts_is_much_stolen(&growth))
		snprintf(gate->invalid, sizeof(gate->invalid),
			 "the hypervisor took %.1f %% of the CPU time during the gate",
			 100 * (double)growth.stolen / (double)growth.ticks);
	else if (growth.throttled)
		snprintf(
			gate->invalid, sizeof(gate->invalid),
			"the control group was throttled %lld times during the gate: raise cpu.max, "
			"or use another group",
			growth.throttled);
	else if (growth.slowed)
		snprintf(gate->invalid, sizeof(gate->invalid),
			 "CPUs were throttled %lld times for heat during the gate", growth.slowed);
}

void rounds_close(struct rounds *rounds)
{
	for (enum gate_side side = 0; side < GATE_SIDES; side++)
		runner_close(&rounds->sides[side]);
	one_case_plan_close(&rounds->singles);
	json_decref(rounds->noise);
	rounds->noise = NULL;
}
