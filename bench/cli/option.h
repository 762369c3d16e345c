/* SPDX-License-Identifier: MIT */
/*
 * Command-line options: a const table for each subcommand, with one row for each option. Parsing,
 * errors, --help, shell completion and the man page's test all use this table. A row's parser
 * stores the value in the field at its offset. Errors name the option and the value.
 */
#ifndef BENCH_CLI_OPTION_H
#define BENCH_CLI_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "core/base/error.h"

/* Returns what is wrong with the text ("is not a size"), or NULL if it was accepted. */
typedef const char *option_parser(const char *text, void *field);

/* A named value, as in '--format csv'. */
struct option_value {
	const char *name;
	const char *help;
};

/* Named values: rows of a table, each of which begins with a struct option_value. */
struct option_values {
	const void *rows;
	size_t count;
	size_t stride;
	bool is_open; /* other values are allowed too */
	bool has_all; /* "all" stands for all of them */
};

#define OPTION_VALUES(table, ...)                                             \
	{                                                                     \
		.rows = (table), .count = sizeof(table) / sizeof((table)[0]), \
		.stride = sizeof((table)[0]), __VA_ARGS__                     \
	}

/* Headings of --help, in this order. */
enum option_group {
	OPTION_GENERAL,
	OPTION_WHAT,
	OPTION_HOW,
	OPTION_QUEUES,
	OPTION_MEMORY,
	OPTION_NETWORK,
	OPTION_WHERE,
	OPTION_LISTEN,
	OPTION_ACCESS,
	OPTION_LIMITS,
	OPTION_POOL,
	OPTION_INPUT,
	OPTION_OUTPUT,
	OPTION_COMPAT,
	OPTION_ABOUT,
	OPTION_GROUPS
};

struct option_row {
	const char *name; /* without dashes */
	int letter;       /* or 0 */
	/*
	 * The value as --help shows it; NULL for a flag. "[N]" is optional and must follow '='.
	 * "[ N]", only in rows without a letter, may also be the next word if that begins with a
	 * digit. "LIST" is a comma-separated list.
	 */
	const char *argument;
	/*
	 * The text is NULL for a flag, or if an optional value is omitted. Without a parser, a
	 * pointer to the row of the value's name is stored.
	 */
	option_parser *parse;
	size_t offset;
	const char *help; /* ends in the default, in parentheses */
	enum option_group group;
	bool is_rare;    /* only shown by --help-all */
	bool may_repeat; /* each use adds a value */
	/* Values with names: errors suggest one, and the value 'help' lists them. */
	struct option_values values;
};

struct option_table {
	const struct option_row *rows;
	size_t count;
	size_t stride; /* between rows that are embedded in larger structs; 0: the rows' size */
	/* Replaces the rows' own parsers; target is that of option_parse. */
	const char *(*parse)(const struct option_row *row, const char *text, void *target);
	const struct option_table *next; /* more rows; its operand is ignored */
	const char *operand;             /* as --help shows it; NULL: the command takes none */
	size_t operand_offset;           /* a const char * in the target */
	/* Replaces operand_offset for commands with several operands: called for each one. */
	const char *(*add_operand)(const char *text, void *target);
	const char *operand_name;            /* of the first operand, if that has named values */
	struct option_values operand_values; /* of the first operand */
	/* Hides rows of this table and the next ones from --help; the command rejects them. */
	bool (*hides)(const struct option_row *row);
	/* Returns a help text that replaces the row's own, or NULL. */
	const char *(*says)(const struct option_row *row);
};

/* A help text for an option of another command's table. */
struct option_said {
	const char *name;
	const char *help;
};

/* Returns the text for the row, or NULL. */
const char *option_said(const struct option_said *said, size_t count, const struct option_row *row);

/* Requests for information, instead of running the command. */
enum option_request {
	OPTION_HELP = 1, /* --help */
	OPTION_HELP_ALL, /* --help-all */
	OPTION_LIST,     /* the values of an option, as in '--op help' */
};

/*
 * Parses argv[1...] into target. Returns 0, an enum option_request, or -EINVAL with the error set.
 * Options and operands may come in any order; "--" ends the options. Long options may be
 * abbreviated as long as they are unambiguous.
 */
int option_parse(const struct option_table *table, int argc, char *argv[], void *target,
		 struct error *error);

/*
 * Returns the request of a command line for which option_parse returned one. For OPTION_LIST,
 * stores the values to list.
 */
enum option_request option_find_request(const struct option_table *table, int argc, char *argv[],
					const struct option_values **values);

/* Prints the options with their help, at most 80 columns wide. */
void option_print(const struct option_table *table, bool with_all, FILE *out);

/* Prints the values one per line. */
void option_print_values(const struct option_values *values, FILE *out);

/* Returns the number of visible options that --help leaves to --help-all. */
size_t option_count_rare(const struct option_table *table);

/* Prints text in lines of at most 80 columns. The first begins at column, the others at indent. */
void option_print_wrapped(FILE *out, const char *text, size_t column, size_t indent);

/* Returns value number i. */
const struct option_value *option_value_at(const struct option_values *values, size_t i);

/* Parses a value by the row's own parser, and stores it in the target. */
const char *option_store(const struct option_row *row, const char *text, void *target);

/* Returns the name nearest to a misspelled word, or NULL if none is near. */
const char *option_nearest(const struct option_values *values, const char *word);

/* Parsers that several commands use. */
const char *option_text(const char *text, void *field);        /* const char * */
const char *option_flag(const char *text, void *field);        /* bool */
const char *option_port(const char *text, void *field);        /* uint16_t */
const char *option_device_port(const char *text, void *field); /* uint8_t */
const char *option_duration(const char *text, void *field);    /* unsigned int, ms */

#endif
