/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/import/perftest.h"
#include "reports/io/sum_check.h"

#define NS_PER_US 1000.0

/* Of a line, which is none of perftest's if it is longer. */
#define LINE_MOST 512

/* What of both directions a table has. */
enum part {
	PART_WHOLE,
	PART_LOCAL,
	PART_REMOTE,
};

enum place {
	OUTSIDE,    /* of tables: what a run says of itself, and what others have written */
	IN_TABLE,   /* behind a heading, up to the line that closes it */
	IN_SAMPLES, /* among them, up to that line */
};

struct text {
	struct import *import;
	struct perftest_run run;
	enum perftest_end next; /* which end the run that is next is of */
	size_t begun;           /* the line of its name; 0: there is none */
	size_t n_rows;
	enum place place;
	enum part part; /* of the table that is next, or open */
	enum perftest_column columns[PERFTEST_COLUMNS];
	size_t n_columns;
	enum perftest_unit unit;
	struct perftest_row row; /* the last one, which may be told more of; */
	bool has_row;
	struct hist *samples; /* of the row that is next; NULL: none */
	struct hist *spare;
	char line[LINE_MOST + 1];
	size_t number; /* of the line */
};

/* As versions have them: what was called MB until 2024 is called MiB since, and was it before. */
static const struct {
	const char *title;
	enum perftest_column column;
	enum perftest_unit unit;
} titles[] = {
	{"#bytes",                 PERFTEST_SIZE,       PERFTEST_NO_UNIT},
	{"#iterations",            PERFTEST_ITERATIONS, PERFTEST_NO_UNIT},
	{"t_min[usec]",            PERFTEST_MIN,        PERFTEST_NO_UNIT},
	{"t_max[usec]",            PERFTEST_MAX,        PERFTEST_NO_UNIT},
	{"t_typical[usec]",        PERFTEST_TYPICAL,    PERFTEST_NO_UNIT},
	{"t_avg[usec]",            PERFTEST_AVERAGE,    PERFTEST_NO_UNIT},
	{"t_stdev[usec]",          PERFTEST_STDEV,      PERFTEST_NO_UNIT},
	{"99% percentile[usec]",   PERFTEST_P99,        PERFTEST_NO_UNIT},
	{"99.9% percentile[usec]", PERFTEST_P99_9,      PERFTEST_NO_UNIT},
	{"tps average",            PERFTEST_TPS,        PERFTEST_NO_UNIT},
	{"BW peak[MB/sec]",        PERFTEST_BW_PEAK,    PERFTEST_MIB    },
	{"BW average[MB/sec]",     PERFTEST_BW_AVERAGE, PERFTEST_MIB    },
	{"BW peak[MiB/sec]",       PERFTEST_BW_PEAK,    PERFTEST_MIB    },
	{"BW average[MiB/sec]",    PERFTEST_BW_AVERAGE, PERFTEST_MIB    },
	{"BW peak[Gb/sec]",        PERFTEST_BW_PEAK,    PERFTEST_GBIT   },
	{"BW average[Gb/sec]",     PERFTEST_BW_AVERAGE, PERFTEST_GBIT   },
	{"MsgRate[Mpps]",          PERFTEST_MSG_RATE,   PERFTEST_NO_UNIT},
	{"CPU_Util[%]",            PERFTEST_CPU,        PERFTEST_NO_UNIT},
};

static char *trim(char *text)
{
	size_t length;

	while (isspace((unsigned char)*text))
		text++;
	length = strlen(text);
	while (length && isspace((unsigned char)text[length - 1]))
		text[--length] = '\0';
	return text;
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool ends(const char *text, const char *with)
{
	size_t length = strlen(text);

	return length >= strlen(with) && !strcmp(text + length - strlen(with), with);
}

/* Once nothing more can be told of it. */
static int flush_row(struct text *text, struct error *error)
{
	int code = 0;

	if (text->has_row && text->run.is_bidirectional && !isnan(text->row.both[0]) &&
	    !isnan(text->row.both[1]))
		text->row.has_both = true;
	if (text->has_row)
		code = perftest_add(text->import, &text->run, &text->row, error);
	text->has_row = false;
	return code;
}

static int finish_run(struct text *text, struct error *error)
{
	size_t begun = text->begun;
	int code = flush_row(text, error);

	text->begun = 0;
	if (!code && text->place != OUTSIDE)
		code = error_set(error, -EINVAL,
				 "its figures break off: the run was stopped, or the text is cut");
	else if (!code && begun && !text->n_rows)
		code = error_set(error, -EINVAL,
				 "the run that begins on line %zu has no figures: it has failed, "
				 "is cut, or is a server's that prints none",
				 begun);
	else if (!code && text->samples)
		code = error_set(error, -EINVAL, "there are samples without their figures");
	perftest_end(&text->run);
	return code;
}

static int begin_run(struct text *text, const char *name, struct error *error)
{
	int code = finish_run(text, error);

	if (code)
		return code;
	text->run.end = text->next;
	text->next = PERFTEST_ANY_END;
	text->begun = text->number;
	text->n_rows = 0;
	text->part = PART_WHOLE;
	return perftest_begin(&text->run, name, error);
}

/* "name : value", and more of them behind tabs. */
static int tell(struct text *text, char *line, struct error *error)
{
	int code = 0;

	while (line && *line && !code) {
		char *colon = strchr(line, ':');
		char *next;

		if (!colon)
			return 0;
		*colon = '\0';
		line = trim(line);
		colon += 1 + strspn(colon + 1, " \t");
		next = strchr(colon, '\t');
		if (next)
			*next++ = '\0';
		code = perftest_tell(&text->run, line, trim(colon), error);
		line = next;
	}
	return code;
}

static int open_table(struct text *text, const char *heading, struct error *error)
{
	if (!text->begun)
		return error_set(error, -EINVAL,
				 "these are figures of no test: the head of the run is missing");
	text->n_columns = 0;
	text->unit = PERFTEST_NO_UNIT;
	while (*heading) {
		size_t i = 0;

		while (i < ARRAY_LENGTH(titles) && !begins(heading, titles[i].title))
			i++;
		if (i == ARRAY_LENGTH(titles) || text->n_columns == PERFTEST_COLUMNS)
			return error_set(error, -EINVAL, "the column '%.40s' is not known here",
					 heading);
		text->columns[text->n_columns++] = titles[i].column;
		if (titles[i].unit)
			text->unit = titles[i].unit;
		heading += strlen(titles[i].title);
		heading += strspn(heading, " \t");
	}
	text->place = IN_TABLE;
	return 0;
}

/* Of a table of one direction, the row before, which has both, is told of it. */
static int add_part(struct text *text, const struct perftest_row *row, struct error *error)
{
	static const enum perftest_column same[] = {PERFTEST_SIZE, PERFTEST_ITERATIONS};

	for (size_t i = 0; i < ARRAY_LENGTH(same); i++)
		if (!text->has_row || row->values[same[i]] != text->row.values[same[i]])
			return error_set(error, -EINVAL,
					 "these results of one end are not those of both before");
	text->row.both[text->part == PART_REMOTE] = row->values[PERFTEST_MSG_RATE];
	return 0;
}

/*
 * perftest has one sample less than iterations. -U prints all of them, and -H leaves out the
 * longest two: those are no distribution, and the row's own figures stand.
 */
static int take_samples(struct text *text, struct error *error)
{
	double iterations = text->row.values[PERFTEST_ITERATIONS];
	double count;

	if (!text->samples)
		return 0;
	count = (double)text->samples->count;
	if (count + 1 != iterations && count + 3 != iterations)
		return error_set(error, -EINVAL, "%.0f samples are not those of %.0f iterations",
				 count, iterations);
	if (count + 1 == iterations)
		text->row.hist = text->samples;
	text->spare = text->samples;
	text->samples = NULL;
	return 0;
}

static int add_row(struct text *text, const char *line, struct error *error)
{
	struct perftest_row row;
	size_t n = 0;
	int code;

	perftest_row_init(&row);
	row.unit = text->unit;
	row.both[0] = row.both[1] = (double)NAN;
	for (const char *at = line; *at; at += strspn(at, " \t")) {
		size_t length = strcspn(at, " \t");

		if (n == text->n_columns ||
		    !perftest_number(at, length, &row.values[text->columns[n++]]))
			return error_set(error, -EINVAL, "'%.60s' is no row of %zu figures", line,
					 text->n_columns);
		at += length;
	}
	if (n != text->n_columns)
		return error_set(error, -EINVAL, "'%.60s' is no row of %zu figures", line,
				 text->n_columns);
	if (text->part != PART_WHOLE)
		return add_part(text, &row, error);
	code = flush_row(text, error);
	if (code)
		return code;
	text->row = row;
	text->has_row = true;
	text->n_rows++;
	return take_samples(text, error);
}

static int begin_samples(struct text *text, const char *unit, struct error *error)
{
	int code;

	if (strcmp(unit, "usec") != 0)
		return error_set(error, -EINVAL,
				 "the samples are in %.20s: without -C perftest prints "
				 "microseconds",
				 unit);
	if (text->samples)
		return error_set(error, -EINVAL, "there are samples without their figures");
	/* What is in them before is another row's, which is told now. */
	code = flush_row(text, error);
	if (code)
		return code;
	text->samples = text->spare ? text->spare : hist_create();
	text->spare = NULL;
	if (!text->samples)
		return error_set_errno(error, -ENOMEM, "cannot keep the samples");
	hist_clear(text->samples);
	text->place = IN_SAMPLES;
	return 0;
}

/* "17, 2.27431" */
static int add_sample(struct text *text, const char *line, struct error *error)
{
	const char *comma = strchr(line, ',');
	double number;
	uint64_t ns;
	double us;

	if (!comma || !perftest_number(line, (size_t)(comma - line), &number) ||
	    number != (double)text->samples->count + 1)
		return error_set(error, -EINVAL, "'%.40s' is no sample, or not the next one", line);
	comma += 1 + strspn(comma + 1, " ");
	if (!perftest_number(comma, strlen(comma), &us) || us >= PERFTEST_US_MOST)
		return error_set(error, -EINVAL, "'%.40s' is no sample", line);
	ns = (uint64_t)(us * NS_PER_US + 0.5);
	if (sum_check_are_beyond(text->samples->sum, ns))
		return error_set(error, -EOVERFLOW, "these are more than can be counted");
	hist_add(text->samples, ns);
	return 0;
}

/* What stands among figures. */
static int add_inside(struct text *text, char *line, struct error *error)
{
	if (begins(line, "----")) {
		text->place = OUTSIDE;
		return 0;
	}
	/* What goes to standard error comes between them, where a log has both. */
	if (!*line || begins(line, "Conflicting CPU frequency values detected"))
		return 0;
	if (text->place == IN_SAMPLES)
		return add_sample(text, line, error);
	if (begins(line, "#, "))
		return begin_samples(text, line + 3, error);
	/* Of -a with samples, a heading for each row. */
	if (begins(line, "#bytes"))
		return open_table(text, line, error);
	return add_row(text, line, error);
}

static int add_outside(struct text *text, char *line, struct error *error)
{
	if (begins(line, "#bytes"))
		return open_table(text, line, error);
	if (ends(line, " BW Test") || ends(line, " Latency Test"))
		return begin_run(text, line, error);
	/* A server says that each time, and a client never, which may be next in the same log. */
	if (!strcmp(line, "* Waiting for client to connect... *")) {
		text->next = PERFTEST_SERVER;
		return finish_run(text, error);
	}
	if (!strcmp(line, "Local results:"))
		text->part = PART_LOCAL;
	else if (!strcmp(line, "Remote results:"))
		text->part = PART_REMOTE;
	else if (begins(line, "Test with events."))
		text->run.has_events = true;
	else if (text->begun && !text->n_rows)
		return tell(text, line, error);
	return 0;
}

static int add_line(struct text *text, const char *from, size_t length, struct error *error)
{
	char *line;
	int code;

	text->number++;
	if (length > LINE_MOST && text->place == OUTSIDE)
		return 0;
	if (length > LINE_MOST)
		code = error_set(error, -EINVAL, "this is too long for a row of figures");
	else {
		memcpy(text->line, from, length);
		text->line[length] = '\0';
		line = trim(text->line);
		code = text->place == OUTSIDE ? add_outside(text, line, error)
					      : add_inside(text, line, error);
	}
	return code ? error_wrap(error, "line %zu", text->number) : 0;
}

int perftest_add_text(struct import *import, const char *from, size_t length, struct error *error)
{
	struct text text = {.import = import};
	size_t rows = import->n_rows;
	int code = 0;

	while (length && !code) {
		const char *newline = memchr(from, '\n', length);
		size_t line = newline ? (size_t)(newline - from) : length;

		code = add_line(&text, from, line, error);
		line += newline != NULL;
		from += line;
		length -= line;
	}
	if (!code) {
		code = finish_run(&text, error);
		if (code)
			error_wrap(error, "line %zu", text.number);
	}
	if (!code && import->n_rows == rows)
		code = error_set(error, -EINVAL,
				 "there is nothing of perftest's in it, neither text nor JSON");
	perftest_end(&text.run);
	free(text.samples);
	free(text.spare);
	return code;
}
