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
	COMMAND_HELP,        /* main prints the command's options instead */
};

struct command {
	const char *name;
	const char *summary;
	const struct option_table *options;
	/* operands: room for twice as many words as argv has, for those that it keeps. */
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

/* The status of a command that does not run, after what option_parse has returned. */
static inline int command_parsed(int code)
{
	return code > 0 ? COMMAND_HELP : COMMAND_USAGE;
}

/* The command run, with that preset; NULL: with any. */
int run_command(const char *preset, int argc, char *argv[], struct error *error);

#endif
