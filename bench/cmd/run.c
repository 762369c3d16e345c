/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bench/cli/progress.h"
#include "bench/cli/signals.h"
#include "bench/cli/tty.h"
#include "bench/cli/utc.h"
#include "bench/client/sweep.h"
#include "bench/cmd/command.h"
#include "bench/cmd/redact.h"
#include "bench/host/soft_device.h"
#include "reports/document/document.h"
#include "reports/io/json_make.h"
#include "reports/io/save.h"
#include "reports/table/table.h"

/* Ends the run when a signal arrives. */
struct interruption {
	struct watch watch;
	struct control *control;
};

static void interrupted(struct watch *watch)
{
	struct interruption *interruption = CONTAINER_OF(watch, struct interruption, watch);
	struct signalfd_siginfo info;

	if (read(watch->fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		control_fail(interruption->control, -EINTR, "interrupted");
}

static int interruption_open(struct interruption *interruption, struct error *error)
{
	int fd = interrupt_block(NULL, error);
	int code;

	if (fd < 0)
		return fd;
	interruption->watch = (struct watch){.fd = fd, .ready = interrupted};
	code = watch_add(&interruption->watch, error);
	if (code)
		close(fd);
	return code;
}

/* Leaves the signals blocked until the result is saved. */
static void interruption_close(struct interruption *interruption)
{
	watch_remove(&interruption->watch);
	close(interruption->watch.fd);
}

/* The output of a run: the table, and the document, which is saved repeatedly. */
struct screen {
	struct sweep_view view;
	const struct plan *plan;
	const char *path; /* of the document; NULL: it is not saved */
	char *chosen;     /* default path until the file is created; NULL: the user chose one */
	FILE *out;
	struct table table; /* opened when the first case ends */
	struct progress progress;
	uint64_t saved_ns;     /* when the document was last saved */
	uint64_t save_cost_ns; /* how long that took */
	struct error unsaved;
};

#define PATH_SIZE 4096

/* Saving takes at most 1/SAVE_SHARE of the time. */
#define SAVE_SHARE 100

/* Creates a file that did not exist, and changes the path if it did. A failure shows when saving. */
static bool claim(char path[static PATH_SIZE])
{
	char *end = strrchr(path, '.');
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	for (unsigned int i = 2; fd < 0 && errno == EEXIST; i++) {
		snprintf(end, (size_t)(path + PATH_SIZE - end), "-%u.json", i);
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	}
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void save(struct screen *screen, const struct result *result)
{
	uint64_t start = clock_now_ns();
	bool is_claimed;

	if (!screen->path)
		return;
	is_claimed = screen->chosen && claim(screen->chosen);
	screen->chosen = NULL;
	screen->unsaved = (struct error){0};
	(screen->plan->is_redacted ? redact_write : document_write)(result, screen->path,
								    &screen->unsaved);
	/* Do not leave an empty file. */
	if (screen->unsaved.code && is_claimed)
		unlink(screen->path);
	screen->saved_ns = clock_now_ns();
	screen->save_cost_ns = screen->saved_ns - start;
}

static void case_begins(struct sweep_view *view, const struct result *result, size_t number,
			uint64_t done_ns)
{
	struct screen *screen = CONTAINER_OF(view, struct screen, view);
	const struct plan_case *wanted = &screen->plan->cases[number];
	bool is_budgeted = plan_is_budgeted(wanted);
	const struct progress_step step = {
		.number = number + 1,
		.count = result->n_cases,
		.unit = "cases",
		.what = result->cases[number].id,
		.trial = result->cases[number].n_trials + 1,
		.n_trials = is_budgeted ? 0 : wanted->parameters.trials,
		.done_ns = done_ns,
	};

	progress_show(&screen->progress, &step);
}

/* Returns whether the document can be saved repeatedly. */
static bool is_file(const struct screen *screen)
{
	return screen->path && save_replaces(screen->path);
}

static bool is_time_to_save(const struct screen *screen)
{
	return clock_now_ns() - screen->saved_ns > SAVE_SHARE * screen->save_cost_ns;
}

/* Saves for the last time. Signals may end a write to a pipe that nobody reads. */
static void save_last(struct screen *screen, const struct result *result, const sigset_t *before)
{
	if (!is_file(screen))
		sigprocmask(SIG_SETMASK, before, NULL);
	save(screen, result);
	sigprocmask(SIG_SETMASK, before, NULL);
}

/* Opens the table, and prints which defaults chose what is measured. */
static void open_table(struct screen *screen, const struct result *result)
{
	struct terminal terminal = tty_find(screen->out, screen->plan->color);

	table_open(&screen->table, &terminal, screen->plan->unit, result);
	if (screen->plan->usual)
		fprintf(screen->out,
			"preset %s, because no option such as --op or --size chooses cases\n",
			screen->plan->usual);
	if (screen->plan->has_own_size)
		fprintf(screen->out,
			"bandwidth of 64 KiB messages by default; --size chooses others\n");
}

static void case_ends(struct sweep_view *view, struct result *result, size_t number)
{
	struct screen *screen = CONTAINER_OF(view, struct screen, view);

	progress_wipe(&screen->progress);
	if (!screen->table.result)
		open_table(screen, result);
	table_line(&screen->table, &result->cases[number]);
	fflush(screen->out);
	if (!is_file(screen))
		return;
	if (!screen->plan->is_redacted)
		document_keep(&result->cases[number]);
	/* Keep the cases so far in case the run is killed. */
	if (is_time_to_save(screen))
		save(screen, result);
}

/* Keep the trials so far, since cases with a budget end late. */
static void case_grows(struct sweep_view *view, struct result *result)
{
	struct screen *screen = CONTAINER_OF(view, struct screen, view);

	if (is_file(screen) && is_time_to_save(screen))
		save(screen, result);
}

/* Prints the cases that violate --fail-below or --fail-above. */
static int check_limits(const struct screen *screen, const struct result *result)
{
	const struct threshold_list *limits = &screen->plan->limits;
	int code = 0;

	for (size_t i = 0; i < limits->count; i++) {
		struct error unused = {0};

		if (threshold_check_use(&limits->limit[i], result, &unused)) {
			fprintf(screen->out, "%s\n", unused.text);
			code = -ERANGE;
		}
		for (size_t j = 0; j < result->n_cases; j++) {
			struct error error = {0};

			if (!threshold_check(&limits->limit[i], result, &result->cases[j], &error))
				continue;
			fprintf(screen->out, "%s\n", error.text);
			code = -ERANGE;
		}
	}
	return code;
}

static int sweep(struct plan *plan, struct result *result, struct screen *screen,
		 struct error *error)
{
	struct sweep sweep = {0};
	struct error ignored = {0};
	struct interruption interruption = {.control = &sweep.control};
	int code = plan->payload ? payload_open(&sweep.payload, plan->payload, error) : 0;

	if (!code && plan->samples)
		code = sample_file_open(&sweep.samples, plan->samples, error);
	if (!code)
		code = sweep_open(&sweep, plan, result, error);
	if (code) {
		sample_file_close(&sweep.samples, &ignored);
		payload_close(&sweep.payload);
		return code;
	}
	/* Exclude cases that the devices do not support. */
	screen->progress.estimate_ns = plan_estimate_ns(plan, plan->n_cases);
	code = interruption_open(&interruption, error);
	if (!code) {
		code = sweep_run(&sweep, plan, result, &screen->view, error);
		interruption_close(&interruption);
	}
	sweep_close(&sweep);
	payload_close(&sweep.payload);
	if (sample_file_close(&sweep.samples, code ? &ignored : error) && !code)
		code = error->code;
	return code;
}

/* Returns whether all cases were skipped for the same reason. */
static bool is_refused(const struct result *result)
{
	for (size_t i = 0; i < result->n_cases; i++)
		if (result->cases[i].status != RESULT_SKIPPED ||
		    strcmp(result->cases[i].error, result->cases[0].error) != 0)
			return false;
	return true;
}

/* Prints skipped cases, warnings and the number of complete cases. */
static void print_foot(struct screen *screen, const struct result *result)
{
	struct table_count count;
	char elapsed[DURATION_TEXT];

	if (!screen->table.result)
		open_table(screen, result);
	count = table_foot(&screen->table);
	duration_words(elapsed, clock_now_ns() - screen->progress.start_ns);
	fprintf(screen->out, "%zu of %zu case%s complete in %s", count.complete, count.wanted,
		count.wanted == 1 ? "" : "s", elapsed);
}

/* Prints the summary, unless the error says it all, and the path of the result. */
static void conclude(struct screen *screen, const struct result *result, bool has_foot)
{
	bool is_saved = screen->path && !save_is_stdout(screen->path) && !screen->unsaved.code;

	if (has_foot)
		print_foot(screen, result);
	if (is_saved)
		fprintf(screen->out, "%ssaved to %s", has_foot ? "; " : "", screen->path);
	if (has_foot || is_saved)
		fputc('\n', screen->out);
	fflush(screen->out);
}

/* Skipped cases are an error if that is all of them. */
static int check_left(const struct result *result, struct error *error)
{
	const struct result_case *last = NULL;

	for (size_t i = 0; i < result->n_cases; i++) {
		if (result->cases[i].status != RESULT_SKIPPED)
			return 0;
		last = &result->cases[i];
	}
	return error_set(error, -EOPNOTSUPP, "no case can be measured: %s",
			 last ? last->error : "the plan is empty");
}

/*
 * Chooses the device. On a terminal, the software device replaces a missing one; a script fails
 * instead, so that a host that lost its device is noticed.
 */
static int choose(struct plan *plan, struct error *error)
{
	int code = soft_device_choose(&plan->device, error);

	return code ? code
		    : soft_device_require(plan->device, !plan->host && isatty(STDOUT_FILENO),
					  error);
}

/*
 * Chooses the device before the plan is read: choosing soft0 executes this program again, and a
 * pipe can be read only once. Errors are reported by the second call.
 */
static void choose_early(const struct plan *plan)
{
	struct plan copy = *plan;
	struct error ignored = {0};

	if (!plan->is_dry)
		choose(&copy, &ignored);
}

/*
 * Returns whether the run succeeded. For the tips, cases that lack huge pages are no failure: the
 * tips print the reason.
 */
static bool is_good(const struct plan *plan, const struct result *result)
{
	bool is_tips = plan->preset && !strcmp(plan->preset, "tips");
	size_t n_complete = 0;

	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];
		bool is_huge = json_is_true(json_object_get(line->parameters, "hugepages"));

		n_complete += line->status == RESULT_COMPLETE;
		if (line->status == RESULT_INTERRUPTED ||
		    (line->status == RESULT_FAILED && !(is_tips && is_huge)))
			return false;
	}
	return n_complete > 0;
}

/* Creates the folder of the default file if it is missing. */
static int make_folder(const char *folder, struct error *error)
{
	struct stat status;

	if (mkdir(folder, 0777) && errno != EEXIST)
		return error_set_errno(error, -errno, "cannot create --save-dir %s", folder);
	if (stat(folder, &status))
		return error_set_errno(error, -errno, "cannot use --save-dir %s", folder);
	if (!S_ISDIR(status.st_mode))
		return error_set_errno(error, -ENOTDIR, "cannot use --save-dir %s", folder);
	return 0;
}

/* Makes the default path: verbmark-HOST-UTC.json, in the folder of --save-dir. */
static int choose_path(const struct plan *plan, char path[static PATH_SIZE], struct error *error)
{
	const char *folder = plan->save_dir ? plan->save_dir : "";
	size_t length = strlen(folder);
	bool has_slash = !length || folder[length - 1] == '/';
	int code = plan->save_dir ? make_folder(folder, error) : 0;
	struct tm utc = utc_now();
	char text[32];
	char host[128];

	strftime(text, sizeof(text), "%Y%m%dT%H%M%SZ", &utc);
	/* The name must not reveal the host either. */
	snprintf(host, sizeof(host), "%s",
		 plan->is_redacted ? "redacted"
		 : plan->host      ? plan->host
				   : "local");
	for (char *letter = host; *letter; letter++) {
		if (*letter == '/')
			*letter = '_';
	}
	/* Leave room for the number that claim adds. */
	if (!code && snprintf(path, PATH_SIZE, "%s%sverbmark-%s-%s.json", folder,
			      has_slash ? "" : "/", host, text) > PATH_SIZE - 16)
		code = error_set_errno(error, -ENAMETOOLONG, "cannot use --save-dir %s", folder);
	return code;
}

/* Tells a user who did not choose a device that soft0 is used, and how to get a real device. */
static void report_software(void)
{
	fflush(stdout);
	fprintf(stderr, "no RDMA device found: measuring on " SOFT_DEVICE_NAME
			", a software device inside this process\n"
			"for a kernel device (Soft-RoCE) on eth0: "
			"rdma link add rxe0 type rxe netdev eth0\n");
}

static int run_plan(struct plan *plan, struct result *result, struct error *error)
{
	bool may_be_soft = !plan->device && !plan->host;
	bool is_chosen = !plan->json && !plan->no_save;
	char chosen[PATH_SIZE];
	const char *path = is_chosen ? chosen : plan->json;
	bool has_stdout = plan->json && save_is_stdout(plan->json);
	struct screen screen = {
		.view = {.begins = case_begins, .grows = case_grows, .ends = case_ends},
		.plan = plan,
		.path = path,
		.chosen = is_chosen ? chosen : NULL,
		.out = has_stdout ? stderr : stdout,
	};
	int limits = 0;
	int code = 0;
	sigset_t before; /* signal mask */

	if (is_chosen)
		code = choose_path(plan, chosen, error);
	if (path && !code)
		code = save_check(path, error);
	if (!code)
		code = choose(plan, error);
	if (code)
		return COMMAND_FAILED;
	if (may_be_soft && soft_device_has_replaced() && isatty(STDOUT_FILENO))
		report_software();
	progress_init(&screen.progress, stderr, plan->with_progress, plan->is_quiet,
		      plan_estimate_ns(plan, plan->n_cases));
	utc_stamp(result->started);
	sigprocmask(SIG_SETMASK, NULL, &before);
	code = sweep(plan, result, &screen, error);
	/* A plan that is empty on these devices is a usage error too. */
	if (code && plan_check(plan, NULL))
		return COMMAND_USAGE;
	utc_stamp(result->finished);
	result->status = result_status_of_cases(result);
	/* A case that had some trials is complete, even if the budget was not used up. */
	if (code && result->status == RESULT_COMPLETE)
		result->status = RESULT_INTERRUPTED;
	/* Save what was measured, however the sweep ended. */
	if (result->server.device[0]) {
		save_last(&screen, result, &before);
		limits = check_limits(&screen, result);
		conclude(&screen, result, code || !is_refused(result));
	}
	if (!code)
		code = check_left(result, error);
	if (screen.unsaved.code)
		code = error_set(error, screen.unsaved.code, "%s", screen.unsaved.text);
	return code || limits || !is_good(plan, result) ? COMMAND_FAILED : COMMAND_GOOD;
}

static json_t *command_line(int argc, char *argv[])
{
	json_t *words = json_pack("[s]", "verbmark");

	for (int i = 0; i < argc; i++)
		json_array_append_new(words, json_make_text(argv[i]));
	return words;
}

static int measure(struct plan *plan, json_t *command, struct error *error)
{
	struct result result = {
		.version = VERBMARK_VERSION, .command = command, .plan = json_incref(plan->made)};
	int status = run_plan(plan, &result, error);

	result_finish(&result);
	return status;
}

int run_command(const char *preset, int argc, char *argv[], struct error *error)
{
	int status = COMMAND_GOOD;
	struct plan plan;
	int code = plan_parse(&plan, preset, argc, argv, error);

	if (!code)
		choose_early(&plan);
	if (!code)
		code = plan_complete(&plan, error);
	if (code)
		status = command_parsed(code);
	else if (plan.is_dry)
		plan_print(&plan, stdout);
	else
		status = measure(&plan, command_line(argc, argv), error);
	plan_close(&plan);
	return status;
}

static int cmd_run_run(int argc, char *argv[], const char **operands, struct error *error)
{
	return run_command(NULL, argc, argv, error);
}

// clang-format off
const struct command command_run = {
	.name = "run",
	.group = COMMAND_MEASURE,
	.summary = "measure latency, bandwidth or load against a server",
	.about = "Measures RDMA between this host and a server, which runs 'verbmark serve' on HOST. "
		 "Without HOST, client and server both run on this host. The cases are the product of all LISTs.",
	.examples = {
		{"verbmark run n02 --op write --metric lat",
		 "latency of RDMA WRITE to n02"},
		{"verbmark run n02 --op send,read --metric bw -s 64k,1m -q 1,4",
		 "bandwidth of eight cases, saved as verbmark-n02-UTC.json"},
	},
	.options = &plan_options,
	.run = cmd_run_run,
};
// clang-format on
