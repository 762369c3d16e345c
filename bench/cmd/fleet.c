/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/cli/progress.h"
#include "bench/cli/signals.h"
#include "bench/cli/tty.h"
#include "bench/cli/utc.h"
#include "bench/cli/value.h"
#include "bench/cmd/command.h"
#include "bench/fleet/floors.h"
#include "bench/fleet/groups.h"
#include "bench/fleet/rank.h"
#include "bench/fleet/simulate.h"
#include "bench/host/soft_device.h"
#include "core/base/clock.h"
#include "reports/fleet/csv.h"
#include "reports/fleet/document.h"
#include "reports/fleet/hostlist.h"
#include "reports/fleet/junit.h"
#include "reports/fleet/table.h"
#include "reports/io/json_make.h"
#include "reports/io/save.h"

/* How often progress is printed where it cannot replace itself. */
#define PROGRESS_NS (10 * NS_PER_S)
/* The highest rank that says when rank 0 is gone. */
#define SPEAKERS 8

enum {
	OUTPUT_JSON,
	OUTPUT_CSV,
	OUTPUT_JUNIT,
	OUTPUT_BAD_NODES,
	OUTPUTS,
};

struct settings {
	struct plan plan; /* must be first: its options are parsed into it */
	struct rank_settings ranks;
	struct floors floors;
	const char *groups;
	const char *paths[OUTPUTS]; /* NULL: not requested */
	bool is_quick;
	bool is_self;
	const char *device; /* soft0, if --devices names it */
	uint32_t n_simulated;
	uint32_t simulated_rails;
	struct plants plants;
};

static const char *const output_options[OUTPUTS] = {"--json", "--csv", "--junit", "--bad-nodes"};

static const char *parse_rounds(const char *text, void *field)
{
	uint64_t count;

	if (!value_count(text, 1, UINT32_MAX, &count))
		return "is not a number of rounds";
	*(uint32_t *)field = (uint32_t)count;
	return NULL;
}

static const char *parse_nodes(const char *text, void *field)
{
	uint64_t count;

	if (!value_count(text, 1, 100000, &count))
		return "is not a number from 1 to 100000";
	*(uint32_t *)field = (uint32_t)count;
	return NULL;
}

static const char *parse_seed(const char *text, void *field)
{
	return value_count(text, 0, UINT64_MAX, field) ? NULL : "is not a number";
}

#define FIELD(member) offsetof(struct settings, member)
#define FLAG(member)  NULL, option_flag, FIELD(member)

// clang-format off
static const struct option_row rows[] = {
	{"devices", 'd', "LIST", option_text, FIELD(ranks.rails.devices),
	 "use only these devices, as NAME or NAME/PORT; soft0 is the software device (all that are "
	 "active)",
	 .group = OPTION_WHERE},
	{"exclude", 0, "LIST", option_text, FIELD(ranks.rails.exclude),
	 "do not use these devices",
	 .group = OPTION_WHERE},
	{"pattern", 0, "NAME", schedule_parse_pattern, FIELD(ranks.schedule.pattern),
	 "which nodes are measured with which (pairs)",
	 .group = OPTION_WHAT, .values = OPTION_VALUES(schedule_patterns)},
	{"rails", 0, "MODE", schedule_parse_mode, FIELD(ranks.schedule.mode),
	 "which rails of two nodes are measured: same, one or cross (same)",
	 .group = OPTION_WHAT, .values = OPTION_VALUES(schedule_modes)},
	{"sample", 0, "SHARE", schedule_parse_share, FIELD(ranks.schedule.share),
	 "measure only this share of the rounds, for example 20% (all)",
	 .group = OPTION_WHAT},
	{"rounds", 0, "N", parse_rounds, FIELD(ranks.schedule.rounds),
	 "measure only this number of rounds (all)",
	 .group = OPTION_WHAT},
	{"seed", 0, "N", parse_seed, FIELD(ranks.schedule.seed),
	 "chooses the rounds of --sample and --rounds (0)",
	 .group = OPTION_WHAT, .is_rare = true},
	{"self", 0, FLAG(is_self),
	 "measure only between the rails of each node (same as --pattern self)",
	 .group = OPTION_WHAT},
	{"quick", 0, FLAG(is_quick),
	 "measure each case for 50 ms, once",
	 .group = OPTION_HOW},
	{"no-sync", 0, FLAG(ranks.is_loose),
	 "do not begin rounds together on all nodes",
	 .group = OPTION_HOW},
	{"time-limit", 0, "TIME", option_duration, FIELD(ranks.timeout_ms),
	 "time limit for measuring a pair (twice the estimate, and 10s)",
	 .group = OPTION_HOW, .is_rare = true},
	{"join", 0, "TIME", option_duration, FIELD(ranks.join_ms),
	 "time limit for all ranks to start (60s)",
	 .group = OPTION_HOW, .is_rare = true},
	{"dry-run", 0, FLAG(plan.is_dry),
	 "print the cases without measuring them",
	 .group = OPTION_HOW},
	{"floor", 0, "LIMIT", floors_parse, FIELD(floors),
	 "figures beyond it are bad: 90%line, 350Gb/s, 5us or off (90%line on hardware)",
	 .group = OPTION_HOW, .may_repeat = true},
	{"groups", 0, "FILE", option_text, FIELD(groups),
	 "groups of nodes, such as leaf switches: lines of NODE GROUP (from Slurm's topology)",
	 .group = OPTION_HOW},
	{"json", 0, "FILE", option_text, FIELD(paths[OUTPUT_JSON]),
	 "write all figures to FILE, for 'verbmark report' and 'compare'; - is standard output",
	 .group = OPTION_OUTPUT},
	{"histograms", 0, FLAG(ranks.with_histograms),
	 "include the full histogram of each figure in --json",
	 .group = OPTION_OUTPUT},
	{"csv", 0, "FILE", option_text, FIELD(paths[OUTPUT_CSV]),
	 "write a line per pair, case and direction to FILE",
	 .group = OPTION_OUTPUT},
	{"junit", 0, "FILE", option_text, FIELD(paths[OUTPUT_JUNIT]),
	 "write JUnit XML to FILE",
	 .group = OPTION_OUTPUT},
	{"bad-nodes", 0, "FILE", option_text, FIELD(paths[OUTPUT_BAD_NODES]),
	 "write the bad nodes to FILE, as a host list of Slurm: n[003,017-018]",
	 .group = OPTION_OUTPUT},
	{"quiet", 0, FLAG(plan.is_quiet),
	 "do not show progress",
	 .group = OPTION_OUTPUT, .is_rare = true},
	{"progress", 0, FLAG(plan.with_progress),
	 "show progress even if standard error is not a terminal",
	 .group = OPTION_OUTPUT, .is_rare = true},
	{"simulate", 0, "N", parse_nodes, FIELD(n_simulated),
	 "measure nothing: invent the figures of N nodes, to see how faults are found",
	 .group = OPTION_HOW, .is_rare = true},
	{"simulate-rails", 0, "N", parse_nodes, FIELD(simulated_rails),
	 "rails of each simulated node (1)",
	 .group = OPTION_HOW, .is_rare = true},
	{"plant", 0, "LIST", plants_parse, FIELD(plants),
	 "faults of the simulation, for example slow-node:17x0.85,dead-rail:3/1,slow-link:5-9",
	 .group = OPTION_HOW, .is_rare = true},
	TTY_COLOR_ROW(FIELD(plan.color), true),
};
// clang-format on

static const struct option_table options = {
	.rows = rows,
	.count = ARRAY_LENGTH(rows),
	.next = &plan_case_options,
	.hides = plan_is_of_budget,
};

/* Shows rounds: on a terminal in one line, elsewhere in a line of its own now and then. */
struct screen {
	struct rank_view view;
	struct progress progress;
	bool is_quiet;
	uint64_t start_ns;
	uint64_t shown_ns;
};

static void round_begins(struct rank_view *view, const struct fleet *fleet, uint32_t round,
			 uint32_t n_rounds, size_t n_failed)
{
	struct screen *screen = CONTAINER_OF(view, struct screen, view);
	uint64_t now_ns = clock_now_ns();
	char what[64];
	const struct progress_step step = {
		.number = round + 1,
		.count = n_rounds,
		.unit = "rounds",
		.what = what,
		.done_ns = screen->progress.estimate_ns / n_rounds * round,
	};

	snprintf(what, sizeof(what), "%zu failed", n_failed);
	if (screen->progress.is_terminal || screen->progress.is_eager) {
		progress_show(&screen->progress, &step);
	} else if (!screen->is_quiet && round && now_ns - screen->shown_ns > PROGRESS_NS) {
		screen->shown_ns = now_ns;
		fprintf(stderr, "round %u of %u, %zu measurements failed, %.0f s left\n", round + 1,
			n_rounds, n_failed,
			(double)(now_ns - screen->start_ns) / (double)NS_PER_S / round *
				(n_rounds - round));
	}
}

static int check_paths(const struct settings *settings, struct error *error)
{
	for (size_t i = 0; i < OUTPUTS; i++)
		for (size_t j = 0; j < i; j++) {
			const char *first = settings->paths[j];
			const char *second = settings->paths[i];

			if (!first || !second || !save_is_same(first, second))
				continue;
			return error_set(error, -EINVAL, "%s and %s name the same file",
					 output_options[j], output_options[i]);
		}
	return 0;
}

static int open_paths(const struct settings *settings, struct error *error)
{
	int code = 0;

	for (size_t i = 0; i < OUTPUTS && !code; i++)
		if (settings->paths[i])
			code = save_check(settings->paths[i], error);
	if (!code && settings->groups && access(settings->groups, R_OK))
		code = error_set_errno(error, -errno, "cannot read --groups %s", settings->groups);
	return code;
}

/* Shortens the measurement, unless options say how long it is. */
static void quicken(struct plan *plan)
{
	static const struct {
		const char *name;
		const char *value;
	} quick[] = {
		{"duration", "50ms"},
                {"trials",   "1"   },
                {"warmup",   "10ms"}
        };

	for (size_t i = 0; i < ARRAY_LENGTH(quick); i++) {
		const struct parameter *parameter = parameter_find(quick[i].name);
		struct value_list *list = product_list(&plan->asked, parameter);

		if (!list->count)
			value_list_parse(list, parameter, quick[i].value);
	}
}

static int parse(struct settings *settings, int argc, char *argv[], struct error *error)
{
	int code = option_parse(&options, argc, argv, settings, error);

	if (!code)
		code = check_paths(settings, error);
	if (code)
		return code;
	if (settings->is_self)
		settings->ranks.schedule.pattern = SCHEDULE_SELF;
	if (settings->is_quick)
		quicken(&settings->plan);
	if (plan_refuse_budget(&settings->plan, "--trials", error))
		return error->code;
	if (settings->plants.count && !settings->n_simulated)
		return error_set(error, -EINVAL, "--plant needs --simulate");
	if (settings->ranks.with_histograms && settings->n_simulated)
		return error_set(
			error, -EINVAL,
			"--simulate measures nothing, so there is nothing for --histograms");
	if (settings->ranks.with_histograms && !settings->paths[OUTPUT_JSON])
		return error_set(error, -EINVAL, "--histograms needs --json FILE");
	return plan_finish(&settings->plan, "fleet", error);
}

/* Adds the cases of the plan to the fleet. */
static int add_cases(const struct plan *plan, struct fleet *fleet, struct error *error)
{
	fleet->cases = calloc(plan->n_cases, sizeof(*fleet->cases));
	if (!fleet->cases)
		return error_set_errno(error, -ENOMEM, "cannot store the cases");
	for (size_t i = 0; i < plan->n_cases; i++) {
		const struct plan_case *wanted = &plan->cases[i];
		struct fleet_case *made = &fleet->cases[fleet->n_cases++];

		snprintf(made->id, sizeof(made->id), "%s", wanted->id);
		made->is_latency = wanted->parameters.metric != METRIC_BW;
		made->is_both_ways = wanted->parameters.bidirectional;
		made->size = wanted->parameters.size;
		made->floor = (double)NAN;
	}
	return 0;
}

static int write_files(const struct settings *settings, const struct fleet *fleet,
		       struct error *error)
{
	static int (*const writers[OUTPUTS])(const struct fleet *, const char *, struct error *) = {
		fleet_document_write, fleet_csv_write, fleet_junit_write, fleet_bad_nodes_write};

	for (size_t i = 0; i < OUTPUTS; i++)
		if (settings->paths[i])
			writers[i](fleet, settings->paths[i], error);
	return error->code;
}

/* Writes the files first: the reader of standard output may exit at any time. */
static int conclude(const struct settings *settings, struct fleet *fleet, struct error *error)
{
	struct terminal terminal;
	bool has_stdout = false;

	for (size_t i = 0; i < OUTPUTS; i++)
		has_stdout =
			has_stdout || (settings->paths[i] && save_is_stdout(settings->paths[i]));
	utc_stamp(fleet->finished);
	write_files(settings, fleet, error);
	terminal = tty_find(has_stdout ? stderr : stdout, settings->plan.color);
	fleet_table(&terminal, NULL, fleet, error);
	if (error->code && !fleet->n_blames)
		return COMMAND_INVALID;
	return fleet_exit_status(fleet);
}

static void describe(struct fleet *fleet, const struct settings *settings, int argc, char *argv[])
{
	const struct schedule *schedule = &settings->ranks.schedule;

	fleet->version = VERBMARK_VERSION;
	fleet->command = json_pack("[s]", "verbmark");
	for (int i = 0; i < argc; i++)
		json_array_append_new(fleet->command, json_make_text(argv[i]));
	snprintf(fleet->pattern, sizeof(fleet->pattern), "%s",
		 schedule_patterns[schedule->pattern].name);
	snprintf(fleet->rails, sizeof(fleet->rails), "%s", schedule_modes[schedule->mode].name);
	utc_stamp(fleet->started);
}

/* Returns whether this process is to print what all ranks would print alike. */
static bool is_speaker(void)
{
	const char *slurm = getenv("SLURM_PROCID");
	const char *openmpi = getenv("OMPI_COMM_WORLD_RANK");

	return !(slurm && strcmp(slurm, "0") != 0) && !(openmpi && strcmp(openmpi, "0") != 0);
}

static int refuse_alone(struct error *error)
{
	bool is_slurm = getenv("SLURM_PROCID") != NULL;

	if (!is_speaker())
		return COMMAND_USAGE;
	error_set(error, -EINVAL,
		  "this job has one rank, and a fleet needs two%s: srun --mpi=pmix -N64 "
		  "--ntasks-per-node=1 verbmark fleet, or mpirun -np 64 --map-by node verbmark "
		  "fleet; --self checks one node",
		  is_slurm ? "; under Slurm, add --mpi=pmix" : "");
	return COMMAND_USAGE;
}

static size_t most_rails(const struct fleet *fleet)
{
	size_t most = 0;

	for (size_t i = 0; i < fleet->n_nodes; i++)
		if (fleet->nodes[i].n_rails > most)
			most = fleet->nodes[i].n_rails;
	return most;
}

/* Refuses a check whose document could not be read, before anything is measured. */
static int check_size(const struct settings *settings, size_t n_nodes, size_t n_rails,
		      size_t n_cases, struct error *error)
{
	struct schedule schedule = settings->ranks.schedule;
	struct fleet_size size;

	schedule.size = (uint32_t)n_nodes;
	size = (struct fleet_size){.n_nodes = n_nodes,
				   .n_cases = n_cases,
				   .n_pairs = schedule_pairs(&schedule, n_rails),
				   .has_histograms = settings->ranks.with_histograms};
	if (!settings->paths[OUTPUT_JSON] || !fleet_document_check(&size, error))
		return 0;
	error_wrap(error, "--json");
	return error_append(error, "use --sample, or --csv instead");
}

/* Runs the check as one rank. Only rank 0 prints. */
static int check(const struct settings *settings, struct rank *rank, struct fleet *fleet,
		 struct screen *screen, struct error *error)
{
	bool is_first = rank_job(rank)->rank == 0;
	int code;

	if (rank_job(rank)->size == 1 && settings->ranks.schedule.pattern != SCHEDULE_SELF)
		return refuse_alone(error);
	code = is_first ? open_paths(settings, error) : 0;
	if (code)
		rank_refuse(rank);
	else
		code = rank_join(rank, error);
	if (!code)
		code = check_size(settings, fleet->n_nodes, most_rails(fleet), fleet->n_cases,
				  error);
	if (!code && settings->groups && is_first)
		code = groups_read(fleet, settings->groups, error);
	floors_set(&settings->floors, fleet);
	progress_init(&screen->progress, stderr, settings->plan.with_progress,
		      settings->plan.is_quiet,
		      plan_estimate_ns(&settings->plan, settings->plan.n_cases) * fleet->n_rounds);
	if (!code)
		code = rank_measure(rank, error);
	progress_wipe(&screen->progress);
	if (!is_first) {
		/*
		 * Rank 0 knows what failed, and speaks for all. When it is gone, several do: the
		 * scheduler may end the others as soon as the first one ends.
		 */
		if (code != -EHOSTDOWN || rank_job(rank)->rank > SPEAKERS)
			*error = (struct error){0};
		return code == -EHOSTDOWN ? COMMAND_INVALID : COMMAND_GOOD;
	}
	return code ? COMMAND_INVALID : conclude(settings, fleet, error);
}

static int run_rank(struct settings *settings, struct fleet *fleet, struct error *error)
{
	struct screen screen = {.view = {.begins = round_begins},
				.is_quiet = settings->plan.is_quiet,
				.start_ns = clock_now_ns(),
				.shown_ns = clock_now_ns()};
	struct interrupt interrupt;
	struct rank *rank = NULL;
	int status = COMMAND_INVALID;
	int code;

	settings->ranks.plan = &settings->plan;
	settings->ranks.view = &screen.view;
	code = interrupt_open(&interrupt, error);
	if (code)
		return COMMAND_INVALID;
	code = rank_open(&rank, &settings->ranks, fleet, interrupt.fd, error);
	if (!code)
		status = check(settings, rank, fleet, &screen, error);
	fflush(stdout);
	rank_close(rank, status);
	interrupt_close(&interrupt);
	return status;
}

static uint32_t find_partner(const void *context, uint32_t round, uint32_t rank)
{
	struct schedule_meeting meetings[SCHEDULE_MEETINGS];

	return schedule_meetings(context, round, rank, meetings) ? meetings[0].peer : rank;
}

/* Invents the figures of a fleet, and judges them as if they had been measured. */
static int simulate(struct settings *settings, struct fleet *fleet, struct error *error)
{
	struct schedule *schedule = &settings->ranks.schedule;
	struct simulation simulation = {
		.n_nodes = settings->n_simulated,
		.n_rails = settings->simulated_rails ? settings->simulated_rails : 1,
		.partner = find_partner,
		.context = schedule,
		.seed = schedule->seed,
		.noise = 0.02,
		.floor = floors_share(&settings->floors, true),
		.plants = settings->plants,
	};

	schedule->size = settings->n_simulated;
	simulation.n_rounds = schedule_rounds(schedule);
	if (open_paths(settings, error) ||
	    check_size(settings, simulation.n_nodes, simulation.n_rails, SIMULATION_CASES, error))
		return COMMAND_INVALID;
	if (simulate_fleet(&simulation, fleet, error))
		return COMMAND_USAGE;
	fleet->is_simulated = true;
	return conclude(settings, fleet, error);
}

/* --devices soft0 loads the software device, which executes this program again. */
static int choose_device(struct settings *settings, struct error *error)
{
	const char *devices = settings->ranks.rails.devices;

	if (!devices || strcmp(devices, SOFT_DEVICE_NAME) != 0 || settings->n_simulated)
		return 0;
	settings->device = devices;
	return soft_device_choose(&settings->device, error);
}

static int cmd_fleet_run(int argc, char *argv[], const char **operands, struct error *error)
{
	struct settings settings = {.ranks.join_ms = 60000, .floors = FLOORS_DEFAULT};
	struct fleet fleet = {0};
	int status;
	int code = parse(&settings, argc, argv, error);

	if (code) {
		status = command_parsed(code);
		/* All ranks were given the same wrong options. */
		if (!is_speaker())
			*error = (struct error){0};
	} else if (settings.plan.is_dry) {
		if (is_speaker())
			plan_print(&settings.plan, stdout);
		status = COMMAND_GOOD;
	} else if (choose_device(&settings, error)) {
		status = COMMAND_FAILED;
	} else {
		describe(&fleet, &settings, argc, argv);
		if (settings.n_simulated)
			status = simulate(&settings, &fleet, error);
		else if (add_cases(&settings.plan, &fleet, error))
			status = COMMAND_FAILED;
		else
			status = run_rank(&settings, &fleet, error);
	}
	fleet_finish(&fleet);
	plan_close(&settings.plan);
	return status;
}

// clang-format off
const struct command command_fleet = {
	.name = "fleet",
	.group = COMMAND_MEASURE,
	.summary = "check every link of a cluster, under srun or mpirun",
	.about = "Measures between all nodes of a job, and names the bad link, adapter or node. Start one "
		 "process per node, by a scheduler that serves PMIx. See verbmark-fleet(1).",
	.examples = {
		{"srun --mpi=pmix -N64 --ntasks-per-node=1 verbmark fleet",
		 "check 64 nodes under Slurm"},
		{"mpirun -np 64 --map-by node verbmark fleet --sample 20% --json fleet.json",
		 "a fifth of all pairs, under Open MPI"},
	},
	.options = &options,
	.run = cmd_fleet_run,
};
// clang-format on
