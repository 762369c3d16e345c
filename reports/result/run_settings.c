/* SPDX-License-Identifier: MIT */
#include "reports/result/run_settings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "reports/result/fingerprint.h"

/* Longer values are replaced by a hash. */
#define VALUE_MOST 32

/*
 * Options that are part of settings, with the value in effect before each option existed: without
 * it, every new option would start all series anew. Operation, metric, size, completion modes and
 * transport are not included, since they are always shown in full.
 */
static const struct {
	const char *option;
	const char *before;
} rows[] = {
	{"qps",              "1"      },
	{"threads",          "1"      },
	{"pattern",          ""       },
	{"tx-depth",         ""       },
	{"rx-depth",         ""       },
	{"inline",           ""       },
	{"cq-mod",           ""       },
	{"cq-depth",         ""       },
	{"event-count",      ""       },
	{"event-period_ns",  ""       },
	{"doorbell-every",   ""       },
	{"mr-access",        ""       },
	{"pages",            ""       },
	{"registration",     ""       },
	{"step",             ""       },
	{"post-list",        "1"      },
	{"recv-post-list",   ""       },
	{"bidirectional",    "false"  },
	{"latencies",        "false"  },
	{"breakdown",        ""       },
	{"rate",             ""       },
	{"rate-limit",       ""       },
	{"arrivals",         ""       },
	{"burst",            ""       },
	{"seed",             ""       },
	{"outstanding",      ""       },
	{"mtu",              ""       },
	{"gid-index",        ""       },
	{"server-gid-index", ""       },
	{"sl",	       "0"      },
	{"tos",              "0"      },
	{"flow-label",       ""       },
	{"hop-limit",        ""       },
	{"pkey-index",       ""       },
	{"path-bits",        ""       },
	{"multicast",        ""       },
	{"timeout",          "14"     },
	{"retries",          "6"      },
	{"connect",          ""       },
	{"use-srq",          "false"  },
	{"mr-per-qp",        ""       },
	{"hugepages",        "false"  },
	{"memory",           ""       },
	{"server-memory",    ""       },
	{"relaxed-ordering", ""       },
	{"buffer",           ""       },
	{"access",           ""       },
	{"sge",              "1"      },
	{"think_ns",         "0"      },
	{"receives",         "buffers"},
	{"needs",            "false"  },
	{"pin",              ""       },
	{"server-pin",       ""       },
	{"numa",             ""       },
	{"server-numa",      ""       },
	{"verify",           "0"      },
};

const char *run_settings_before(const char *option)
{
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		if (!strcmp(rows[i].option, option))
			return rows[i].before;
	return NULL;
}

bool run_settings_is_effort(const char *option)
{
	static const char *const efforts[] = {"iterations", "duration_ns", "warmup_ns", "trials",
					      "budget_ns",  "precision",   "interleave"};

	for (size_t i = 0; i < ARRAY_LENGTH(efforts); i++)
		if (!strcmp(efforts[i], option))
			return true;
	return false;
}

/* Prints a word unless the value is the omitted one. Returns false if memory runs out. */
static bool print_value(FILE *out, const json_t *value, const char *option, const char *before)
{
	char *text = json_is_string(value) ? strdup(json_string_value(value))
					   : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

	if (text && strcmp(text, before) != 0) {
		fprintf(out, "%s%s=", ftell(out) ? " " : "", option);
		if (strlen(text) <= VALUE_MOST && !strpbrk(text, " ="))
			fputs(text, out);
		else
			fprintf(out, "%016" PRIx64, fingerprint_hash(text, strlen(text)));
	}
	free(text);
	return text;
}

char *run_settings_of(const struct result_case *line)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	bool has_memory = out;

	for (size_t i = 0; i < ARRAY_LENGTH(rows) && has_memory; i++) {
		const json_t *value = json_object_get(line->parameters, rows[i].option);

		if (value)
			has_memory = print_value(out, value, rows[i].option, rows[i].before);
	}
	if (out && fclose(out))
		has_memory = false;
	if (has_memory)
		return text;
	free(text);
	return NULL;
}

static bool has_word(const char *text, const char *word, size_t length)
{
	for (const char *at = text; *at; at += strspn(at, " ")) {
		size_t found = strcspn(at, " ");

		if (found == length && !strncmp(at, word, length))
			return true;
		at += found;
	}
	return false;
}

void run_settings_tell(char *text, size_t size, const char *one, const char *other)
{
	for (const char *at = one; *at; at += strspn(at, " ")) {
		size_t length = strcspn(at, " ");
		size_t used = strlen(text);
		char told[96];

		snprintf(told, sizeof(told), ", %.*s", (int)length, at);
		if (!has_word(other, at, length) && !strstr(text, told) &&
		    used + strlen(told) < size)
			memcpy(text + used, told, strlen(told) + 1);
		at += length;
	}
}
