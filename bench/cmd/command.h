/* SPDX-License-Identifier: MIT */
/*
 * A subcommand: a file of its own and a line in main.c. Its function prints what
 * the user is to see and returns the exit status; a reason goes to main by error.
 */
#ifndef BENCH_CMD_COMMAND_H
#define BENCH_CMD_COMMAND_H

#include "bench/cli/option.h"

enum command_status {
	COMMAND_GOOD = 0,
	COMMAND_FAILED = 1,
	COMMAND_USAGE = 2,
	COMMAND_INVALID = 3, /* a comparison of what cannot be compared */
	/* not an exit status: main prints the command's options and exits with 0 */
	COMMAND_HELP,
};

struct command {
	const char *name;
	const char *summary;
	const struct option_table *options;
	/*
	 * operands has room for 2 * argc words; main frees it. Commands without operands
	 * ignore it.
	 */
	int (*run)(int argc, char *argv[], const char **operands, struct error *error);
};

extern const struct command command_compare;
extern const struct command command_devices;
extern const struct command command_doctor;
extern const struct command command_export;
extern const struct command command_gate;
extern const struct command command_history;
extern const struct command command_import;
extern const struct command command_pool;
extern const struct command command_report;
extern const struct command command_run;
extern const struct command command_serve;
extern const struct command command_tips;

/* Returns the status of a command whose options were not parsed: code is option_parse's. */
static inline int command_parsed(int code)
{
	return code > 0 ? COMMAND_HELP : COMMAND_USAGE;
}

/* The command run, with that preset; NULL: with any. */
int run_command(const char *preset, int argc, char *argv[], struct error *error);

#endif
