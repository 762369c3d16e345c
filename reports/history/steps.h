/* SPDX-License-Identifier: MIT */
/*
 * Steps of a series out of the index, or found in its values and put there: what is settled
 * is not looked at again, as long as nothing comes before it.
 */
#ifndef REPORTS_HISTORY_STEPS_H
#define REPORTS_HISTORY_STEPS_H

#include <stdbool.h>

#include "reports/history/sql.h"
#include "reports/stats/change_points.h"

/* The runs are their numbers. */
struct history_found {
	int64_t run;
	int64_t before;
	struct change_point step;
};

struct history_founds {
	struct history_found *list;
	size_t count;
};

/* Of the usual rule the index keeps what was found; no transaction is begun. */
int history_find(struct history_founds *founds, sqlite3 *db, int64_t series,
		 const struct change_points_rule *rule, struct error *error);

void history_founds_finish(struct history_founds *founds);

#endif
