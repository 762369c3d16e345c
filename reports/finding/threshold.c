/* SPDX-License-Identifier: MIT */
#include "reports/finding/threshold.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MILLION 1000000

static double messages_per_s(const struct result *result, const struct result_case *line)
{
	return result_rate(line, false);
}

static double bytes_per_s(const struct result *result, const struct result_case *line)
{
	return result_rate(line, false) * result_payload(line);
}

static double bits_per_s(const struct result *result, const struct result_case *line)
{
	return bytes_per_s(result, line) * 8;
}

/* NAN: the link rate is unknown. */
static double per_cent_of_line(const struct result *result, const struct result_case *line)
{
	uint64_t mbps = result_line_mbps(result);

	return mbps ? bits_per_s(result, line) * 100 / ((double)mbps * 1e6) : (double)NAN;
}

struct limit_unit {
	const char *name;
	const char *shown; /* after a value */
	/* Returns the bandwidth; NULL for a latency, in nanoseconds. */
	double (*value)(const struct result *result, const struct result_case *line);
	double size; /* divides the value, so that 4100 ns are exactly 4.1 us */
};

static const struct limit_unit units[] = {
	{"%line",  "% of the line", per_cent_of_line, 1     },
	{"b/s",    " b/s",          bits_per_s,       1     },
	{"kb/s",   " kb/s",         bits_per_s,       1e3   },
	{"Mb/s",   " Mb/s",         bits_per_s,       1e6   },
	{"Gb/s",   " Gb/s",         bits_per_s,       1e9   },
	{"Tb/s",   " Tb/s",         bits_per_s,       1e12  },
	{"bit",    " b/s",          bits_per_s,       1     },
	{"kbit",   " kb/s",         bits_per_s,       1e3   },
	{"mbit",   " Mb/s",         bits_per_s,       1e6   },
	{"gbit",   " Gb/s",         bits_per_s,       1e9   },
	{"tbit",   " Tb/s",         bits_per_s,       1e12  },
	{"Kbit",   " kb/s",         bits_per_s,       1e3   },
	{"Mbit",   " Mb/s",         bits_per_s,       1e6   },
	{"Gbit",   " Gb/s",         bits_per_s,       1e9   },
	{"Tbit",   " Tb/s",         bits_per_s,       1e12  },
	{"B/s",    " B/s",          bytes_per_s,      1     },
	{"kB/s",   " kB/s",         bytes_per_s,      1e3   },
	{"MB/s",   " MB/s",         bytes_per_s,      1e6   },
	{"GB/s",   " GB/s",         bytes_per_s,      1e9   },
	{"TB/s",   " TB/s",         bytes_per_s,      1e12  },
	{"KiB/s",  " KiB/s",        bytes_per_s,      0x1p10},
	{"MiB/s",  " MiB/s",        bytes_per_s,      0x1p20},
	{"GiB/s",  " GiB/s",        bytes_per_s,      0x1p30},
	{"msg/s",  " msg/s",        messages_per_s,   1     },
	{"kmsg/s", " kmsg/s",       messages_per_s,   1e3   },
	{"Mmsg/s", " Mmsg/s",       messages_per_s,   1e6   },
	{"ns",     " ns",           NULL,             1     },
	{"us",     " us",           NULL,             1e3   },
	{"ms",     " ms",           NULL,             1e6   },
	{"s",      " s",            NULL,             1e9   },
};

static const struct limit_unit *find_unit(const char *name, bool is_latency)
{
	for (size_t i = 0; i < ARRAY_LENGTH(units); i++)
		if (!strcmp(units[i].name, name) && !units[i].value == is_latency)
			return &units[i];
	return NULL;
}

/* Finds a statistic by its key or title: p99_9 or p99.9. */
static const struct statistic *find_statistic(const char *name, size_t length)
{
	for (size_t i = 0; i < STATISTICS; i++) {
		const char *key = statistics[i].key;
		size_t same = 0;

		while (same < length &&
		       (key[same] == name[same] || (key[same] == '_' && name[same] == '.')))
			same++;
		if (same == length && !key[same])
			return &statistics[i];
	}
	return NULL;
}

/* Accepts digits with an optional fraction: no sign, exponent or other syntax of strtod. */
static const char *take_number(const char *text, double *number)
{
	static const char digits[] = "0123456789";
	size_t whole = strspn(text, digits);
	size_t part = text[whole] == '.' ? strspn(text + whole + 1, digits) : 0;

	if (!whole || (text[whole] == '.' && !part))
		return NULL;
	*number = strtod(text, NULL);
	return text + whole + (part ? part + 1 : 0);
}

static const char *threshold_add(struct threshold_list *limits, const char *text,
				 const struct statistic *statistic)
{
	struct threshold *limit = &limits->limit[limits->count];
	const char *unit;

	if (limits->count == THRESHOLDS_MOST)
		return "exceeds the maximum of 16 limits";
	*limit = (struct threshold){.statistic = statistic};
	snprintf(limit->text, sizeof(limit->text), "%s", text);
	unit = take_number(text, &limit->bound);
	limit->unit = unit ? find_unit(unit, statistic != NULL) : NULL;
	if (!limit->unit || !(limit->bound > 0))
		return statistic ? "is not a latency limit such as p99=5us, p50=800ns or max=1ms"
				 : "is not a bandwidth limit such as 90%line, 50Gb/s, 10GB/s or "
				   "1.2Mmsg/s";
	limits->count++;
	return NULL;
}

static const char *add_below(struct threshold_list *limits, const char *text)
{
	return threshold_add(limits, text, NULL);
}

static const char *add_above(struct threshold_list *limits, const char *text)
{
	const char *equals = strchr(text, '=');
	const struct statistic *statistic;

	if (!equals)
		return "is not a latency limit such as p99=5us, p50=800ns or max=1ms";
	statistic = find_statistic(text, (size_t)(equals - text));
	if (!statistic)
		return "names an unknown statistic; use mean, p50, p99, p99.9, max and so on";
	return threshold_add(limits, equals + 1, statistic);
}

static const char *parse(struct threshold_list *limits, const char *text,
			 const char *(*add_one)(struct threshold_list *limits, const char *text))
{
	char member[sizeof(limits->limit[0].text)];

	for (;;) {
		size_t length = strcspn(text, ",");
		const char *wrong;

		if (length >= sizeof(member))
			return "has a member that is too long";
		memcpy(member, text, length);
		member[length] = '\0';
		wrong = add_one(limits, member);
		if (wrong || !text[length])
			return wrong;
		text += length + 1;
	}
}

const char *threshold_parse_below(const char *text, void *limits)
{
	return parse(limits, text, add_below);
}

const char *threshold_parse_above(const char *text, void *limits)
{
	return parse(limits, text, add_above);
}

bool threshold_applies(const struct threshold *limit, const struct result_case *line)
{
	if (line->status != RESULT_COMPLETE || !line->n_trials)
		return false;
	return limit->statistic ? result_has_latency(line) : line->windows != NULL;
}

static bool is_crossed(const struct threshold *limit, double value)
{
	return limit->statistic ? value > limit->bound : value < limit->bound;
}

/* Prints three digits, or as many as show that the limit is crossed. */
static void print_value(const struct threshold *limit, double value, char text[static 32])
{
	int digits = value >= 1000 ? (int)log10(value) + 1 : 3;

	do {
		snprintf(text, 32, "%.*g", digits++, value);
	} while (digits <= 17 && !is_crossed(limit, strtod(text, NULL)));
}

static const char *name_of(const struct statistic *statistic)
{
	return statistic->title ? statistic->title : statistic->key;
}

static int not_known(const struct threshold *limit, const struct result_case *line,
		     struct error *error)
{
	const struct statistic *statistic = limit->statistic;
	uint32_t beyond;

	if (!statistic)
		return error_set(error, -ERANGE, "%.120s: link rate is unknown; cannot check %s",
				 line->id, limit->text);
	if (!statistic->parts_per_million || !line->latency)
		return error_set(error, -ERANGE, "%.120s: %s is unknown", line->id,
				 name_of(statistic));
	beyond = MILLION - statistic->parts_per_million;
	return error_set(error, -ERANGE,
			 "%.120s: %s is unknown: it has %" PRIu64 " samples but needs %" PRIu32,
			 line->id, name_of(statistic), line->latency->count,
			 (10 * MILLION + beyond - 1) / beyond);
}

/* Returns the value in the limit's unit; NAN: unknown. */
static double value_of(const struct threshold *limit, const struct result *result,
		       const struct result_case *line)
{
	const struct statistic *statistic = limit->statistic;

	if (!statistic)
		return limit->unit->value(result, line) / limit->unit->size;
	return result_statistic(line, (size_t)(statistic - statistics)) / limit->unit->size;
}

int threshold_check(const struct threshold *limit, const struct result *result,
		    const struct result_case *line, struct error *error)
{
	char text[32];
	double value;

	if (!threshold_applies(limit, line))
		return 0;
	value = value_of(limit, result, line);
	if (isnan(value))
		return not_known(limit, line, error);
	if (!is_crossed(limit, value))
		return 0;
	print_value(limit, value, text);
	if (!limit->statistic)
		return error_set(error, -ERANGE, "%.120s: %s%s is below %s", line->id, text,
				 limit->unit->shown, limit->text);
	return error_set(error, -ERANGE, "%.120s: %s %s%s is above %s", line->id,
			 name_of(limit->statistic), text, limit->unit->shown, limit->text);
}

int threshold_check_use(const struct threshold *limit, const struct result *result,
			struct error *error)
{
	for (size_t i = 0; i < result->n_cases; i++)
		if (threshold_applies(limit, &result->cases[i]))
			return 0;
	if (limit->statistic)
		return error_set(error, -ENOENT, "no case has a latency to check against %s=%s",
				 name_of(limit->statistic), limit->text);
	return error_set(error, -ENOENT, "no case has a bandwidth to check against %s",
			 limit->text);
}
