/* SPDX-License-Identifier: MIT */
/*
 * Subcommands: each is a file of its own and a line in main.c. A command prints its own output and
 * returns the exit status; main prints the error.
 */
#ifndef BENCH_CMD_COMMAND_H
#define BENCH_CMD_COMMAND_H

#include "bench/cli/option.h"

enum command_status {
	COMMAND_GOOD = 0,
	COMMAND_FAILED = 1,
	COMMAND_USAGE = 2,
	COMMAND_INVALID = 3, /* the results cannot be compared, or a gate is invalid */
	/* Not an exit status: main prints the requested help and exits with 0. */
	COMMAND_HELP,
};

/* Headings of 'verbmark --help', in this order. */
enum command_group {
	COMMAND_MEASURE,
	COMMAND_COMPARE,
	COMMAND_INSPECT,
	COMMAND_CONVERT,
	COMMAND_GROUPS
};

struct command_example {
	const char *line;
	const char *help;
};

#define COMMAND_EXAMPLES 2

struct command {
	const char *name;
	enum command_group group;
	const char *summary; /* one line of 'verbmark --help' */
	const char *about;   /* the paragraph at the start of the command's own help */
	struct command_example examples[COMMAND_EXAMPLES];
	const struct option_table *options;
	/*
	 * operands has room for 2 * argc words and is freed by main. Commands without operands
	 * ignore it.
	 */
	int (*run)(int argc, char *argv[], const char **operands, struct error *error);
};

extern const struct command command_compare;
extern const struct command command_devices;
extern const struct command command_doctor;
extern const struct command command_export;
extern const struct command command_fleet;
extern const struct command command_gate;
extern const struct command command_history;
extern const struct command command_import;
extern const struct command command_pool;
extern const struct command command_report;
extern const struct command command_run;
extern const struct command command_serve;
extern const struct command command_tips;

/* Returns the status for a code of option_parse other than 0. */
static inline int command_parsed(int code)
{
	return code > 0 ? COMMAND_HELP : COMMAND_USAGE;
}

/* Runs the command run with that preset, or with the one that the options name if it is NULL. */
int run_command(const char *preset, int argc, char *argv[], struct error *error);

#endif
