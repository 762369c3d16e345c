/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench/cli/perftest_options.h"
#include "bench/cli/spelling.h"
#include "bench/cmd/command.h"
#include "bench/host/soft_device.h"

static const struct command *const commands[] = {
	&command_run,    &command_serve,   &command_fleet,  &command_report, &command_compare,
	&command_gate,   &command_history, &command_export, &command_import, &command_devices,
	&command_doctor, &command_pool,    &command_tips,
};

#define COLUMN 13 /* of the commands' summaries */

static const char *const headings[COMMAND_GROUPS] = {
	[COMMAND_MEASURE] = "Measure",
	[COMMAND_COMPARE] = "Compare and view",
	[COMMAND_INSPECT] = "Inspect",
	[COMMAND_CONVERT] = "Convert",
};

static void print_example(const char *line, const char *help)
{
	printf("    %s\n        # %s\n", line, help);
}

static void print_help_of(const struct command *command, bool with_all)
{
	const struct option_table *options = command->options;
	char usage[256];
	int column = printf("usage: verbmark %s ", command->name);

	snprintf(usage, sizeof(usage), "[OPTION...]%s%s", options->operand ? " " : "",
		 options->operand ? options->operand : "");
	option_print_wrapped(stdout, usage, (size_t)column, (size_t)column);
	putchar('\n');
	option_print_wrapped(stdout, command->about, 0, 0);
	putchar('\n');
	option_print(options, with_all, stdout);
	puts("\nExamples:");
	for (size_t i = 0; i < COMMAND_EXAMPLES; i++)
		print_example(command->examples[i].line, command->examples[i].help);
	putchar('\n');
	if (!with_all && option_count_rare(options))
		printf("'verbmark %s --help-all' lists all options. ", command->name);
	printf("See also 'man verbmark-%s'.\n", command->name);
}

static void print_help(void)
{
	puts("verbmark measures the latency, bandwidth and message rate of RDMA.\n\n"
	     "usage: verbmark COMMAND [OPTION...]");
	for (enum command_group group = 0; group < COMMAND_GROUPS; group++) {
		printf("\n%s:\n", headings[group]);
		for (size_t i = 0; i < ARRAY_LENGTH(commands); i++)
			if (commands[i]->group == group)
				printf("  %-*s%s\n", COLUMN - 2, commands[i]->name,
				       commands[i]->summary);
	}
	puts("\nExamples:");
	print_example("verbmark run", "measure on this host, without a network");
	print_example("verbmark serve", "start a server, here on n02");
	print_example("verbmark run n02 --op write --metric lat,bw", "measure against it");
	puts("\n'verbmark help COMMAND' shows the options of a command. See also 'man verbmark'.");
}

/* Prints what this command line asks for: help, or the values of an option. */
static int answer(const struct command *command, int argc, char *argv[])
{
	const struct option_values *values;

	switch (option_find_request(command->options, argc, argv, &values)) {
	case OPTION_LIST:
		option_print_values(values, stdout);
		break;
	case OPTION_HELP_ALL:
		print_help_of(command, true);
		break;
	case OPTION_HELP:
		print_help_of(command, false);
		break;
	}
	return COMMAND_GOOD;
}

/* The message may quote user input: replace control characters so that it stays on one line. */
static int complain(struct error *error, int status)
{
	for (char *letter = error->text; *letter; letter++)
		if (iscntrl((unsigned char)*letter))
			*letter = '?';
	fflush(stdout);
	fprintf(stderr, "verbmark: %s\n", error->text);
	return status;
}

/* Reports output that could not be written, for example to a full disk. */
static int finish(int status)
{
	struct error error = {0};

	/* An earlier failure left no errno: write one more byte to get it. */
	if (fflush(stdout) || (ferror(stdout) && write(STDOUT_FILENO, "\n", 1) < 0))
		error_set_errno(&error, -errno, "cannot write to standard output");
	else if (ferror(stdout))
		error_set(&error, -EIO, "cannot write to standard output");
	return error.code ? complain(&error, COMMAND_FAILED) : status;
}

/*
 * Raises the soft limits: each queue pair needs several descriptors, and devices lock the memory of
 * queues and buffers.
 */
static void raise_limits(void)
{
	static const int kinds[] = {RLIMIT_NOFILE, RLIMIT_MEMLOCK};
	struct rlimit limit;

	for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++) {
		if (getrlimit(kinds[i], &limit))
			continue;
		limit.rlim_cur = limit.rlim_max;
		setrlimit(kinds[i], &limit);
	}
}

static int run_named(const struct command *command, int argc, char *argv[])
{
	const char **operands = calloc(2 * (size_t)argc, sizeof(*operands));
	struct error error = {0};
	int status = COMMAND_FAILED;

	if (operands)
		status = command->run(argc, argv, operands, &error);
	else
		error_set_errno(&error, -ENOMEM, "cannot store the command line");
	free(operands);
	if (error.code)
		return complain(&error, status);
	return finish(status == COMMAND_HELP ? answer(command, argc, argv) : status);
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < ARRAY_LENGTH(commands); i++)
		if (!strcmp(name, commands[i]->name))
			return commands[i];
	return NULL;
}

static int refuse_command(const char *name)
{
	char instead[64];
	struct error error = {0};
	struct spelling search;

	spelling_begin(&search, name);
	for (size_t i = 0; i < ARRAY_LENGTH(commands); i++)
		spelling_try(&search, commands[i]->name);
	if (perftest_command(name, instead, sizeof(instead)))
		error_set(&error, -1, "'%s' is a perftest program; use 'verbmark %s'", name,
			  instead);
	else if (search.nearest)
		error_set(&error, -1, "unknown command '%s'; did you mean '%s'?", name,
			  search.nearest);
	else
		error_set(&error, -1, "unknown command '%s'; see 'verbmark --help'", name);
	return complain(&error, COMMAND_USAGE);
}

static bool is_one_of(const char *word, const char *a, const char *b)
{
	return !strcmp(word, a) || !strcmp(word, b);
}

/* 'verbmark help COMMAND' is 'verbmark COMMAND --help'. name: of a command, or NULL. */
static int run_help(const char *name)
{
	const struct command *command = name ? find_command(name) : NULL;

	if (name && !command)
		return refuse_command(name);
	if (command)
		print_help_of(command, false);
	else
		print_help();
	return finish(COMMAND_GOOD);
}

int main(int argc, char *argv[])
{
	const struct command *command;
	struct error error = {0};

	raise_limits();
	soft_device_begin(argv);
	if (argc < 2) {
		error_set(&error, -1, "the command is missing; see 'verbmark --help'");
		return complain(&error, COMMAND_USAGE);
	}
	if (!strcmp(argv[1], "help"))
		return run_help(argc > 2 && argv[2][0] != '-' ? argv[2] : NULL);
	if (is_one_of(argv[1], "--help", "-h") || !strcmp(argv[1], "--help-all"))
		return run_help(NULL);
	if (is_one_of(argv[1], "--version", "-V")) {
		printf("verbmark %s\n", VERBMARK_VERSION);
		return finish(COMMAND_GOOD);
	}
	command = find_command(argv[1]);
	return command ? run_named(command, argc - 1, argv + 1) : refuse_command(argv[1]);
}
