/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/cli/progress.h"
#include "bench/cli/signals.h"
#include "bench/cli/soft_device.h"
#include "bench/cli/utc.h"
#include "bench/cli/value.h"
#include "bench/cmd/command.h"
#include "bench/gate/gate.h"
#include "bench/gate/noisy_process.h"
#include "core/base/clock.h"
#include "reports/gate/calibration.h"
#include "reports/io/save.h"

/* Of the link that is made slower: far above what a processor adds to it. */
#define LATENCY_NS   50000
#define BITS_PER_S   1e9
#define PERCENT_MAX  1000
#define OUTLIER      900 /* per cent: ten times as slow */
#define RECORDS_MOST CALIBRATION_DOSES_MOST

/* As what a dose may be there, each once. */
static const struct calibration_dose kinds[] = {{0}, {.is_noisy = true}, {.has_outlier = true}};

struct doses {
	double percent[CALIBRATION_DOSES_MOST / ARRAY_LENGTH(kinds)];
	size_t count;
};

/* Files of what was recorded. */
struct records {
	const char *paths[RECORDS_MOST];
	size_t count;
};

struct settings {
	struct plan plan; /* first: its options are parsed into it */
	struct gate_settings gating;
	struct doses doses;
	size_t gates;
	bool is_noisy;
	bool has_outlier;
	const char *json;
	struct records records;
};

/* What is recorded, as it is shown. */
struct recording {
	struct rounds_view view;
	struct progress progress;
	struct calibration *calibration;
	const struct settings *settings;
	size_t n_before; /* rounds of other doses, */
	size_t n_due;    /* of this one, */
	size_t n_rounds; /* and of all */
	char dose[80];   /* under way */
};

static const char *parse_count(const char *text, void *field)
{
	uint64_t count;

	if (!value_count(text, 1, 10000, &count))
		return "is no number of gates: 1 to 10000";
	*(size_t *)field = count;
	return NULL;
}

static const char *parse_rounds(const char *text, void *field)
{
	uint64_t count;

	if (!value_count(text, JUDGE_ROUNDS_LEAST, 10000, &count))
		return "is no number of rounds: 12 to 10000";
	*(size_t *)field = count;
	return NULL;
}

static const char *parse_doses(const char *text, void *field)
{
	struct doses *doses = field;

	doses->count = 0;
	for (;;) {
		char *end;
		double percent = strtod(text, &end);

		if (end == text || (*end && *end != ',') || !(percent > -90) ||
		    !(percent <= PERCENT_MAX))
			return "is no list of per cent, such as 0,2,5,10,20,40 or -20";
		if (doses->count == ARRAY_LENGTH(doses->percent))
			return "has too many doses";
		doses->percent[doses->count++] = percent;
		if (!*end)
			return NULL;
		text = end + 1;
	}
}

static const char *parse_record(const char *text, void *field)
{
	struct records *records = field;

	if (!*text)
		return "is empty";
	if (records->count == ARRAY_LENGTH(records->paths))
		return "is one record too many";
	records->paths[records->count++] = text;
	return NULL;
}

#define FIELD(member) offsetof(struct settings, member)

// clang-format off
static const struct option_row rows[] = {
	{"doses",         0,   "LIST", parse_doses,  FIELD(doses),
	 "by how many per cent the head is to be worse (0,2,5,10,20,40,-20)"},
	{"gates",         0,   "N",    parse_count,  FIELD(gates), "gates of each dose, about (20)"},
	{"rounds",        0,   "N",    parse_rounds, FIELD(gating.rounds), "of a gate (60)"},
	{"noisy",         0,   NULL,   option_flag,  FIELD(is_noisy),
	 "doses of 0 a second time beside a neighbour that comes and goes"},
	{"outlier",       0,   NULL,   option_flag,  FIELD(has_outlier),
	 "doses of 0 once more, one run of each gate ten times as slow"},
	{"base",          0,   "ARM",  option_text,  FIELD(gating.arms[GATE_BASE].what),
	 "record this, as gate does, and plant nothing"},
	{"head",          0,   "ARM",  option_text,  FIELD(gating.arms[GATE_HEAD].what),
	 "and this, which is worse by the dose of --doses"},
	{"floor",         0,   "LIST", gate_parse_floors, FIELD(gating.floors), "as that of gate"},
	{"order-seed",    0,   "N",    gate_parse_seed, FIELD(gating.seed),
	 "of the order of arms and cases (another one each time)"},
	{"json",          0,   "FILE", option_text,  FIELD(json), "where all that is recorded goes"},
	{"replay",        0,   "FILE", parse_record, FIELD(records),
	 "judge what was recorded there, and measure nothing; several add up"},
	{"device",        'd', "NAME", option_text,  FIELD(gating.device), "RDMA device of both arms"},
	{"preset",        0,   "NAME", option_text,  FIELD(plan.preset), "the cases of one (gate)"},
	{"plan",          0,   "FILE", option_text,  FIELD(plan.file), "the same from a file"},
	{"quiet",         0,   NULL,   option_flag,  FIELD(plan.is_quiet), "no progress on a terminal"},
	{"progress",      0,   NULL,   option_flag,  FIELD(plan.with_progress),
	 "progress, terminal or not"},
};
// clang-format on

static const struct option_table options = {
	.rows = rows,
	.count = ARRAY_LENGTH(rows),
	.operand = "[HOST]",
	.operand_offset = FIELD(plan.host),
	.next = &plan_case_options,
	.hides = gate_refuses,
	.says = gate_says,
};

static int write_json(FILE *out, const void *what)
{
	int code = save_json(out, calibration_make(what, VERBMARK_VERSION), JSON_COMPACT);

	return code ? code : save_finish(out);
}

static int save(const struct recording *recording, struct error *error)
{
	const char *path = recording->settings->json;
	struct error fault = {0};

	errno = 0;
	if (calibration_judge(recording->calibration, &fault) ||
	    (path && save_path(path, write_json, recording->calibration, &fault)))
		return error_set(error, fault.code, "%s", fault.text);
	return 0;
}

/* A machine may go without a word, hours later. What cannot be written now is told at the end. */
static void save_meanwhile(const struct recording *recording, size_t number)
{
	const struct settings *settings = recording->settings;
	struct error fault = {0};

	if (number && number % settings->gating.rounds == 0 && settings->json &&
	    save_replaces(settings->json))
		save(recording, &fault);
}

static void round_begins(struct rounds_view *view, size_t number, size_t count)
{
	struct recording *recording = CONTAINER_OF(view, struct recording, view);
	size_t done = recording->n_before + number;

	save_meanwhile(recording, number);
	/* There are more, once some have failed. */
	recording->n_rounds += count - recording->n_due;
	recording->n_due = count;
	/* Time is left as rounds are. */
	recording->progress.estimate_ns = recording->n_rounds * NS_PER_S;
	progress_show(&recording->progress, done + 1, recording->n_rounds, recording->dose,
		      done * NS_PER_S);
}

/* This program on a link: worse by so many per cent in its latency and in its rate. */
static int make_arm(char text[static PATH_MAX], double percent, struct error *error)
{
	char path[PATH_MAX / 2];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	double factor = 1 + percent / 100;

	if (length <= 0)
		return error_set_errno(error, -errno, "cannot find this program");
	path[length] = '\0';
	if (strpbrk(path, " \t"))
		return error_set(error, -EINVAL, "the path of this program has blanks: %.128s",
				 path);
	snprintf(text, PATH_MAX, "env VERBMARK_SOFT=latency=%.0fns,bandwidth=%.0fbit %s",
		 LATENCY_NS * factor, BITS_PER_S / factor, path);
	return 0;
}

/* The least of the floors that there are. */
static double floor_of(const struct settings *settings)
{
	double least = HUGE_VAL;

	for (enum gate_figure figure = 0; figure < GATE_FIGURES; figure++)
		least = fmin(least, settings->gating.floors[figure]);
	return least;
}

/* A gate that fails has twice the rounds; the last one may be such a one. */
static size_t rounds_of(const struct settings *settings, double percent)
{
	bool is_found = percent >= 100 * floor_of(settings);

	return settings->gating.rounds * (settings->gates * (is_found ? 2 : 1) + !is_found);
}

static void begin_dose(struct recording *recording, const struct calibration_dose *dose)
{
	const struct calibration *calibration = recording->calibration;
	char name[64];

	recording->n_before = 0;
	for (size_t i = 0; i + 1 < calibration->n_doses; i++)
		recording->n_before += calibration->doses[i].gate.n_rounds;
	recording->n_due = rounds_of(recording->settings, dose->percent);
	calibration_tell_dose(name, dose);
	snprintf(recording->dose, sizeof(recording->dose), "rounds, %s", name);
}

static int record(struct recording *recording, struct calibration_dose *dose, struct error *error)
{
	struct gate_settings gating = recording->settings->gating;
	char words[GATE_SIDES][PATH_MAX];
	char outlier[PATH_MAX];
	pid_t neighbour = 0;
	int code = 0;

	for (enum gate_side arm = 0; arm < GATE_SIDES && !code; arm++) {
		if (gating.arms[arm].what)
			continue;
		code = make_arm(words[arm], arm == GATE_HEAD ? dose->percent : 0, error);
		gating.arms[arm].what = words[arm];
	}
	if (!code && dose->has_outlier) {
		code = make_arm(outlier, OUTLIER, error);
		gating.outlier = outlier;
		gating.outlier_every = recording->settings->gating.rounds;
	}
	if (!code && dose->is_noisy) {
		neighbour = noisy_process_start(error);
		code = neighbour < 0 ? (int)neighbour : 0;
	}
	begin_dose(recording, dose);
	gating.rounds = recording->n_due;
	gating.view = &recording->view;
	gating.seed += recording->calibration->n_doses - 1;
	if (!code)
		code = gate_write(&gating, &recording->settings->plan, &dose->gate, error);
	noisy_process_stop(neighbour);
	progress_wipe(&recording->progress);
	return code;
}

static int add_dose(struct recording *recording, const struct calibration_dose *wanted,
		    struct error *error)
{
	struct calibration *calibration = recording->calibration;
	struct calibration_dose *dose = &calibration->doses[calibration->n_doses++];
	int code;

	*dose = *wanted;
	code = record(recording, dose, error);
	utc_stamp(calibration->finished);
	return code;
}

/* A dose of 0 may be there with what is to make no difference, too. */
static bool is_wanted(const struct settings *settings, const struct calibration_dose *kind,
		      double percent)
{
	if (kind->is_noisy)
		return settings->is_noisy && percent == 0;
	if (kind->has_outlier)
		return settings->has_outlier && percent == 0;
	return true;
}

static void count_rounds(struct recording *recording)
{
	const struct settings *settings = recording->settings;
	const struct doses *doses = &settings->doses;

	for (size_t i = 0; i < doses->count; i++)
		for (size_t j = 0; j < ARRAY_LENGTH(kinds); j++)
			if (is_wanted(settings, &kinds[j], doses->percent[i]))
				recording->n_rounds += rounds_of(settings, doses->percent[i]);
}

/* What there is, however it has ended; without a round it is no reason to lose what was there. */
static bool is_worth_saving(const struct calibration *calibration, const char *path)
{
	for (size_t i = 0; i < calibration->n_doses; i++)
		if (calibration->doses[i].gate.n_rounds)
			return true;
	return path && (!save_replaces(path) || access(path, F_OK) != 0);
}

/* One, and all that it is to be there with. */
static int add_doses(struct recording *recording, double percent, struct error *error)
{
	const struct settings *settings = recording->settings;
	int code = 0;

	for (size_t i = 0; i < ARRAY_LENGTH(kinds) && !code; i++) {
		struct calibration_dose dose = kinds[i];

		if (!is_wanted(settings, &kinds[i], percent))
			continue;
		dose.percent = percent;
		code = add_dose(recording, &dose, error);
		if (!code && settings->json && save_replaces(settings->json))
			code = save(recording, error);
	}
	return code;
}

static int record_all(struct recording *recording, struct error *error)
{
	const struct doses *doses = &recording->settings->doses;
	const char *path = recording->settings->json;
	int code = 0;

	count_rounds(recording);
	for (size_t i = 0; i < doses->count && !code; i++)
		code = add_doses(recording, doses->percent[i], error);
	if (is_worth_saving(recording->calibration, path) && save(recording, error))
		return error->code;
	return code;
}

static int open_files(const struct settings *settings, struct interrupt *interrupt,
		      struct error *error)
{
	int code = settings->json ? save_check(settings->json, error) : 0;

	return code ? code : interrupt_open(interrupt, error);
}

static int measure(struct settings *settings, struct error *error)
{
	struct calibration calibration = {.rounds = settings->gating.rounds};
	struct recording recording = {.view = {.begins = round_begins},
				      .calibration = &calibration,
				      .settings = settings};
	bool has_stdout = settings->json && save_is_stdout(settings->json);
	struct interrupt interrupt;
	int code;

	if (open_files(settings, &interrupt, error))
		return COMMAND_FAILED;
	snprintf(calibration.plant, sizeof(calibration.plant), "%s",
		 settings->gating.arms[GATE_BASE].what ? "arms of their own" : "the link of soft0");
	utc_stamp(calibration.started);
	settings->gating.stop = interrupt.fd;
	progress_init(&recording.progress, stderr, settings->plan.with_progress,
		      settings->plan.is_quiet, 0);
	code = record_all(&recording, error);
	interrupt_close(&interrupt);
	if (code != -ENOMEM && calibration.doses[0].gate.n_rounds)
		calibration_table(has_stdout ? stderr : stdout, &calibration);
	calibration_close(&calibration);
	if (code == -EINVAL || code == -E2BIG)
		return COMMAND_USAGE;
	return code ? COMMAND_FAILED : COMMAND_GOOD;
}

static int replay(const struct settings *settings, struct error *error)
{
	struct calibration calibration = {0};
	int code = 0;

	for (size_t i = 0; i < settings->records.count && !code; i++)
		code = calibration_load(&calibration, settings->records.paths[i], error);
	if (!code)
		code = calibration_judge(&calibration, error);
	if (!code)
		calibration_table(stdout, &calibration);
	calibration_close(&calibration);
	return code ? COMMAND_FAILED : COMMAND_GOOD;
}

static bool has_zero(const struct doses *doses)
{
	for (size_t i = 0; i < doses->count; i++)
		if (doses->percent[i] == 0)
			return true;
	return false;
}

static bool has_floors(const struct gate_settings *gating)
{
	static const struct gate_settings defaults = GATE_DEFAULTS;

	for (enum gate_figure figure = 0; figure < GATE_FIGURES; figure++)
		if (!(gating->floors[figure] == defaults.floors[figure]))
			return true;
	return false;
}

/* What was recorded tells all the rest. */
static int check_replay(const struct settings *settings, struct error *error)
{
	const struct gate_settings *gating = &settings->gating;
	const struct {
		const char *name;
		bool is_given;
	} others[] = {
		{"json",       settings->json != NULL              },
		{"doses",      settings->doses.count               },
		{"gates",      settings->gates != 0                },
		{"rounds",     gating->rounds != 0                 },
		{"noisy",      settings->is_noisy                  },
		{"outlier",    settings->has_outlier               },
		{"base",       gating->arms[GATE_BASE].what != NULL},
		{"head",       gating->arms[GATE_HEAD].what != NULL},
		{"floor",      has_floors(gating)                  },
		{"order-seed", gating->seed != 0                   },
		{"device",     gating->device != NULL              },
		{"preset",     settings->plan.preset != NULL       },
		{"plan",       settings->plan.file != NULL         },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(others); i++)
		if (others[i].is_given)
			return error_set(error, -EINVAL, "--replay and --%s exclude each other",
					 others[i].name);
	for (size_t i = 0; i < PARAMETERS; i++)
		if (settings->plan.asked.lists[i].count)
			return error_set(error, -EINVAL, "--replay and --%s exclude each other",
					 parameter_table[i].option.name);
	return settings->plan.host
		       ? error_set(error, -EINVAL, "--replay and a host exclude each other")
		       : 0;
}

static void choose(struct settings *settings)
{
	static const struct doses doses = {
		{0, 2, 5, 10, 20, 40, -20},
                7
        };
	static const struct gate_settings gating = GATE_DEFAULTS;

	if (!settings->doses.count)
		settings->doses = doses;
	if (!settings->gates)
		settings->gates = 20;
	if (!settings->gating.rounds)
		settings->gating.rounds = gating.rounds;
	if (!settings->gating.seed)
		settings->gating.seed = gate_draw_seed();
}

static int cmd_gate_check_check(const struct settings *settings, struct error *error)
{
	const struct gate_arm *arms = settings->gating.arms;
	const char *device = settings->gating.device;

	if (settings->is_noisy && !has_zero(&settings->doses))
		return error_set(error, -EINVAL,
				 "--noisy is for doses of 0, and there is none: --doses 0,10, say");
	if (settings->has_outlier && !has_zero(&settings->doses))
		return error_set(
			error, -EINVAL,
			"--outlier is for doses of 0, and there is none: --doses 0,10, say");
	if (settings->has_outlier && arms[GATE_BASE].what)
		return error_set(
			error, -EINVAL,
			"--outlier is planted in the link of soft0: not with --base and --head");
	if (!arms[GATE_BASE].what != !arms[GATE_HEAD].what)
		return error_set(error, -EINVAL, "--base and --head go together");
	if (arms[GATE_BASE].what)
		return settings->doses.count == 1
			       ? 0
			       : error_set(error, -EINVAL,
					   "--base and --head are one dose: --doses 10, say");
	if (settings->plan.host || !device || strcmp(device, SOFT_DEVICE_NAME) != 0)
		return error_set(error, -EINVAL,
				 "doses are planted in the link of --device soft0; elsewhere give "
				 "--base and --head");
	return 0;
}

static int parse(struct settings *settings, int argc, char *argv[], struct error *error)
{
	int code = option_parse(&options, argc, argv, settings, error);

	settings->gating.host = settings->plan.host;
	if (!code && settings->records.count)
		return check_replay(settings, error);
	choose(settings);
	if (!code)
		code = cmd_gate_check_check(settings, error);
	if (!code)
		code = gate_check_plan(&settings->plan, error);
	return code;
}

static int cmd_gate_check_run(int argc, char *argv[], struct error *error)
{
	struct settings settings = {.gating = GATE_DEFAULTS};
	int status = COMMAND_USAGE;
	int code;

	settings.gating.rounds = 0;
	code = parse(&settings, argc, argv, error);
	if (code > 0) {
		command_help(&command_gate_check);
		status = COMMAND_GOOD;
	} else if (!code) {
		status = settings.records.count ? replay(&settings, error)
						: measure(&settings, error);
	}
	plan_close(&settings.plan);
	return status;
}

const struct command command_gate_check = {
	.name = "gate-check",
	.summary = "what that gate is worth: its false alarms, and what it finds",
	.options = &options,
	.run = cmd_gate_check_run,
};
