/* SPDX-License-Identifier: MIT */
#include "reports/import/perftest.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LINE_MOST      512
#define DEVICE_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:"

const struct perftest_column perftest_columns[PERFTEST_COLUMNS] = {
	{"#bytes",                 "MsgSize",         ""     },
	{"#iterations",            "n_iterations",    ""     },
	{"t_min[usec]",            "t_min",           "min"  },
	{"t_max[usec]",            "t_max",           ""     },
	{"t_typical[usec]",        "t_typical",       "p50"  },
	{"t_avg[usec]",            "t_avg",           "mean" },
	{"t_stdev[usec]",          "t_stdev",         ""     },
	{"99% percentile[usec]",   "percentile_99",   "p99"  },
	{"99.9% percentile[usec]", "percentile_99.9", "p99_9"},
	{"tps average",            "tps_average",     ""     },
	{"BW peak[",               "BW_peak",         ""     },
	{"BW average[",            "BW_average",      ""     },
	{"MsgRate[Mpps]",          "MsgRate",         ""     },
	{"CPU_Util[%]",            "CPU_util",        ""     },
};

/* perftest wrote MB for MiB until 2024. */
static const struct {
	const char *text;
	double bytes;
} units[] = {
	{"MB/sec]",  1048576},
	{"MiB/sec]", 1048576},
	{"Gb/sec]",  1.25e8 },
};

struct word {
	const char *theirs;
	const char *ours;
};

/* Prefixes of titles. */
static const struct word operations[] = {
	{"Send ",                 "send"        },
	{"RDMA Write ",           "write"       },
	{"RDMA Read ",            "read"        },
	{"Atomic FETCH AND ADD ", "fetch-add"   },
	{"Atomic CMP AND SWAP ",  "compare-swap"},
};

static const struct word transports[] = {
	{"RC",  "RC" },
        {"UC",  "UC" },
        {"UD",  "UD" },
        {"XRC", "XRC"},
        {"DC",  "DC" },
        {"SRD", "SRD"}
};

static const struct word link_layers[] = {
	{"Ethernet", "Ethernet"  },
        {"IB",       "InfiniBand"}
};

/* Numbers that correspond to options of verbmark. */
static const struct word counts[] = {
	{"Number of qps",   "qps"        },
        {"TX depth",        "tx-depth"   },
	{"RX depth",        "rx-depth"   },
        {"CQ Moderation",   "cq-mod"     },
	{"Post List",       "post-list"  },
        {"Mtu",             "mtu"        },
	{"GID index",       "gid-index"  },
        {"Max inline data", "inline"     },
	{"Outstand reads",  "outstanding"},
        {"TOS",             "tos"        },
};

/* Prefixes of lines in output that cannot be imported. */
static const struct word refusals[] = {
	{"#, ",				  "samples (-U, -H) are not supported"        },
	{"Local results:",                       "--report-both is not supported"            },
	{"* Waiting for client to connect... *", "this is server output; import the client's"},
};

static bool skip(const char **text, const char *word)
{
	size_t length = strlen(word);

	if (strncmp(*text, word, length) != 0)
		return false;
	*text += length;
	return true;
}

static bool starts(const char *text, const char *with)
{
	return skip(&text, with);
}

static bool ends(const char *text, const char *with)
{
	size_t length = strlen(text);

	return length >= strlen(with) && !strcmp(text + length - strlen(with), with);
}

/* Capitalization differs between versions. */
static const char *find_word(const struct word *list, size_t count, const char *text)
{
	for (size_t i = 0; i < count; i++)
		if (!strcasecmp(list[i].theirs, text))
			return list[i].ours;
	return NULL;
}

/* Replaces the underscores that JSON has instead of spaces. */
static void with_spaces(char *into, size_t size, const char *text)
{
	snprintf(into, size, "%s", text);
	for (char *mark = strchr(into, '_'); mark; mark = strchr(mark, '_'))
		*mark = ' ';
}

static int run_begin(struct perftest_run *run, const char *test, struct error *error)
{
	char name[80];
	const char *at = name;

	with_spaces(name, sizeof(name), test);
	*run = (struct perftest_run){.parameters = json_object()};
	for (size_t i = 0; i < ARRAY_LENGTH(operations) && !run->op; i++)
		if (skip(&at, operations[i].theirs))
			run->op = operations[i].ours;
	run->is_bidirectional = skip(&at, "Bidirectional ");
	skip(&at, "Post List ");
	run->is_bandwidth = skip(&at, "BW ");
	if (run->op && (run->is_bandwidth || skip(&at, "Latency "))) {
		skip(&at, "Multicast ");
		if (!strcmp(at, "Test"))
			return 0;
	}
	return error_set(
		error, -EINVAL,
		"'%.60s' is not a latency or bandwidth test of send, write, read or atomics", test);
}

static void run_end(struct perftest_run *run)
{
	json_decref(run->parameters);
	run->parameters = NULL;
}

static int keep(json_t *object, const char *name, json_t *value, struct error *error)
{
	if (json_object_set_new(object, name, value))
		return error_set_errno(error, -ENOMEM, "cannot keep '%s'", name);
	return 0;
}

/* Parses a number, such as "4096[B]". */
static int set_count(struct perftest_run *run, const char *ours, const char *value,
		     struct error *error)
{
	size_t digits = strspn(value, "0123456789");
	unsigned long count = strtoul(value, NULL, 10);

	if (!digits || digits > 9 || (value[digits] && strcmp(value + digits, "[B]") != 0))
		return error_set(error, -EINVAL, "%s '%.40s' is not a number", ours, value);
	if (!strcmp(ours, "mtu"))
		run->mtu = (unsigned int)count;
	return keep(run->parameters, ours, json_integer((json_int_t)count), error);
}

/* Keeps a GID of decimal bytes, such as 255:14:00:...:07, as an address. */
static int set_group(struct perftest_run *run, const char *value, struct error *error)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	char text[INET6_ADDRSTRLEN];
	uint8_t gid[16];
	int used = 0;

	for (size_t i = 0; i < sizeof(gid); i++, value += used) {
		unsigned int byte;

		if (sscanf(value, i ? ":%3u%n" : "%3u%n", &byte, &used) != 1 || byte > UINT8_MAX)
			return error_set(error, -EINVAL, "the MGID is not valid");
		gid[i] = (uint8_t)byte;
	}
	if (memcmp(gid, mapped, sizeof(mapped)) != 0)
		inet_ntop(AF_INET6, gid, text, sizeof(text));
	else
		inet_ntop(AF_INET, &gid[12], text, sizeof(text));
	return keep(run->parameters, "multicast", json_string(text), error);
}

static int run_set(struct perftest_run *run, const char *name, const char *value,
		   struct error *error)
{
	char plain[80];
	const char *ours;

	with_spaces(plain, sizeof(plain), name);
	ours = find_word(counts, ARRAY_LENGTH(counts), plain);
	if (ours)
		return set_count(run, ours, value, error);
	if (!strcasecmp(plain, "Using SRQ"))
		return keep(run->parameters, "use-srq", json_boolean(!strcmp(value, "ON")), error);
	if (!strcasecmp(plain, "rdma cm QPs"))
		return keep(run->parameters, "connect",
			    json_string(strcmp(value, "ON") ? "qp" : "cm"), error);
	if (!strcmp(plain, "MGID"))
		return set_group(run, value, error);
	if (!strncasecmp(plain, "Test with events", 16))
		run->has_events = true;
	if (!strcasecmp(plain, "Link type"))
		run->link_layer = find_word(link_layers, ARRAY_LENGTH(link_layers), value);
	if (!strcasecmp(plain, "Connection type") &&
	    !(run->transport = find_word(transports, ARRAY_LENGTH(transports), value)))
		return error_set(error, -EINVAL,
				 "connection type '%.40s' is not RC, UC, UD, XRC, DC or SRD",
				 value);
	if (!strncasecmp(plain, "Dual", 4) && !strcmp(value, "ON"))
		return error_set(error, -EINVAL, "dual-port runs are not supported");
	if (!strcasecmp(plain, "Device")) {
		size_t length = strspn(value, DEVICE_LETTERS);

		if (!length || length >= sizeof(run->device) || value[length])
			return error_set(error, -EINVAL, "the device name is not valid");
		memcpy(run->device, value, length + 1);
	}
	return 0;
}

/* Where both sides send by XRC or DC, perftest also counts the queue pairs that receive. */
static void drop_targets(struct perftest_run *run)
{
	json_t *pairs = json_object_get(run->parameters, "qps");
	bool is_two_way = !run->is_bandwidth || run->is_bidirectional;
	bool is_split =
		run->transport && (!strcmp(run->transport, "XRC") || !strcmp(run->transport, "DC"));

	if (is_split && is_two_way)
		json_integer_set(pairs, json_integer_value(pairs) / 2);
}

static int row_keep(json_t *row, size_t column, double value, struct error *error)
{
	bool is_count = column < 2 && value >= 0 && value < 0x1p62 && fmod(value, 1) == 0;

	return keep(row, perftest_columns[column].name,
		    is_count ? json_integer((json_int_t)value) : json_real(value), error);
}

struct text {
	struct import *import;
	struct perftest_run run;
	size_t begun; /* line of the title; 0: outside a run */
	size_t n_rows;
	size_t columns[PERFTEST_COLUMNS];
	size_t n_columns; /* 0: outside a table */
	size_t number;    /* current line */
};

static char *trim(char *text)
{
	size_t length;

	text += strspn(text, " \t\r\v\f");
	length = strlen(text);
	while (length && isspace((unsigned char)text[length - 1]))
		text[--length] = '\0';
	return text;
}

static int text_finish_run(struct text *text, struct error *error)
{
	run_end(&text->run);
	if (text->n_columns)
		return error_set(error, -EINVAL, "the table ends early");
	if (text->begun && !text->n_rows)
		return error_set(error, -EINVAL, "the run on line %zu has no figures", text->begun);
	return 0;
}

/* Parses "name : value" pairs, which are separated by tabs. */
static int text_set(struct text *text, char *line, struct error *error)
{
	int code = 0;

	for (char *next; line && !code; line = next) {
		char *colon = strchr(line, ':');

		if (!colon)
			return 0;
		*colon++ = '\0';
		colon += strspn(colon, " \t");
		next = strchr(colon, '\t');
		if (next)
			*next++ = '\0';
		code = run_set(&text->run, trim(line), trim(colon), error);
	}
	return code;
}

static int text_open_table(struct text *text, const char *heading, struct error *error)
{
	if (!text->begun)
		return error_set(error, -EINVAL, "the header of the run is missing");
	/* Further headings of a run follow its rows. */
	if (!text->n_rows)
		drop_targets(&text->run);
	text->n_columns = 0;
	while (*heading) {
		const char *at = heading;
		size_t i = 0;

		while (i < PERFTEST_COLUMNS && !skip(&at, perftest_columns[i].title))
			i++;
		for (size_t j = 0; j < ARRAY_LENGTH(units) && at[-1] == '['; j++)
			if (skip(&at, units[j].text))
				text->run.unit = units[j].bytes;
		if (i == PERFTEST_COLUMNS || at[-1] == '[' || text->n_columns == PERFTEST_COLUMNS)
			return error_set(error, -EINVAL, "unknown column '%.40s'", heading);
		text->columns[text->n_columns++] = i;
		heading = at + strspn(at, " \t");
	}
	return 0;
}

static int text_read_row(const struct text *text, json_t *row, const char *line,
			 struct error *error)
{
	const char *at = line;
	size_t n = 0;

	for (; n < text->n_columns && isdigit((unsigned char)*at); n++) {
		char *end;
		double value = strtod(at, &end);

		at = end + strspn(end, " \t");
		if ((at == end && *at) || row_keep(row, text->columns[n], value, error))
			break;
	}
	if (n == text->n_columns && !*at)
		return 0;
	return error_set(error, -EINVAL, "'%.60s' is not a row of %zu figures", line,
			 text->n_columns);
}

static int text_add_row(struct text *text, const char *line, struct error *error)
{
	json_t *row = json_object();
	int code = text_read_row(text, row, line, error);

	if (!code)
		code = perftest_add(text->import, &text->run, row, error);
	json_decref(row);
	text->n_rows++;
	return code;
}

static int text_add_line(struct text *text, char *line, struct error *error)
{
	int code;

	if (text->n_columns && starts(line, "----")) {
		text->n_columns = 0;
		return 0;
	}
	/* Logs may include standard error. */
	if (text->n_columns && (!*line || starts(line, "Conflicting CPU frequency")))
		return 0;
	for (size_t i = 0; i < ARRAY_LENGTH(refusals); i++)
		if (starts(line, refusals[i].theirs))
			return error_set(error, -EINVAL, "%s", refusals[i].ours);
	if (starts(line, "#bytes"))
		return text_open_table(text, line, error);
	if (text->n_columns)
		return text_add_row(text, line, error);
	if (ends(line, " BW Test") || ends(line, " Latency Test") ||
	    ends(line, " Multicast Test")) {
		code = text_finish_run(text, error);
		text->begun = text->number;
		text->n_rows = 0;
		return code ? code : run_begin(&text->run, line, error);
	}
	if (starts(line, "Test with events"))
		text->run.has_events = true;
	return text->begun && !text->n_rows ? text_set(text, line, error) : 0;
}

int perftest_add_text(struct import *import, const char *from, size_t length, struct error *error)
{
	struct text text = {.import = import};
	size_t rows = import->n_rows;
	char line[LINE_MOST + 1];
	int code = 0;

	for (size_t at = 0, size; at < length && !code; at += size + 1) {
		const char *newline = memchr(from + at, '\n', length - at);

		size = newline ? (size_t)(newline - from) - at : length - at;
		text.number++;
		if (memchr(from + at, '\0', size))
			code = error_set(error, -EINVAL, "the line has a NUL byte");
		else if (size > LINE_MOST && text.n_columns)
			code = error_set(error, -EINVAL, "the line is too long for a row");
		else if (size <= LINE_MOST) {
			snprintf(line, sizeof(line), "%.*s", (int)size, from + at);
			code = text_add_line(&text, trim(line), error);
		}
	}
	if (!code)
		code = text_finish_run(&text, error);
	if (!code && import->n_rows == rows)
		code = error_set(error, -EINVAL, "no perftest output found");
	run_end(&text.run);
	return code ? error_wrap(error, "line %zu", text.number) : 0;
}

/* Parses both members of the file. Numbers are formatted as in the text output. */
static int json_add(struct import *import, struct perftest_run *run, const json_t *file,
		    json_t *row, struct error *error)
{
	json_t *info = json_object_get(file, "test_info");
	json_t *results = json_object_get(file, "results");
	const char *test = json_string_value(json_object_get(info, "test"));
	const char *name;
	json_t *value;
	char text[LINE_MOST];
	int code = test ? run_begin(run, test, error)
			: error_set(error, -EINVAL, "test_info with a test is missing");

	json_object_foreach(info, name, value)
	{
		const char *word = json_string_value(value);

		snprintf(text, sizeof(text), "%.0f", json_number_value(value));
		if (!code)
			code = run_set(run, name, word ? word : text, error);
	}
	drop_targets(run);
	if (!code && run->is_bidirectional)
		code = error_set(error, -EINVAL,
				 "JSON of bidirectional runs is ambiguous; import the text output");
	for (size_t i = 0; i < PERFTEST_COLUMNS && !code; i++) {
		value = json_object_get(results, perftest_columns[i].name);
		if (json_is_number(value))
			code = row_keep(row, i, json_number_value(value), error);
	}
	return code ? code : perftest_add(import, run, row, error);
}

int perftest_add_json(struct import *import, const char *text, size_t length, struct error *error)
{
	struct perftest_run run = {0};
	json_error_t fault;
	json_t *file = json_loadb(text, length, JSON_REJECT_DUPLICATES, &fault);
	json_t *row;
	int code;

	if (!file)
		return error_set(
			error, -EINVAL,
			"line %d: %s; perftest's JSON was malformed before 2024: import the text "
			"output",
			fault.line, fault.text);
	row = json_object();
	code = json_add(import, &run, file, row, error);
	run_end(&run);
	json_decref(row);
	json_decref(file);
	return code ? error_wrap(error, "line 1") : 0;
}
