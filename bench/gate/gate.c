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

/* Of a trial, where the plan tells none. */
#define MEASURE_NS (30 * NS_PER_MS)
#define WARMUP_NS  (20 * NS_PER_MS)
/* That JSON's readers have them all to the last digit. */
#define SEED_MOST (1ULL << 53)

static const char *parse_floor(const char *word, size_t length, double *floors)
{
	const char *sign = memchr(word, '=', length);

	for (enum bout_figure figure = 0; sign && figure < BOUT_FIGURES; figure++) {
		const char *name = bout_figure_name(figure);
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
			return "has a floor that is none: 1% to 1000%, or off";
		floors[figure] = value / 100;
		return NULL;
	}
	return "is no list such as p50=5%,bw=5%,p99=10%";
}

const char *gating_parse_floors(const char *text, void *field)
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
	for (enum bout_figure figure = 0; figure < BOUT_FIGURES; figure++)
		has_any = has_any || !isnan(floors[figure]);
	return wrong || has_any ? wrong : "leaves no figure";
}

/* Of facts, as documents have them. */
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

const char *gating_parse_differs(const char *text, void *field)
{
	struct gating_differs *differs = field;
	char *rest = differs->text;
	size_t count = 0;

	if (strlen(text) >= sizeof(differs->text))
		return "is too long";
	memcpy(differs->text, text, strlen(text) + 1);
	for (char *word = strsep(&rest, ","); word; word = strsep(&rest, ",")) {
		if (!is_section(word))
			return "is no list of facts, which are " SECTIONS;
		if (count == GATING_FACTS)
			return "has too many of them";
		differs->sections[count++] = word;
	}
	differs->sections[count] = NULL;
	return NULL;
}

const char *gating_parse_limit(const char *text, void *field)
{
	unsigned int limit_ms;

	if (!value_duration(text, &limit_ms) || !limit_ms)
		return "is no time such as 5m or 90s";
	*(unsigned int *)field = limit_ms;
	return NULL;
}

const char *gating_parse_seed(const char *text, void *field)
{
	return value_count(text, 1, SEED_MOST, field) ? NULL : "is no seed: 1 to 2^53";
}

uint64_t gating_draw_seed(void)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), 0) < 0)
		seed = clock_now_ns();
	return seed % SEED_MOST + 1;
}

/* Processes, connections and the control channel, beside what is measured. */
#define EXTRA_NS (60 * NS_PER_MS)

int gating_print(const struct gating *gating, const struct plan *plan, FILE *out,
		 struct error *error)
{
	struct single_list singles;
	int code = single_open(&singles, plan, error);
	double round_ns = 0;
	char skipped[SINGLE_TEXT];

	if (code)
		return code;
	for (size_t i = 0; i < singles.count; i++) {
		const struct single *single = &singles.singles[i];

		fprintf(out, "%s\n", single->id);
		round_ns += (double)(single->duration_ns ? single->duration_ns : MEASURE_NS);
		round_ns += (double)(single->warmup_ns ? single->warmup_ns : WARMUP_NS);
		round_ns += EXTRA_NS;
	}
	if (single_skipped(&singles, skipped))
		fprintf(out, "%s\n", skipped);
	fprintf(out, "%zu cases, %zu rounds of two arms, some %.0f s\n", singles.count,
		gating->rounds, 2 * (double)gating->rounds * round_ns / (double)NS_PER_S);
	single_close(&singles);
	return 0;
}

/* What says how often each case is run is the gate's own. */
static const char *const efforts[] = {"trials", "interleave", "needs"};

bool gating_refuses(const struct option_row *row)
{
	/* And loads, and patterns, are none of its cases. */
	static const char *const others[] = {"rate", "arrivals", "pattern"};
	bool found = false;

	for (size_t i = 0; i < ARRAY_LENGTH(efforts); i++)
		found = found || !strcmp(row->name, efforts[i]);
	for (size_t i = 0; i < ARRAY_LENGTH(others); i++)
		found = found || !strcmp(row->name, others[i]);
	return found;
}

const char *gating_says(const struct option_row *row)
{
	static const struct option_said others[] = {
		{"metric",     "lat, bw (lat)"						     },
		{"iterations", "messages of a trial, in the place of -D"                           },
		{"duration",   "measure for that long, each trial (30ms)"                          },
		{"warmup",     "warming up takes at most that long, each trial (30ms; LISTs: 20ms)"},
	};

	return option_said(others, ARRAY_LENGTH(others), row);
}

int gating_check_plan(struct plan *plan, struct error *error)
{
	for (size_t i = 0; i < ARRAY_LENGTH(efforts); i++)
		if (product_list(&plan->asked, parameter_find(efforts[i]))->count)
			return error_set(
				error, -EINVAL,
				"--%s: a gate runs each case once in every round: --rounds",
				efforts[i]);
	return plan_finish(plan, "gate", error);
}

static struct arm_options options_of(const struct gating *gating, const char *device)
{
	return (struct arm_options){
		.host = gating->host,
		.device = device ? device : gating->device,
		.server_device = gating->server_device,
		.secret_file = gating->secret_file,
		.port = gating->port,
	};
}

static int open_outlier(struct rounds *rounds, const struct gating *gating, struct error *error)
{
	const struct arm_options options = options_of(gating, NULL);

	if (!gating->outlier)
		return 0;
	rounds->outlier_every = gating->outlier_every;
	return arm_open(&rounds->outlier, gating->outlier, &options, error);
}

static int open_arms(struct rounds *rounds, const struct gating *gating, struct error *error)
{
	int code = open_outlier(rounds, gating, error);

	for (enum duel_arm arm = 0; arm < DUEL_ARMS && !code; arm++) {
		const struct gating_arm *wanted = &gating->arms[arm];
		const struct arm_options options = options_of(gating, wanted->device);

		code = arm_open(&rounds->arms[arm], wanted->what, &options, error);
		if (code)
			error_wrap(error, "--%s", duel_arm_name(arm));
		rounds->bout->arms[arm].words = strdup(wanted->what);
		if (!code && !rounds->bout->arms[arm].words)
			code = error_set_errno(error, -ENOMEM, "cannot keep the arms");
	}
	return code;
}

/* What ends a gate early makes it invalid, and is told in it. */
static void put_invalid(struct bout *bout, const struct error *fault)
{
	if (!bout->invalid[0])
		snprintf(bout->invalid, sizeof(bout->invalid), "%s", fault->text);
}

/* Too few rounds for a verdict are none, whatever they say. */
static void check_time(const struct gating *gating, struct bout *bout)
{
	if (bout->n_rounds >= gating->rounds || bout->invalid[0])
		return;
	if (bout->n_rounds < DUEL_ROUNDS_LEAST)
		snprintf(
			bout->invalid, sizeof(bout->invalid),
			"the time was over after %zu of %zu rounds, %d are the least: fewer cases, "
			"or a longer --time-limit",
			bout->n_rounds, gating->rounds, DUEL_ROUNDS_LEAST);
	else
		bout_note(bout, "the time was over after %zu of %zu rounds", bout->n_rounds,
			  gating->rounds);
}

static bool is_unsteady(const struct bout_case *line)
{
	return 2 * line->unsteady[DUEL_BASE] > line->trials[DUEL_BASE];
}

static bool is_troubled(const struct bout_case *line)
{
	return line->troubled[DUEL_BASE] + line->troubled[DUEL_HEAD] > 0;
}

static bool is_failing(const struct bout_case *line)
{
	return line->failures[DUEL_BASE] + line->failures[DUEL_HEAD] > 0;
}

/* such: the id of one of them. */
static size_t count_cases(const struct bout *bout, bool is_such(const struct bout_case *line),
			  const char **such)
{
	size_t count = 0;

	*such = NULL;
	for (size_t i = 0; i < bout->n_cases; i++) {
		if (!is_such(&bout->cases[i]))
			continue;
		*such = bout->cases[i].id;
		count++;
	}
	return count;
}

/*
 * Both arms measure in the same unrest, so that it is no fault of either; but where there is
 * less of it, less is found.
 */
static void note_unsteady(struct bout *bout)
{
	const char *such;
	size_t count = count_cases(bout, is_unsteady, &such);

	if (count)
		bout_note(
			bout,
			"%zu of %zu cases, such as %s, had mostly not become steady when they "
			"were measured: a longer --warmup, or less else on the machine, finds smaller differences",
			count, bout->n_cases, such);
}

static void note_troubled(struct bout *bout)
{
	const char *such;
	size_t count = count_cases(bout, is_troubled, &such);

	if (count)
		bout_note(bout,
			  "in %zu of %zu cases, such as %s, messages were lost and sent again: the "
			  "document tells in how many rounds of each arm",
			  count, bout->n_cases, such);
}

static bool is_lengthy(const struct bout_case *line)
{
	return 2 * (line->lengthy[DUEL_BASE] + line->lengthy[DUEL_HEAD]) >
	       line->trials[DUEL_BASE] + line->trials[DUEL_HEAD];
}

/* Of its trials with figures, on the average. */
static double seconds_of(const struct bout_case *line)
{
	size_t count = 0;
	uint64_t sum = 0;

	for (enum duel_arm arm = 0; arm < DUEL_ARMS; arm++) {
		count += line->trials[arm] - line->failures[arm];
		sum += line->took_ns[arm];
	}
	return count ? (double)sum / (double)count / (double)NS_PER_S : 0;
}

/* The longer a trial is, the more of what a machine does now and then is in one arm alone. */
static void note_lengthy(struct bout *bout)
{
	const struct bout_case *most = NULL;
	size_t count = 0;

	for (size_t i = 0; i < bout->n_cases; i++) {
		const struct bout_case *line = &bout->cases[i];

		if (!is_lengthy(line))
			continue;
		count++;
		if (!most || seconds_of(line) > seconds_of(most))
			most = line;
	}
	if (most)
		bout_note(
			bout,
			"trials of %zu of %zu cases mostly took longer than %.1f s, their share "
			"of the process included, those of %.120s %.2f s: a shorter -D or --warmup, "
			"or smaller sizes, leave less of what else happens to one arm alone",
			count, bout->n_cases, (double)TALLY_LONG_NS / (double)NS_PER_S, most->id,
			seconds_of(most));
}

/* Few of them decide nothing, and are to be known all the same. */
static void note_failing(struct bout *bout)
{
	const char *such;
	size_t count = count_cases(bout, is_failing, &such);
	size_t failures[DUEL_ARMS] = {0};

	for (size_t i = 0; i < bout->n_cases; i++)
		for (enum duel_arm arm = 0; arm < DUEL_ARMS; arm++)
			failures[arm] += bout->cases[i].failures[arm];
	if (count)
		bout_note(bout,
			  "in %zu of %zu cases, such as %s, trials failed: %zu of the base and %zu "
			  "of the head; the document tells why",
			  count, bout->n_cases, such, failures[DUEL_BASE], failures[DUEL_HEAD]);
}

static void note_more(struct bout *bout)
{
	size_t count = bout_more(bout, bout->n_rounds) + bout_more(bout, bout->n_again);

	if (count)
		bout_note(bout, "%zu round%s more than %zu, for %s in which a trial failed", count,
			  count == 1 ? "" : "s", bout->asked, count == 1 ? "one" : "those");
}

static void note_trials(struct bout *bout)
{
	note_unsteady(bout);
	note_troubled(bout);
	note_failing(bout);
	note_more(bout);
	note_lengthy(bout);
}

static bool has_failed(const struct bout *bout)
{
	for (size_t i = 0; i < bout->n_cells; i++)
		if (bout->cells[i].has_failed)
			return true;
	return false;
}

/* Of the time, what the rounds may take before anything is run again. */
static uint64_t first_ns(const struct gating *gating)
{
	return gating->limit_ms * NS_PER_MS / 3 * 2;
}

/* What was worse by too few rounds for a verdict is not to pass for that. */
static void check_time_again(const struct gating *gating, struct bout *bout)
{
	if (bout->n_again < DUEL_ROUNDS_LEAST)
		snprintf(bout->invalid, sizeof(bout->invalid),
			 "what was worse than the floor was to be run again, and the time was over "
			 "after %zu rounds of that, %d are the least: fewer cases, or a longer "
			 "--time-limit",
			 bout->n_again, DUEL_ROUNDS_LEAST);
	else if (bout->n_again < gating->rounds)
		bout_note(bout, "the time was over after %zu of %zu rounds, the second time",
			  bout->n_again, gating->rounds);
}

static int fight_again(struct rounds *rounds, const struct gating *gating, struct error *error)
{
	struct bout *bout = rounds->bout;
	struct error fault = {0};

	if (gating->limit_ms)
		rounds->until_ns += gating->limit_ms * NS_PER_MS - first_ns(gating);
	if (rounds_run(rounds, gating->rounds, true, &fault))
		put_invalid(bout, &fault);
	else
		check_time_again(gating, bout);
	return bout_confirm(bout, error);
}

static int fight(struct rounds *rounds, const struct gating *gating, struct error *error)
{
	struct bout *bout = rounds->bout;
	struct error fault = {0};
	int code = rounds_open(rounds, &fault);

	if (!code)
		code = rounds_run(rounds, gating->rounds, false, &fault);
	if (code == -ENOMEM)
		return error_set(error, code, "%s", fault.text);
	if (code)
		put_invalid(bout, &fault);
	check_time(gating, bout);
	if (!bout->n_rounds)
		return 0;
	code = bout_judge(bout, error);
	if (!code && !bout->n_cells && !bout->invalid[0])
		snprintf(bout->invalid, sizeof(bout->invalid),
			 "none of the cases has a figure that --floor leaves");
	if (!code && !bout->invalid[0] && has_failed(bout))
		code = fight_again(rounds, gating, error);
	note_trials(bout);
	rounds_finish(rounds);
	return code;
}

static json_t *make_plan(const struct single_list *singles)
{
	json_t *plan = json_array();

	for (size_t i = 0; i < singles->count; i++)
		json_array_append(plan, singles->singles[i].product);
	return plan;
}

/* What is run of a bout, from its arms and cases on. */
typedef int fighting(struct rounds *rounds, const struct gating *gating, struct error *error);

static int run(const struct gating *gating, const struct plan *plan, struct bout *bout,
	       fighting *how, struct error *error)
{
	struct rounds rounds = {
		.bout = bout,
		.measure_ns = MEASURE_NS,
		.warmup_ns = WARMUP_NS,
		.until_ns = gating->limit_ms ? clock_now_ns() + first_ns(gating) : 0,
		.stop = gating->stop,
		.forgiven = gating->differs.sections,
		.view = gating->view,
	};
	char skipped[SINGLE_TEXT];
	int code = single_open(&rounds.singles, plan, error);

	bout->seed = gating->seed;
	bout->asked = gating->rounds;
	memcpy(bout->floors, gating->floors, sizeof(bout->floors));
	utc_stamp(bout->started);
	if (!code)
		code = open_arms(&rounds, gating, error);
	if (!code) {
		if (single_skipped(&rounds.singles, skipped))
			bout_note(bout, "%s", skipped);
		bout->plan = make_plan(&rounds.singles);
		code = how(&rounds, gating, error);
	}
	utc_stamp(bout->finished);
	rounds_close(&rounds);
	return code;
}

int gating_run(const struct gating *gating, const struct plan *plan, struct bout *bout,
	       struct error *error)
{
	return run(gating, plan, bout, fight, error);
}

/* Whatever ends it is an error here, and the rounds before it stay. */
static int record(struct rounds *rounds, const struct gating *gating, struct error *error)
{
	int code = rounds_open(rounds, error);

	if (!code) {
		code = rounds_run(rounds, gating->rounds, false, error);
		note_trials(rounds->bout);
		rounds_finish(rounds);
	}
	return code;
}

int gating_record(const struct gating *gating, const struct plan *plan, struct bout *bout,
		  struct error *error)
{
	return run(gating, plan, bout, record, error);
}
