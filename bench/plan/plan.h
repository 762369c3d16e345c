/* SPDX-License-Identifier: MIT */
/*
 * A plan: the parsed options, and the cases that are the products of their lists. Constant once
 * made, except that cases are marked as skipped when the devices turn out not to support them.
 */
#ifndef BENCH_PLAN_PLAN_H
#define BENCH_PLAN_PLAN_H

#include "bench/plan/operation.h"
#include "bench/plan/product.h"
#include "reports/finding/threshold.h"
#include "reports/table/table.h"

/* The server's default TCP port. */
#define PLAN_PORT 7471

/* One case. Its results depend on nothing but these members. */
struct plan_case {
	char id[CASE_ID];
	const struct operation *op;
	enum result_kind kind;
	struct parameters parameters; /* those with a default are not PARAMETER_AUTO */
	char skipped[256];            /* why it cannot run; empty: it can */
	size_t product;               /* the product that it belongs to */
	size_t beside;              /* when interleaved: the case that this one is compared with */
	const struct parameter *by; /* the parameter that differs; NULL: not compared */
	size_t maximum;             /* for a rate in percent: the case that measures the 100 % */
	bool is_maximum_alone;      /* only needed by such rates */
};

struct plan {
	const char *host; /* NULL: this machine, which also runs the server */
	const char *launch;
	const char *secret_file;
	const char *device;
	const char *server_device;
	uint8_t device_port; /* 0: any */
	const char *json;
	const char *save_dir; /* folder of the default file; NULL: the current one */
	const char *samples;  /* file of all latencies; NULL: none */
	const char *payload;  /* file with the client's data; NULL: any data */
	const char *file;
	const char *preset;
	const char *usual; /* the preset used because nothing else was asked for, or NULL */
	uint16_t port;     /* 0: not given; see plan_port */
	unsigned int wait_ms;
	bool has_own_size; /* bandwidth was given its default size, 64 KiB */
	bool no_save;
	bool is_redacted;
	bool is_dry;
	bool is_quiet;
	bool with_progress;
	bool with_events;                 /* -e */
	bool all_sizes;                   /* -a */
	bool ignored;                     /* -R and -F of perftest, which have no effect */
	const struct table_unit *unit;    /* for the bandwidths in the table */
	const struct option_value *color; /* a value of --color; NULL: auto */
	struct threshold_list limits;     /* limits that cases must keep */
	struct product asked;             /* by the options */
	uint64_t budget_ns;               /* for the cases that have a budget; 0: none has one */
	json_t *made;                     /* the plan as in a plan file */
	struct plan_case *cases;
	size_t n_cases;
};

extern const struct option_table plan_options;
/* The options except those that choose a plan. */
extern const struct option_table plan_preset_options;

/* Parses a command line into a plan and makes its cases. Returns as option_parse does. */
int plan_open(struct plan *plan, int argc, char *argv[], struct error *error);

/*
 * The same in two steps. plan_parse reads the command line, with a fixed preset if preset is not
 * NULL; plan_complete then reads the files that it names, which can be read only once.
 */
int plan_parse(struct plan *plan, const char *preset, int argc, char *argv[], struct error *error);
int plan_complete(struct plan *plan, struct error *error);

/*
 * The options of cases alone, for commands with their own options: `next` of their table, whose
 * target must begin with a struct plan. plan_finish then makes the cases, from the given preset if
 * the command line has neither lists nor a plan.
 */
extern const struct option_table plan_case_options;
int plan_finish(struct plan *plan, const char *preset, struct error *error);

/* For commands that run the same number of trials of all cases: the options that they lack. */
bool plan_is_of_budget(const struct option_row *row);
int plan_refuse_budget(const struct plan *plan, const char *instead, struct error *error);

/* Makes a plan from the text of a plan file. path is used in error messages. */
int plan_read(struct plan *plan, const char *text, size_t length, const char *path,
	      struct error *error);
void plan_close(struct plan *plan);

/* Returns the TCP port of a server that is already running. */
uint16_t plan_port(const struct plan *plan);

/*
 * Returns how many cases, starting with this one and including skipped ones, run their trials
 * alternately. 1: only this case.
 */
size_t plan_turns(const struct plan *plan, size_t number);

/* Skips the cases that only skipped rates depend on. */
void plan_drop_maxima(struct plan *plan);

/* Fails if no case can run; the error says why the first one cannot. */
int plan_check(const struct plan *plan, struct error *error);

/* Returns whether the case shares the plan's budget with others. */
static inline bool plan_is_budgeted(const struct plan_case *line)
{
	return !line->skipped[0] && line->parameters.budget_ns != PARAMETER_AUTO;
}

/* Estimates how long one trial of a case takes. */
uint64_t plan_trial_ns(const struct plan_case *line);

/* Estimates how long the cases from the given one on take that do not share the budget. */
uint64_t plan_unbudgeted_ns(const struct plan *plan, size_t from);

/*
 * Estimates how long the first n_cases take; all cases together: at least the budget. The speed of
 * messages is not known yet.
 */
uint64_t plan_estimate_ns(const struct plan *plan, size_t n_cases);

/* Prints the cases, one per line. */
void plan_print(const struct plan *plan, FILE *out);

#endif
