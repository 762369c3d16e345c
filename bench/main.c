/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench/cmd/command.h"
#include "bench/host/soft_device.h"

static const struct command *const commands[] = {
	&command_run,     &command_serve,   &command_report, &command_compare,
	&command_gate,    &command_history, &command_export, &command_import,
	&command_devices, &command_doctor,  &command_pool,   &command_tips,
};

static int print_help_of(const struct command *command)
{
	const struct option_table *options = command->options;

	printf("usage: verbmark %s [OPTION...]%s%s\n\n%s.\n\n", command->name,
	       options->operand ? " " : "", options->operand ? options->operand : "",
	       command->summary);
	option_print(options, stdout);
	return COMMAND_GOOD;
}

static void print_help(void)
{
	printf("usage: verbmark COMMAND [OPTION...]\n\nMeasures RDMA between two machines.\n\n");
	for (size_t i = 0; i < ARRAY_LENGTH(commands); i++)
		printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
	printf("\nverbmark COMMAND --help tells the options of one; verbmark --version the version.\n");
}

/* As a sentence has them. */
static void list_commands(char *names, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < ARRAY_LENGTH(commands) && used < size; i++)
		used += (size_t)snprintf(names + used, size - used, "%s%s",
					 !i                               ? ""
					 : i + 1 < ARRAY_LENGTH(commands) ? ", "
									  : " or ",
					 commands[i]->name);
}

/* It quotes what was given to it, which may be anything, and stays one line for all that. */
static int complain(struct error *error, int status)
{
	for (char *letter = error->text; *letter; letter++)
		if (iscntrl((unsigned char)*letter))
			*letter = '?';
	fflush(stdout);
	fprintf(stderr, "verbmark: %s\n", error->text);
	return status;
}

/* A full disk may show only now. */
static int finish(int status)
{
	struct error error = {0};

	/* What has failed before has left no reason: one more byte has. */
	if (fflush(stdout) || (ferror(stdout) && write(STDOUT_FILENO, "\n", 1) < 0))
		error_set_errno(&error, -errno, "cannot write to standard output");
	else if (ferror(stdout))
		error_set(&error, -EIO, "cannot write to standard output");
	return error.code ? complain(&error, COMMAND_FAILED) : status;
}

/*
 * Each queue pair has some descriptors, and the soft limit is for programs that use select;
 * devices have their queues and buffers in memory that is locked.
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
		error_set_errno(&error, -ENOMEM, "cannot keep the operands");
	free(operands);
	if (error.code)
		return complain(&error, status);
	return finish(status == COMMAND_HELP ? print_help_of(command) : status);
}

int main(int argc, char *argv[])
{
	struct error error = {0};
	char names[200];

	raise_limits();
	soft_device_begin(argv);
	if (argc < 2) {
		list_commands(names, sizeof(names));
		error_set(&error, -1, "a command is missing: %s; see --help", names);
		return complain(&error, COMMAND_USAGE);
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		print_help();
		return finish(COMMAND_GOOD);
	}
	if (!strcmp(argv[1], "--version")) {
		printf("verbmark %s\n", VERBMARK_VERSION);
		return finish(COMMAND_GOOD);
	}
	for (size_t i = 0; i < ARRAY_LENGTH(commands); i++)
		if (!strcmp(argv[1], commands[i]->name))
			return run_named(commands[i], argc - 1, argv + 1);
	error_set(&error, -1, "there is no command '%s'; see verbmark --help", argv[1]);
	return complain(&error, COMMAND_USAGE);
}
