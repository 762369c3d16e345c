/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "bench/command.h"
#include "bench/sweep.h"
#include "reports/document.h"
#include "reports/table.h"

/* What the signals that end a run are read from. */
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

static int interruption_open(struct interruption *interruption, struct control *control,
			     struct error *error)
{
	sigset_t signals;
	int code;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	interruption->control = control;
	interruption->watch = (struct watch){
		.fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK), .ready = interrupted};
	if (interruption->watch.fd < 0)
		return error_set_errno(error, -errno, "cannot wait for signals");
	code = watch_add(&interruption->watch, error);
	if (code)
		close(interruption->watch.fd);
	return code;
}

static void interruption_close(struct interruption *interruption)
{
	watch_remove(&interruption->watch);
	close(interruption->watch.fd);
}

static void stamp(char text[static 32])
{
	time_t now = time(NULL);
	struct tm utc;

	strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
}

/* With the document on standard output the table goes to standard error. */
static FILE *table_stream(const struct plan *plan)
{
	return plan->json && !strcmp(plan->json, "-") ? stderr : stdout;
}

static void print_case(void *argument, const struct result *result, const struct result_case *ended)
{
	FILE *out = argument;

	if (ended == result->cases)
		table_head(out, result);
	table_line(out, ended);
	fflush(out);
}

static enum result_status status_of(const struct result *result)
{
	enum result_status status = RESULT_COMPLETE;

	for (size_t i = 0; i < result->n_cases; i++) {
		if (result->cases[i].status == RESULT_INTERRUPTED)
			return RESULT_INTERRUPTED;
		if (result->cases[i].status == RESULT_FAILED)
			status = RESULT_FAILED;
	}
	return status;
}

static int sweep(const struct plan *plan, struct result *result, struct error *error)
{
	struct interruption interruption = {0};
	struct sweep sweep = {0};
	int code = sweep_open(&sweep, plan, result, error);

	if (code)
		return code;
	code = interruption_open(&interruption, &sweep.control, error);
	if (!code) {
		code = sweep_run(&sweep, plan, result, print_case, table_stream(plan), error);
		interruption_close(&interruption);
	}
	sweep_close(&sweep);
	return code;
}

static int run_plan(const struct plan *plan, struct result *result, struct error *error)
{
	struct error fault = {0};
	int code = plan->json ? document_check(plan->json, error) : 0;

	if (code)
		return COMMAND_FAILED;
	stamp(result->started);
	code = sweep(plan, result, error);
	stamp(result->finished);
	result->status = status_of(result);
	/* What was measured is written down however the sweep has ended. */
	if (plan->json && result->server.device[0] && document_write(result, plan->json, &fault))
		code = error_set(error, fault.code, "%s", fault.text);
	return code || result->status != RESULT_COMPLETE ? COMMAND_FAILED : COMMAND_GOOD;
}

static json_t *command_line(int argc, char *argv[])
{
	json_t *words = json_pack("[s]", "verbmark");

	for (int i = 0; i < argc; i++) {
		json_t *word = json_string(argv[i]);
		char text[256];

		/* JSON is UTF-8; an argument need not be. */
		wire_printable(text, sizeof(text), argv[i]);
		json_array_append_new(words, word ? word : json_string(text));
	}
	return words;
}

static int run(int argc, char *argv[], struct error *error)
{
	struct result result = {.version = VERBMARK_VERSION};
	struct plan plan;
	int status;
	int code = plan_open(&plan, argc, argv, error);

	if (code > 0) {
		command_help(&command_run);
		status = COMMAND_GOOD;
	} else if (code < 0) {
		status = COMMAND_USAGE;
	} else {
		result.command = command_line(argc, argv);
		status = run_plan(&plan, &result, error);
	}
	result_finish(&result);
	plan_close(&plan);
	return status;
}

const struct command command_run = {
	.name = "run",
	.summary = "measures against a server",
	.options = &plan_options,
	.run = run,
};
