/* SPDX-License-Identifier: MIT */
/*
 * What was asked: options as they were parsed, and the cases that are the products
 * of their lists. Const once it is made, but for cases that the devices turn out
 * not to be able to run.
 */
#ifndef BENCH_PLAN_PLAN_H
#define BENCH_PLAN_PLAN_H

#include "bench/plan/operation.h"
#include "bench/plan/product.h"
#include "reports/finding/threshold.h"
#include "reports/table/table.h"

/* One case. Its figures are those of this and nothing else. */
struct plan_case {
	char id[CASE_ID];
	const struct operation *op;
	enum result_kind kind;
	struct parameters parameters; /* none is PARAMETER_AUTO that has a default */
	char skipped[256];            /* why it cannot be run; empty: it can */
	size_t product;               /* of the plan that it is of */
	size_t beside;                /* of those in turn: the case that it is compared with */
	const struct parameter *by;   /* that it differs in; NULL: it is compared with none */
	size_t maximum;               /* of a rate in per cent: the case that is its 100 % */
	bool is_maximum_alone;        /* nobody has asked for it but such rates */
};

struct plan {
	const char *host; /* NULL: this machine, and a server of its own */
	const char *launch;
	const char *secret_file;
	const char *device;
	const char *server_device;
	uint8_t device_port; /* 0: any */
	const char *json;
	const char *file;
	const char *preset;
	const char *usual; /* the preset where nothing says what is measured; else NULL */
	uint16_t port;     /* 0: nobody has said, see plan_port */
	unsigned int wait_ms;
	bool has_own_size; /* bandwidth was given its default size, 64 KiB */
	bool no_save;
	bool is_redacted;
	bool is_dry;
	bool is_quiet;
	bool with_progress;
	bool with_events;              /* -e */
	bool all_sizes;                /* -a */
	bool ignored;                  /* -R, -F: perftest's, which need nothing here */
	const struct table_unit *unit; /* of the table's bandwidths */
	struct threshold_list limits;  /* that cases are to keep to */
	struct product asked;          /* by options */
	json_t *made;                  /* the plan as a plan file would have it */
	struct plan_case *cases;
	size_t n_cases;
};

extern const struct option_table plan_options;
/* Without those that choose a plan. */
extern const struct option_table plan_preset_options;

/* Parses a command line into a plan and makes its cases. Returns as option_parse does. */
int plan_open(struct plan *plan, int argc, char *argv[], struct error *error);

/*
 * The same in two steps, of a preset that is not the command line's to choose, or of none:
 * what is on the command line, and then what it names, which can be read only once.
 */
int plan_parse(struct plan *plan, const char *preset, int argc, char *argv[], struct error *error);
int plan_complete(struct plan *plan, struct error *error);

/*
 * The options of cases alone, for commands whose own options end in a plan: next of their
 * table, whose target begins with a struct plan. plan_finish then makes its cases, of the
 * preset where neither lists nor a plan were asked for.
 */
extern const struct option_table plan_case_options;
int plan_finish(struct plan *plan, const char *preset, struct error *error);

/* The same from a plan file's text alone; path is where that is from. */
int plan_read(struct plan *plan, const char *text, size_t length, const char *path,
	      struct error *error);
/* Of that case alone, towards that host. */
int plan_open_case(struct plan *plan, const struct parameters *wanted, const char *host,
		   uint16_t port, struct error *error);
void plan_close(struct plan *plan);

/* The server's TCP port, if it runs already. */
uint16_t plan_port(const struct plan *plan);

/*
 * Of how many cases, from this one on, the trials are to be run in turn; those that cannot
 * be run included. 1: of none but its own.
 */
size_t plan_turns(const struct plan *plan, size_t number);

/* Leaves out what nobody has asked for but rates that are left out themselves. */
void plan_drop_maxima(struct plan *plan);

/* Whether there is a case that can be run; the error says why the first one cannot. */
int plan_check(const struct plan *plan, struct error *error);

/* How long the first ones take, roughly: nobody knows the messages' own speed yet. */
uint64_t plan_estimate_ns(const struct plan *plan, size_t n_cases);

/* The cases as text, a line each. */
void plan_print(const struct plan *plan, FILE *out);

#endif
