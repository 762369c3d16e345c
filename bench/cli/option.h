/* SPDX-License-Identifier: MIT */
/*
 * Options: a const table for each subcommand, one row for each option, from which
 * parsing, errors, --help and the man page's test follow. A row's parser puts the
 * value into the field at its offset. Errors name the option and the value.
 */
#ifndef BENCH_CLI_OPTION_H
#define BENCH_CLI_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "core/base/error.h"

/* Says what is wrong with the text ("is not a size"), or NULL if it was taken. */
typedef const char *option_parser(const char *text, void *field);

struct option_row {
	const char *name; /* without dashes */
	char letter;      /* or 0 */
	/* As --help shows it; NULL: a flag. "[N]": may be left out, and stands behind '=';
	 * "[ N]", of a row without a letter: or is the next word, if that begins with a digit. */
	const char *argument;
	option_parser *parse; /* of a flag: text is NULL */
	size_t offset;
	const char *help;
};

struct option_table {
	const struct option_row *rows;
	size_t count;
	size_t stride; /* from row to row, where they are parts of something; 0: none */
	/* Takes the place of the rows' own parsers; target is the command's. */
	const char *(*parse)(const struct option_row *row, const char *text, void *target);
	const struct option_table *next; /* more rows; its operand is not used */
	const char *operand;             /* as --help shows it; NULL: none is taken */
	size_t operand_offset;           /* a const char * in the target */
	/* Takes the place of that where there may be several: it is called for each. */
	const char *(*add_operand)(const char *text, void *target);
	/* Of all rows, the next tables' too, what --help leaves out: it is refused by a sentence. */
	bool (*hides)(const struct option_row *row);
	/* Of all rows, what --help says of one in the place of its help; NULL: that. */
	const char *(*says)(const struct option_row *row);
};

/* What --help says of an option of another command's table. */
struct option_said {
	const char *name;
	const char *help;
};

/* That of the row's name; NULL: there is none. */
const char *option_said(const struct option_said *said, size_t count, const struct option_row *row);

/*
 * Parses argv[1...] into target. Returns 0, 1 if --help was asked for, or -EINVAL
 * with the error. Options and the operand come in any order; -- ends options.
 */
int option_parse(const struct option_table *table, int argc, char *argv[], void *target,
		 struct error *error);

/* The options with their help, one a line. */
void option_print(const struct option_table *table, FILE *out);

/* Parsers that several commands use. */
const char *option_text(const char *text, void *field);        /* const char * */
const char *option_flag(const char *text, void *field);        /* bool */
const char *option_port(const char *text, void *field);        /* uint16_t */
const char *option_device_port(const char *text, void *field); /* uint8_t */
const char *option_duration(const char *text, void *field);    /* unsigned int, ms */

#endif
