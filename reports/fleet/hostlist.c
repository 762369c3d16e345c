/* SPDX-License-Identifier: MIT */
#include "reports/fleet/hostlist.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/io/save.h"

/* A range has at most this many digits, so that its numbers fit into 64 bits. */
#define DIGITS_MOST 18

struct name {
	const char *text;
	size_t prefix; /* bytes before the number; of the whole name if it has no number */
	size_t digits; /* 0: the name does not end in a number */
	uint64_t number;
};

static struct name split(const char *text)
{
	struct name name = {.text = text, .prefix = strlen(text)};

	while (name.prefix && name.digits < DIGITS_MOST &&
	       isdigit((unsigned char)text[name.prefix - 1])) {
		name.prefix--;
		name.digits++;
	}
	if (name.digits)
		name.number = strtoull(text + name.prefix, NULL, 10);
	return name;
}

static int compare_prefixes(const struct name *a, const struct name *b)
{
	size_t shorter = a->prefix < b->prefix ? a->prefix : b->prefix;
	int order = memcmp(a->text, b->text, shorter);

	return order ? order : (a->prefix > b->prefix) - (a->prefix < b->prefix);
}

static int compare(const void *one, const void *other)
{
	const struct name *a = one;
	const struct name *b = other;
	int order = compare_prefixes(a, b);

	if (!order)
		order = (a->digits > 0) - (b->digits > 0);
	if (!order)
		order = (a->number > b->number) - (a->number < b->number);
	return order ? order : (a->digits > b->digits) - (a->digits < b->digits);
}

static size_t drop_duplicates(struct name *names, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (!kept || strcmp(names[kept - 1].text, names[i].text) != 0)
			names[kept++] = names[i];
	return kept;
}

/* Whether a range from first to next, which follows last, expands to the name of next. */
static bool continues(const struct name *first, const struct name *last, const struct name *next)
{
	char digits[DIGITS_MOST + 3];
	int length =
		snprintf(digits, sizeof(digits), "%0*" PRIu64, (int)first->digits, next->number);

	return next->number == last->number + 1 && (size_t)length == next->digits;
}

/* Prints one range, and returns the number of names in it. */
static size_t print_range(FILE *out, const struct name *names, size_t count)
{
	const struct name *last = names;
	size_t taken = 1;

	while (taken < count && continues(names, last, &names[taken]))
		last = &names[taken++];
	fputs(names->text + names->prefix, out);
	if (taken > 1)
		fprintf(out, "-%s", last->text + last->prefix);
	return taken;
}

/* Counts the names with the same prefix as the first, which has a number. */
static size_t count_like(const struct name *names, size_t count)
{
	size_t like = 1;

	while (like < count && names[like].digits && !compare_prefixes(names, &names[like]))
		like++;
	return like;
}

static void print_names(FILE *out, const struct name *names, size_t count)
{
	for (size_t i = 0; i < count;) {
		size_t like = names[i].digits ? count_like(&names[i], count - i) : 1;

		if (i)
			fputc(',', out);
		if (like == 1) {
			fputs(names[i++].text, out);
			continue;
		}
		fprintf(out, "%.*s[", (int)names[i].prefix, names[i].text);
		for (size_t end = i + like; i < end;) {
			i += print_range(out, &names[i], end - i);
			fputs(i < end ? "," : "]", out);
		}
	}
}

char *hostlist_make(const char *const *names, size_t count)
{
	struct name *sorted = calloc(count + 1, sizeof(*sorted));
	char *text = NULL;
	size_t length;
	FILE *out = sorted ? open_memstream(&text, &length) : NULL;

	for (size_t i = 0; i < count && out; i++)
		sorted[i] = split(names[i]);
	if (out) {
		qsort(sorted, count, sizeof(*sorted), compare);
		print_names(out, sorted, drop_duplicates(sorted, count));
		if (fclose(out)) {
			free(text);
			text = NULL;
		}
	}
	free(sorted);
	return text;
}

char *fleet_bad_nodes(const struct fleet *fleet)
{
	const char **names = calloc(fleet->n_nodes + fleet->n_blames + 1, sizeof(*names));
	size_t count = 0;
	char *list;

	if (!names)
		return NULL;
	for (size_t i = 0; i < fleet->n_nodes; i++)
		if (fleet->nodes[i].presence == FLEET_LOST)
			names[count++] = fleet->nodes[i].host;
	for (size_t i = 0; i < fleet->n_blames; i++)
		if (fleet->blames[i].culprit == FLEET_CULPRIT_NODE ||
		    fleet->blames[i].culprit == FLEET_CULPRIT_RAIL)
			names[count++] = fleet->nodes[fleet->blames[i].node].host;
	list = hostlist_make(names, count);
	free(names);
	return list;
}

static int write_list(FILE *out, const void *list)
{
	if (*(const char *)list)
		fprintf(out, "%s\n", (const char *)list);
	return 0;
}

int fleet_bad_nodes_write(const struct fleet *fleet, const char *path, struct error *error)
{
	char *list = fleet_bad_nodes(fleet);
	int code;

	if (!list)
		return error_set_errno(error, -ENOMEM, "cannot list the bad nodes");
	code = save_path(path, write_list, list, error);
	free(list);
	return code;
}
