/* SPDX-License-Identifier: MIT */
/*
 * Formats of other tools. Each takes results, one after another, and makes one text of them all.
 * Only complete cases have figures; unknown figures are omitted. A result that a format cannot
 * represent, such as a duplicate case, is rejected with an error.
 */
#ifndef REPORTS_EXPORT_EXPORT_H
#define REPORTS_EXPORT_EXPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "core/base/error.h"
#include "reports/result/result.h"

enum export_metric {
	EXPORT_ANY,
	EXPORT_LATENCY,
	EXPORT_BANDWIDTH,
};

/* Selects what to export, for formats that require a choice. */
struct export_choice {
	enum export_metric metric; /* github-benchmark */
	const char *id;            /* hgrm: the case; NULL: the only one */
};

struct export_format {
	const char *name;
	bool has_banner; /* the format has a place for the software device's banner */
	/* Returns NULL if memory runs out. The choice must outlive the state. */
	void *(*open)(const struct export_choice *choice);
	/* Adds a result without keeping references to it. name: the file name. */
	int (*add)(void *state, const struct result *result, const char *name, struct error *error);
	/* Makes the whole text, which the caller frees. -ENODATA: there is nothing to export. */
	int (*finish)(void *state, char **text, struct error *error);
	void (*close)(void *state); /* accepts NULL */
};

extern const struct export_format export_bmf;
extern const struct export_format export_csv;
extern const struct export_format export_github;
extern const struct export_format export_hgrm;
extern const struct export_format export_junit;
extern const struct export_format export_prometheus;

/* Text in memory; zeroed: not open. */
struct export_text {
	FILE *out; /* NULL: not open */
	char *text;
	size_t length;
};

int export_text_open(struct export_text *text);
/* Returns the text, which the caller frees; NULL if memory ran out. */
char *export_text_take(struct export_text *text);
void export_text_close(struct export_text *text);

/* Records the key for the result. -EEXIST: another result has the key. */
int export_once(json_t *seen, const char *key, const struct result *result, const char *name,
		struct error *error);

/* Formats the JSON with indentation; the caller frees the text. */
int export_dump(const json_t *json, char **text, struct error *error);

int export_no_memory(struct error *error);

#endif
