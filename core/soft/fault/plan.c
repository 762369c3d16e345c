/* SPDX-License-Identifier: MIT */
#include "core/soft/fault/plan.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/base/random.h"
#include "core/soft/time.h"

/* State of the parser for one fault or setting. */
struct reader {
	struct soft_fault_plan *plan;
	struct soft_fault *fault;
	char text[sizeof(((struct soft_fault *)0)->text)];
	uint64_t last; /* end of a range, from which the seed picks */
};

static bool reject(struct reader *reader, const char *why)
{
	struct soft_fault_plan *plan = reader->plan;

	if (!*plan->wrong)
		snprintf(plan->wrong, sizeof(plan->wrong), "'%s': %s", reader->text, why);
	return false;
}

/* Parses a number and advances the text. Returns false if the text does not start with one. */
static bool take_number(char **text, uint64_t *number)
{
	char *end;

	if (!isdigit((unsigned char)**text))
		return false;
	errno = 0;
	*number = strtoull(*text, &end, 10);
	*text = end;
	return !errno;
}

static bool take_time(char *text, uint64_t *time_ns)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = {
		{"ns", 1             },
                {"us", 1000          },
                {"ms", 1000000       },
                {"s",  SOFT_SECOND_NS}
        };
	uint64_t number;

	if (!take_number(&text, &number))
		return false;
	for (size_t i = 0; i < ARRAY_LENGTH(units); i++)
		if (!strcmp(text, units[i].unit) && number <= UINT64_MAX / 4 / units[i].ns) {
			*time_ns = number * units[i].ns;
			return true;
		}
	return false;
}

/*
 * Parses n, n+ (that occurrence and all later ones), n-m (one in that range), or a time for a
 * device.
 */
static bool read_when(struct reader *reader, char *when)
{
	struct soft_fault *fault = reader->fault;
	char *rest = when;

	fault->n = 1;
	if (!when)
		return true;
	if (fault->kind == SOFT_FAULT_DEVICE && take_time(when, &fault->after_ns)) {
		fault->n = 0;
		return true;
	}
	if (!take_number(&rest, &fault->n) || !fault->n)
		return reject(reader, "the count after '#' must be a number from 1");
	reader->last = fault->n;
	if (*rest == '-') {
		rest++;
		if (!take_number(&rest, &reader->last) || reader->last < fault->n)
			return reject(reader, "the end of a range must not be below its start");
	} else if (*rest == '+') {
		rest++;
		fault->is_lasting = true;
	}
	return *rest ? reject(reader, "expected N, N+ or N-M after '#'") : true;
}

static bool read_what(struct reader *reader, char *name)
{
	static const struct {
		const char *name;
		enum soft_fault_kind kind;
	} kinds[] = {
		{"completion", SOFT_FAULT_COMPLETION},
		{"send",       SOFT_FAULT_SEND      },
		{"receive",    SOFT_FAULT_RECEIVE   },
		{"message",    SOFT_FAULT_MESSAGE   },
		{"link",       SOFT_FAULT_LINK      },
		{"peer",       SOFT_FAULT_PEER      },
		{"device",     SOFT_FAULT_DEVICE    },
	};
	struct soft_fault *fault = reader->fault;
	int found;

	for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++)
		if (!strcmp(name, kinds[i].name)) {
			fault->kind = kinds[i].kind;
			return true;
		}
	if (!strncmp(name, "cm:", 3)) {
		fault->kind = SOFT_FAULT_CM;
		found = soft_fault_event_find(name + 3);
		if (found < 0)
			return reject(reader, "unknown rdma_cm event");
	} else {
		fault->kind = SOFT_FAULT_CALL;
		found = soft_fault_call_find(name);
		if (found < 0)
			return reject(reader,
				      "expected a verbs or rdma_cm call, cm:EVENT, completion, "
				      "send, receive, message, link, peer or device");
	}
	fault->which = (uint32_t)found;
	return true;
}

static bool set(struct soft_fault *fault, enum soft_fault_act act, int value)
{
	fault->act = act;
	fault->value = (uint64_t)value;
	return value >= 0;
}

/* Parses word:TIME. */
static bool set_timed(struct soft_fault *fault, const char *word, enum soft_fault_act act,
		      char *text)
{
	size_t length = strlen(word);

	fault->act = act;
	return !strncmp(text, word, length) && text[length] == ':' &&
	       take_time(text + length + 1, &fault->value);
}

static bool read_act(struct reader *reader, char *text)
{
	struct soft_fault *fault = reader->fault;
	bool good;

	switch (fault->kind) {
	case SOFT_FAULT_CALL:
		good = set_timed(fault, "stall", SOFT_FAULT_STALL, text) ||
		       set(fault, SOFT_FAULT_ERRNO, soft_fault_errno_find(text));
		return good || reject(reader, "expected the name of an errno, or stall:TIME");
	case SOFT_FAULT_COMPLETION:
	case SOFT_FAULT_SEND:
	case SOFT_FAULT_RECEIVE:
		good = set(fault, SOFT_FAULT_STATUS, soft_fault_status_find(text));
		return good || reject(reader, "expected a completion status, e.g. WR_FLUSH_ERR");
	case SOFT_FAULT_CM:
		good = !strcmp(text, "lost")
			       ? set(fault, SOFT_FAULT_LOST, 0)
			       : set_timed(fault, "late", SOFT_FAULT_LATE, text) ||
					 set(fault, SOFT_FAULT_OTHER, soft_fault_event_find(text));
		return good || reject(reader, "expected lost, late:TIME or another event");
	case SOFT_FAULT_MESSAGE:
		good = !strcmp(text, "duplicate")
			       ? set(fault, SOFT_FAULT_DUPLICATE, 0)
			       : set_timed(fault, "delay", SOFT_FAULT_LATE, text);
		return good || reject(reader, "expected duplicate or delay:TIME");
	case SOFT_FAULT_LINK:
		good = set_timed(fault, "down", SOFT_FAULT_DOWN, text);
		return good || reject(reader, "expected down:TIME");
	case SOFT_FAULT_PEER:
		good = set_timed(fault, "stall", SOFT_FAULT_STALL, text);
		return good || reject(reader, "expected stall:TIME");
	case SOFT_FAULT_DEVICE:
		good = !strcmp(text, "removed") && set(fault, SOFT_FAULT_REMOVED, 0);
		return good || reject(reader, "expected 'removed'");
	}
	return false;
}

static bool read_fault(struct reader *reader, char *what, char *act)
{
	char *when = strchr(what, '#');

	if (reader->plan->count == SOFT_FAULTS)
		return reject(reader, "a plan has at most 64 faults");
	reader->fault = &reader->plan->fault[reader->plan->count];
	memcpy(reader->fault->text, reader->text, sizeof(reader->text));
	if (when)
		*when++ = '\0';
	if (!read_what(reader, what) || !read_when(reader, when) || !read_act(reader, act))
		return false;
	reader->plan->count++;
	return true;
}

/* Parses a setting of the plan. Returns false if the item is not a setting. */
static bool read_setting(struct reader *reader, const char *name, char *value)
{
	struct soft_fault_plan *plan = reader->plan;

	if (!strcmp(name, "count") && !value) {
		plan->reports = plan->counts = true;
	} else if (!strcmp(name, "report")) {
		plan->reports = true;
		snprintf(plan->report, sizeof(plan->report), "%s", value ? value : "");
	} else if (!strcmp(name, "seed") && value) {
		if (!take_number(&value, &plan->seed) || *value)
			reject(reader, "the seed must be a whole number");
	} else {
		return false;
	}
	return true;
}

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

static void read_item(struct soft_fault_plan *plan, char *item, uint64_t *last)
{
	struct reader reader = {.plan = plan};
	char *value;

	item = trim(item);
	if (!*item)
		return;
	snprintf(reader.text, sizeof(reader.text), "%s", item);
	value = strchr(item, '=');
	if (value) {
		*value++ = '\0';
		value = trim(value);
	}
	item = trim(item);
	if (read_setting(&reader, item, value))
		return;
	if (!value)
		reject(&reader, "expected WHAT#COUNT=FAULT");
	else if (read_fault(&reader, item, value))
		*last = reader.last;
}

void soft_fault_plan_parse(struct soft_fault_plan *plan, const char *text)
{
	char *copy = strdup(text);
	uint64_t last[SOFT_FAULTS + 1] = {0};
	uint64_t state;
	char *rest = copy;
	char *item;

	memset(plan, 0, sizeof(*plan));
	if (!copy)
		snprintf(plan->wrong, sizeof(plan->wrong), "out of memory");
	while (copy && !*plan->wrong && (item = strsep(&rest, ";\n")))
		read_item(plan, item, &last[plan->count]);
	free(copy);
	state = plan->seed;
	for (uint32_t i = 0; i < plan->count; i++)
		if (last[i] > plan->fault[i].n)
			plan->fault[i].n += random_next(&state) % (last[i] - plan->fault[i].n + 1);
	if (*plan->wrong)
		plan->count = 0;
}
