/* SPDX-License-Identifier: MIT */
#include "bench/gate/gate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "bench/cli/utc.h"
#include "bench/cli/value.h"
#include "bench/gate/tally.h"
#include "core/base/clock.h"
#include "reports/document/document.h"

/* Durations of a trial if the plan has none. */
#define MEASURE_NS (30 * NS_PER_MS)
#define WARMUP_NS  (20 * NS_PER_MS)
/*
 * The gate judges at most this often, each time with twice as many pairs of runs. A bound is wrong
 * once in a hundred times, so five looks stay below 5 %.
 */
#define LOOKS_MOST 5
/* Without a time limit: at most four times the pairs. */
#define LOOKS_WITHOUT_LIMIT 3
/* Every integer up to this is exact in any JSON reader. */
#define SEED_MOST (1ULL << 53)

static const char *parse_floor(const char *word, size_t length, double *floors)
{
	const char *sign = memchr(word, '=', length);

	for (enum gate_figure figure = 0; sign && figure < GATE_FIGURES; figure++) {
		const char *name = gate_figure_name(figure);
		size_t rest = length - (size_t)(sign + 1 - word);
		char *end;
		double value;

		if (strlen(name) != (size_t)(sign - word) || strncmp(name, word, strlen(name)) != 0)
			continue;
		if (rest == strlen("off") && !strncmp(sign + 1, "off", rest)) {
			floors[figure] = (double)NAN;
			return NULL;
		}
		value = strtod(sign + 1, &end);
		if (end == sign + 1 || end + 1 != word + length || *end != '%' || !(value >= 1) ||
		    !(value <= 1000))
			return "has a threshold that is neither off nor between 1% and 1000%";
		floors[figure] = value / 100;
		return NULL;
	}
	return "is not a list of thresholds (e.g. p50=5%,bw=5%,p99=10%)";
}

const char *gate_parse_floors(const char *text, void *field)
{
	double *floors = field;
	const char *wrong = NULL;
	bool has_any = false;

	while (!wrong) {
		size_t length = strcspn(text, ",");

		wrong = parse_floor(text, length, floors);
		if (!text[length])
			break;
		text += length + 1;
	}
	for (enum gate_figure figure = 0; figure < GATE_FIGURES; figure++)
		has_any = has_any || !isnan(floors[figure]);
	return wrong || has_any ? wrong : "leaves no figure to gate";
}

/* Sections of facts in documents. */
#define SECTIONS                                                                                 \
	"tool,rdma_core,libc,kernel,device,port,netdev,flow,pcie,iommu,cpu,frequency,idle,numa," \
	"clock,cgroup,virtualization,environment"

static bool is_section(const char *word)
{
	size_t length = strlen(word);
	const char *at = SECTIONS;

	while (*at) {
		size_t here = strcspn(at, ",");

		if (here == length && !strncmp(at, word, here))
			return true;
		at += here + (at[here] == ',');
	}
	return false;
}

const char *gate_parse_differs(const char *text, void *field)
{
	struct gate_differs *differs = field;
	char *rest = differs->text;
	size_t count = 0;

	if (strlen(text) >= sizeof(differs->text))
		return "is too long";
	memcpy(differs->text, text, strlen(text) + 1);
	for (char *word = strsep(&rest, ","); word; word = strsep(&rest, ",")) {
		if (!is_section(word))
			return "must be a list of these facts: " SECTIONS;
		if (count == GATE_FACTS)
			return "has too many facts";
		differs->sections[count++] = word;
	}
	differs->sections[count] = NULL;
	return NULL;
}

const char *gate_parse_limit(const char *text, void *field)
{
	unsigned int limit_ms;

	if (!value_duration(text, &limit_ms) || !limit_ms)
		return "is not a time (e.g. 5m or 90s)";
	*(unsigned int *)field = limit_ms;
	return NULL;
}

const char *gate_parse_seed(const char *text, void *field)
{
	return value_count(text, 1, SEED_MOST, field) ? NULL : "must be between 1 and 2^53";
}

uint64_t gate_draw_seed(void)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), 0) < 0)
		seed = clock_now_ns();
	return seed % SEED_MOST + 1;
}

/* Processes, connections and the control channel, in addition to the trial. */
#define EXTRA_NS (60 * NS_PER_MS)

int gate_print(const struct gate_settings *settings, const struct plan *plan, FILE *out,
	       struct error *error)
{
	struct one_case_plan_list singles;
	int code = one_case_plan_open(&singles, plan, error);
	double round_ns = 0;
	char skipped[ONE_CASE_PLAN_TEXT];

	if (code)
		return code;
	for (size_t i = 0; i < singles.count; i++) {
		const struct one_case_plan *single = &singles.singles[i];

		fprintf(out, "%s\n", single->id);
		round_ns += (double)(single->duration_ns ? single->duration_ns : MEASURE_NS);
		round_ns += (double)(single->warmup_ns ? single->warmup_ns : WARMUP_NS);
		round_ns += EXTRA_NS;
	}
	if (one_case_plan_skipped(&singles, skipped))
		fprintf(out, "%s\n", skipped);
	fprintf(out, "%zu cases, %zu pairs of runs, about %.0f s\n", singles.count,
		settings->rounds, 2 * (double)settings->rounds * round_ns / (double)NS_PER_S);
	one_case_plan_close(&singles);
	return 0;
}

/* The gate itself decides how often each case runs. */
static const char *const efforts[] = {"trials", "interleave", "needs"};

bool gate_refuses(const struct option_row *row)
{
	/* The gate has no loads and patterns. */
	static const char *const others[] = {"rate", "arrivals", "burst", "pattern"};
	bool found = plan_is_of_budget(row);
	for (size_t i = 0; i < ARRAY_LENGTH(efforts); i++)
		found = found || !strcmp(row->name, efforts[i]);
	for (size_t i = 0; i < ARRAY_LENGTH(others); i++)
		found = found || !strcmp(row->name, others[i]);
	return found;
}

const char *gate_says(const struct option_row *row)
{
	static const struct option_said others[] = {
		{"metric",     "lat or bw (lat)"                                           },
		{"iterations", "messages per trial, instead of -D"                         },
		{"duration",   "time per trial (30ms)"                                     },
		{"warmup",     "maximum warm-up before each trial (30ms; with LISTs: 20ms)"},
	};

	return option_said(others, ARRAY_LENGTH(others), row);
}

int gate_check_plan(struct plan *plan, struct error *error)
{
	if (plan_refuse_budget(plan, "--rounds", error))
		return error->code;
	for (size_t i = 0; i < ARRAY_LENGTH(efforts); i++)
		if (product_list(&plan->asked, parameter_find(efforts[i]))->count)
			return error_set(error, -EINVAL,
					 "--%s: a gate runs each case once per run; use --rounds",
					 efforts[i]);
	return plan_finish(plan, "gate", error);
}

static struct runner_options options_of(const struct gate_settings *settings, const char *device)
{
	return (struct runner_options){
		.host = settings->host,
		.device = device ? device : settings->device,
		.server_device = settings->server_device,
		.secret_file = settings->secret_file,
		.port = settings->port,
	};
}

static int open_sides(struct rounds *rounds, const struct gate_settings *settings,
		      struct error *error)
{
	int code = 0;

	for (enum gate_side side = 0; side < GATE_SIDES && !code; side++) {
		const struct gate_side_settings *wanted = &settings->sides[side];
		const struct runner_options options = options_of(settings, wanted->device);

		code = runner_open(&rounds->sides[side], wanted->what, &options, error);
		if (code)
			error_wrap(error, "--%s", gate_side_name(side));
		rounds->gate->sides[side].words = strdup(wanted->what);
		if (!code && !rounds->gate->sides[side].words)
			code = error_set_errno(error, -ENOMEM, "cannot keep the two sides");
	}
	return code;
}

/* Marks the record as invalid, with the reason why the gate ended early. */
static void put_invalid(struct gate_record *gate, const struct error *fault)
{
	if (!gate->invalid[0])
		snprintf(gate->invalid, sizeof(gate->invalid), "%s", fault->text);
}

/* With too few pairs of runs there is no verdict. */
static void check_time(const struct gate_settings *settings, struct gate_record *gate)
{
	if (gate->n_rounds >= settings->rounds || gate->invalid[0])
		return;
	if (gate->n_rounds < JUDGE_ROUNDS_LEAST)
		snprintf(
			gate->invalid, sizeof(gate->invalid),
			"the time limit was reached after %zu of %zu pairs of runs, but a verdict needs %d: "
			"use fewer cases, or a longer --time-limit",
			gate->n_rounds, settings->rounds, JUDGE_ROUNDS_LEAST);
	else
		gate_note(gate, "the time limit was reached after %zu of %zu pairs of runs",
			  gate->n_rounds, settings->rounds);
}

static bool is_unsteady(const struct gate_case *line)
{
	return 2 * line->unsteady[GATE_BASE] > line->trials[GATE_BASE];
}

static bool is_troubled(const struct gate_case *line)
{
	return line->troubled[GATE_BASE] + line->troubled[GATE_HEAD] > 0;
}

static bool is_failing(const struct gate_case *line)
{
	return line->failures[GATE_BASE] + line->failures[GATE_HEAD] > 0;
}

/* Counts the cases that satisfy the predicate. *such is set to the id of one of them. */
static size_t count_cases(const struct gate_record *gate,
			  bool is_such(const struct gate_case *line), const char **such)
{
	size_t count = 0;

	*such = NULL;
	for (size_t i = 0; i < gate->n_cases; i++) {
		if (!is_such(&gate->cases[i]))
			continue;
		*such = gate->cases[i].id;
		count++;
	}
	return count;
}

/* Noise affects both sides alike, so it favors neither, but it hides small differences. */
static void note_unsteady(struct gate_record *gate)
{
	const char *such;
	size_t count = count_cases(gate, is_unsteady, &such);

	if (count)
		gate_note(
			gate,
			"%zu of %zu cases (e.g. %s) mostly did not stabilize during warm-up; a "
			"longer --warmup or less background load would reveal smaller differences",
			count, gate->n_cases, such);
}

static void note_troubled(struct gate_record *gate)
{
	const char *such;
	size_t count = count_cases(gate, is_troubled, &such);

	if (count)
		gate_note(gate,
			  "in %zu of %zu cases (e.g. %s) messages were lost and retransmitted; the "
			  "document has the number of such runs per side",
			  count, gate->n_cases, such);
}

static bool is_lengthy(const struct gate_case *line)
{
	return 2 * (line->lengthy[GATE_BASE] + line->lengthy[GATE_HEAD]) >
	       line->trials[GATE_BASE] + line->trials[GATE_HEAD];
}

/* Returns the average duration of its successful trials. */
static double seconds_of(const struct gate_case *line)
{
	size_t count = 0;
	uint64_t sum = 0;

	for (enum gate_side side = 0; side < GATE_SIDES; side++) {
		count += line->trials[side] - line->failures[side];
		sum += line->took_ns[side];
	}
	return count ? (double)sum / (double)count / (double)NS_PER_S : 0;
}

/* The longer a trial, the more disturbances of the machine affect only one side. */
static void note_lengthy(struct gate_record *gate)
{
	const struct gate_case *most = NULL;
	size_t count = 0;

	for (size_t i = 0; i < gate->n_cases; i++) {
		const struct gate_case *line = &gate->cases[i];

		if (!is_lengthy(line))
			continue;
		count++;
		if (!most || seconds_of(line) > seconds_of(most))
			most = line;
	}
	if (most)
		gate_note(
			gate,
			"trials of %zu of %zu cases mostly took longer than %.1f s, including process "
			"overhead (%.120s: %.2f s); a shorter -D or --warmup, or smaller sizes, would "
			"make the sides more comparable",
			count, gate->n_cases, (double)TALLY_LONG_NS / (double)NS_PER_S, most->id,
			seconds_of(most));
}

/* A few failures decide nothing, but are worth reporting. */
static void note_failing(struct gate_record *gate)
{
	const char *such;
	size_t count = count_cases(gate, is_failing, &such);
	size_t failures[GATE_SIDES] = {0};

	for (size_t i = 0; i < gate->n_cases; i++)
		for (enum gate_side side = 0; side < GATE_SIDES; side++)
			failures[side] += gate->cases[i].failures[side];
	if (count)
		gate_note(gate,
			  "in %zu of %zu cases (e.g. %s) trials failed: %zu of the base and %zu "
			  "of the head; the document has the reasons",
			  count, gate->n_cases, such, failures[GATE_BASE], failures[GATE_HEAD]);
}

static void note_more(struct gate_record *gate)
{
	size_t count = gate_spare(gate, false) + gate_spare(gate, true);

	if (count)
		gate_note(gate, "%zu pair%s of runs added for %s in which a trial failed", count,
			  count == 1 ? "" : "s", count == 1 ? "one" : "those");
}

static void note_trials(struct gate_record *gate)
{
	note_unsteady(gate);
	note_troubled(gate);
	note_failing(gate);
	note_more(gate);
	note_lengthy(gate);
}

static bool has_failed(const struct gate_record *gate)
{
	for (size_t i = 0; i < gate->n_cells; i++)
		if (gate->cells[i].has_failed)
			return true;
	return false;
}

/* Returns the part of the time limit for everything but confirming. */
static uint64_t first_ns(const struct gate_settings *settings)
{
	return settings->limit_ms * NS_PER_MS / 3 * 2;
}

/* Too few pairs to confirm a regression must not count as a pass. */
static void check_time_again(struct gate_record *gate, size_t due)
{
	if (gate->n_again < JUDGE_ROUNDS_LEAST)
		snprintf(
			gate->invalid, sizeof(gate->invalid),
			"the time limit was reached after %zu pairs of runs to confirm regressions, but "
			"a verdict needs %d: use fewer cases, or a longer --time-limit",
			gate->n_again, JUDGE_ROUNDS_LEAST);
	else if (gate->n_again < due)
		gate_note(gate,
			  "the time limit was reached after %zu of %zu pairs of runs to confirm "
			  "regressions",
			  gate->n_again, due);
}

static int measure_again(struct rounds *rounds, const struct gate_settings *settings,
			 struct error *error)
{
	struct gate_record *gate = rounds->gate;
	size_t due = gate_again_due(gate);
	struct error fault = {0};

	gate->more_again = due - gate->asked;
	if (settings->limit_ms)
		rounds->until_ns += settings->limit_ms * NS_PER_MS - first_ns(settings);
	if (rounds_run(rounds, due, true, &fault))
		put_invalid(gate, &fault);
	else
		check_time_again(gate, due);
	return gate_confirm(gate, error);
}

static bool is_undecided(const struct rounds *rounds)
{
	return gate_count_unclear(rounds->gate) && !rounds->gate->invalid[0] &&
	       !rounds_are_over(rounds);
}

/* Doubles the pairs of runs of unclear cases until they are decided, or the time is up. */
static int go_on(struct rounds *rounds, const struct gate_settings *settings, struct error *error)
{
	struct gate_record *gate = rounds->gate;
	size_t looks = settings->limit_ms ? LOOKS_MOST : LOOKS_WITHOUT_LIMIT;
	size_t unclear = gate_count_unclear(gate);
	size_t before = gate->n_rounds;
	struct error fault = {0};
	int code = 0;

	for (size_t look = 1; look < looks && is_undecided(rounds) && !code; look++) {
		gate->more_first += gate->n_rounds;
		if (rounds_run(rounds, gate->n_rounds, false, &fault))
			put_invalid(gate, &fault);
		code = gate_judge(gate, error);
	}
	if (gate->n_rounds > before)
		gate_note(gate,
			  "%zu pairs of runs left %zu figure%s unclear; added %zu pairs for %s",
			  before, unclear, unclear == 1 ? "" : "s", gate->n_rounds - before,
			  unclear == 1 ? "it" : "them");
	return code;
}

static int measure(struct rounds *rounds, const struct gate_settings *settings, struct error *error)
{
	struct gate_record *gate = rounds->gate;
	struct error fault = {0};
	int code = rounds_open(rounds, &fault);

	if (!code)
		code = rounds_run(rounds, settings->rounds, false, &fault);
	if (code == -ENOMEM)
		return error_set(error, code, "%s", fault.text);
	if (code)
		put_invalid(gate, &fault);
	check_time(settings, gate);
	if (!gate->n_rounds)
		return 0;
	code = gate_judge(gate, error);
	if (!code && !gate->n_cells && !gate->invalid[0])
		snprintf(gate->invalid, sizeof(gate->invalid),
			 "--floor leaves no figure of any case to gate");
	if (!code)
		code = go_on(rounds, settings, error);
	if (!code && !gate->invalid[0] && has_failed(gate))
		code = measure_again(rounds, settings, error);
	note_trials(gate);
	rounds_finish(rounds);
	return code;
}

static json_t *make_plan(const struct one_case_plan_list *singles)
{
	json_t *plan = json_array();

	for (size_t i = 0; i < singles->count; i++)
		json_array_append(plan, singles->singles[i].product);
	return plan;
}

int gate_run(const struct gate_settings *settings, const struct plan *plan,
	     struct gate_record *gate, struct error *error)
{
	struct rounds rounds = {
		.gate = gate,
		.measure_ns = MEASURE_NS,
		.warmup_ns = WARMUP_NS,
		.until_ns = settings->limit_ms ? clock_now_ns() + first_ns(settings) : 0,
		.stop = settings->stop,
		.forgiven = settings->differs.sections,
		.view = settings->view,
	};
	char skipped[ONE_CASE_PLAN_TEXT];
	int code = one_case_plan_open(&rounds.singles, plan, error);

	gate->seed = settings->seed;
	gate->asked = settings->rounds;
	memcpy(gate->floors, settings->floors, sizeof(gate->floors));
	utc_stamp(gate->started);
	if (!code)
		code = open_sides(&rounds, settings, error);
	if (!code) {
		if (one_case_plan_skipped(&rounds.singles, skipped))
			gate_note(gate, "%s", skipped);
		gate->plan = make_plan(&rounds.singles);
		code = measure(&rounds, settings, error);
	}
	utc_stamp(gate->finished);
	rounds_close(&rounds);
	return code;
}
