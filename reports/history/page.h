/* SPDX-License-Identifier: MIT */
/* A history as an HTML page, like the one of results (reports/page/page.h). */
#ifndef REPORTS_HISTORY_PAGE_H
#define REPORTS_HISTORY_PAGE_H

#include <stdio.h>

#include "core/base/error.h"
#include "reports/history/view.h"

/* Returns 0 or -ENOMEM. */
int history_page(FILE *out, const struct history_view *view);

#endif
