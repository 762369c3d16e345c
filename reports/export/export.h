/* SPDX-License-Identifier: MIT */
/*
 * Formats of other tools. Each takes results, one after another, and makes one text of
 * all of them. Figures are those of cases that are complete; a figure that is not known
 * is left out. What a format cannot have (a case twice, where it has room for one) is
 * refused with a sentence.
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

/* What is exported, for the formats that have to choose. */
struct export_choice {
	enum export_metric metric; /* github-benchmark */
	const char *id;            /* hgrm: of the case; NULL: the only one */
};

struct export_format {
	const char *name;
	bool has_banner; /* tells of itself what is of the software device */
	/* NULL: no memory. The choice has to stay. */
	void *(*open)(const struct export_choice *choice);
	/* name: of the file. Nothing of the result is kept. */
	int (*add)(void *state, const struct result *result, const char *name, struct error *error);
	/* The whole text, which the caller frees. -ENODATA: there is nothing to tell. */
	int (*finish)(void *state, char **text, struct error *error);
	void (*close)(void *state); /* NULL too */
};

extern const struct export_format export_bmf;
extern const struct export_format export_csv;
extern const struct export_format export_github;
extern const struct export_format export_hgrm;
extern const struct export_format export_junit;
extern const struct export_format export_prometheus;

/* Text that grows; zeroed: not open. */
struct export_text {
	FILE *out; /* NULL: not open */
	char *text;
	size_t length;
};

int export_text_open(struct export_text *text);
/* What was printed, which the caller frees; NULL: no memory for it. */
char *export_text_take(struct export_text *text);
void export_text_close(struct export_text *text);

/* -EEXIST if the object has the key already, else it has it from then on, as of that result. */
int export_once(json_t *seen, const char *key, const struct result *result, const char *name,
		struct error *error);

/* The JSON, as people can read it too. */
int export_dump(const json_t *json, char **text, struct error *error);

int export_no_memory(struct error *error);

#endif
