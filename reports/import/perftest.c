/* SPDX-License-Identifier: MIT */
#include "reports/import/perftest.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *const perftest_keys[PERFTEST_COLUMNS] = {
	[PERFTEST_SIZE] = "MsgSize",
	[PERFTEST_ITERATIONS] = "n_iterations",
	[PERFTEST_MIN] = "t_min",
	[PERFTEST_MAX] = "t_max",
	[PERFTEST_TYPICAL] = "t_typical",
	[PERFTEST_AVERAGE] = "t_avg",
	[PERFTEST_STDEV] = "t_stdev",
	[PERFTEST_P99] = "percentile_99",
	[PERFTEST_P99_9] = "percentile_99.9",
	[PERFTEST_TPS] = "tps_average",
	[PERFTEST_BW_PEAK] = "BW_peak",
	[PERFTEST_BW_AVERAGE] = "BW_average",
	[PERFTEST_MSG_RATE] = "MsgRate",
	[PERFTEST_CPU] = "CPU_util",
};

struct word {
	const char *theirs;
	const char *ours;
};

/* How the name of a test begins. */
static const struct word operations[] = {
	{"Send ",                 "send"        },
	{"RDMA Write ",           "write"       },
	{"RDMA Read ",            "read"        },
	{"Atomic FETCH AND ADD ", "fetch-add"   },
	{"Atomic CMP AND SWAP ",  "compare-swap"},
};

static const struct word transports[] = {
	{"RC", "RC"},
	{"UC", "UC"},
	{"UD", "UD"},
};

static const struct word links[] = {
	{"Ethernet", "Ethernet"  },
	{"IB",       "InfiniBand"},
};

/* Their numbers, and our options that mean the same. */
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

void perftest_row_init(struct perftest_row *row)
{
	*row = (struct perftest_row){0};
	for (size_t i = 0; i < PERFTEST_COLUMNS; i++)
		row->values[i] = (double)NAN;
}

/* Moves past the word, if the text begins with it. */
static bool skip(const char **text, const char *word)
{
	size_t length = strlen(word);

	if (strncmp(*text, word, length) != 0)
		return false;
	*text += length;
	return true;
}

/* Versions differ in capitals: "GID index" was "Gid index". */
static const char *perftest_find(const struct word *words, size_t count, const char *text)
{
	for (size_t i = 0; i < count; i++)
		if (!strcasecmp(words[i].theirs, text))
			return words[i].ours;
	return NULL;
}

/* In JSON they have underscores, as some have anyway. */
static void with_spaces(char *into, size_t size, const char *text)
{
	snprintf(into, size, "%s", text);
	for (char *mark = strchr(into, '_'); mark; mark = strchr(mark, '_'))
		*mark = ' ';
}

int perftest_begin(struct perftest_run *run, const char *test, struct error *error)
{
	enum perftest_end end = run->end;
	char name[80];
	const char *at = name;

	with_spaces(name, sizeof(name), test);
	*run = (struct perftest_run){.end = end, .parameters = json_object()};
	if (!run->parameters)
		return error_set_errno(error, -ENOMEM, "cannot keep the parameters");
	for (size_t i = 0; i < ARRAY_LENGTH(operations) && !run->op; i++)
		if (skip(&at, operations[i].theirs))
			run->op = operations[i].ours;
	run->is_bidirectional = skip(&at, "Bidirectional ");
	skip(&at, "Post List ");
	run->is_bandwidth = !strcmp(at, "BW Test");
	if (run->op && (run->is_bandwidth || !strcmp(at, "Latency Test")))
		return 0;
	return error_set(error, -EINVAL,
			 "'%.60s' is none of the tests that are imported: send, write, read and "
			 "atomic, of latency and of bandwidth",
			 test);
}

void perftest_end(struct perftest_run *run)
{
	json_decref(run->parameters);
	*run = (struct perftest_run){0};
}

static int keep(struct perftest_run *run, const char *name, json_t *value, struct error *error)
{
	if (json_object_set_new(run->parameters, name, value))
		return error_set_errno(error, -ENOMEM, "cannot keep the parameters");
	return 0;
}

/* "4096[B]" */
static int tell_count(struct perftest_run *run, const char *ours, const char *value,
		      struct error *error)
{
	size_t digits = strspn(value, "0123456789");
	unsigned long count = strtoul(value, NULL, 10);

	if (!digits || digits > 9 || (value[digits] && strcmp(value + digits, "[B]") != 0))
		return error_set(error, -EINVAL, "the %s is '%.40s', which is no number", ours,
				 value);
	if (!strcmp(ours, "mtu"))
		run->mtu = (unsigned int)count;
	return keep(run, ours, json_integer((json_int_t)count), error);
}

static int tell_transport(struct perftest_run *run, const char *value, struct error *error)
{
	run->transport = perftest_find(transports, ARRAY_LENGTH(transports), value);
	if (run->transport)
		return 0;
	return error_set(error, -EINVAL, "the connection type '%.40s' is none of RC, UC, UD",
			 value);
}

/* As the kernel names them. */
static int tell_device(struct perftest_run *run, const char *value, struct error *error)
{
	size_t length = strlen(value);

	for (size_t i = 0; i < length; i++)
		if (!isgraph((unsigned char)value[i]) || value[i] > '~')
			length = sizeof(run->device);
	if (!length || length >= sizeof(run->device))
		return error_set(error, -EINVAL, "the device has no name that one can have");
	memcpy(run->device, value, length + 1);
	return 0;
}

int perftest_tell(struct perftest_run *run, const char *name, const char *value,
		  struct error *error)
{
	char plain[80];
	const char *ours;

	with_spaces(plain, sizeof(plain), name);
	ours = perftest_find(counts, ARRAY_LENGTH(counts), plain);
	if (ours)
		return tell_count(run, ours, value, error);
	if (!strcasecmp(plain, "Connection type"))
		return tell_transport(run, value, error);
	if (!strcasecmp(plain, "Using SRQ"))
		return keep(run, "use-srq", json_boolean(!strcmp(value, "ON")), error);
	if (!strcasecmp(plain, "rdma cm QPs"))
		return keep(run, "connect", json_string(strcmp(value, "ON") ? "qp" : "cm"), error);
	if (!strcasecmp(plain, "Dual-port") || !strcasecmp(plain, "Dual port"))
		return strcmp(value, "ON") ? 0
					   : error_set(error, -EINVAL,
						       "of two ports at once nothing is imported");
	if (!strcasecmp(plain, "Device"))
		return tell_device(run, value, error);
	if (!strcasecmp(plain, "Link type"))
		run->link_layer = perftest_find(links, ARRAY_LENGTH(links), value);
	return 0;
}

/* Digits, a point and digits, an exponent: nothing that strtod would take beside. */
bool perftest_number(const char *text, size_t length, double *number)
{
	char copy[40];
	size_t whole;
	size_t rest;

	if (!length || length >= sizeof(copy))
		return false;
	memcpy(copy, text, length);
	copy[length] = '\0';
	whole = strspn(copy, "0123456789");
	rest = whole + (copy[whole] == '.');
	rest += strspn(copy + rest, "0123456789");
	if (whole && (copy[rest] == 'e' || copy[rest] == 'E')) {
		rest += 1 + (copy[rest + 1] == '+' || copy[rest + 1] == '-');
		whole = isdigit((unsigned char)copy[rest]) ? whole : 0;
		rest += strspn(copy + rest, "0123456789");
	}
	if (!whole || copy[rest])
		return false;
	*number = strtod(copy, NULL);
	return *number < 1e18;
}

static int perftest_add_one(struct import *import, const char *text, size_t length,
			    struct error *error)
{
	size_t at = 0;

	if (memchr(text, '\0', length))
		return error_set(error, -EINVAL,
				 "there are bytes of zero in it: this is no text of perftest's");
	while (at < length && isspace((unsigned char)text[at]))
		at++;
	if (at == length)
		return error_set(error, -EINVAL, "there is nothing in it");
	if (text[at] == '{')
		return perftest_add_json(import, text, length, error);
	return perftest_add_text(import, text, length, error);
}

static const struct import_warning notes[PERFTEST_NOTES] = {
	[PERFTEST_TRIMMED] =
		{"perftest-trimmed",  true,
				    "means leave out the two longest times of a run, and the longest one is not known: "
		 "t_max is the longest but one",								     "perftest takes the two largest samples away before it adds up and sorts out",
				    "-U of perftest's latency programs prints all samples"																			},
	[PERFTEST_NO_STDEV] =
		{"perftest-stdev",    false,
				    "standard deviations are not taken over: t_stdev has none below a microsecond",
				    "perftest cuts each difference to whole microseconds before it squares it",
				    "-U of perftest's latency programs prints all samples"																			},
	[PERFTEST_HALVES] =
		{"perftest-halves",   true,
				    "of both directions only the sum was told: each is shown with half of it",
				    "perftest adds the two ends up",																"--report-both of perftest tells each of them"},
	[PERFTEST_DERIVED] =
		{"perftest-duration", false,
				    "how long a bandwidth took is what its messages take at the rate that was told",
				    "perftest tells rates, and no times",															   "none: figures are as they were told"         },
	[PERFTEST_AT_SERVER] = {"perftest-server",   false,
				    "figures are those that the server has printed",				 "they were in what it has written, and not the client",
				    "the client's own, where both are there"																				      },
};

static int finish(struct import *import, struct error *error)
{
	int code = 0;

	for (size_t i = 0; i < PERFTEST_NOTES && !code; i++)
		if (import->notes & 1U << i)
			code = import_warn(import, &notes[i], error);
	return code;
}

const struct import_format import_perftest = {
	.name = "perftest",
	.add = perftest_add_one,
	.finish = finish,
};
