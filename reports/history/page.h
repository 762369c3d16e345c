/* SPDX-License-Identifier: MIT */
/* A history as a page for browsers and paper, as page.h has them of results. */
#ifndef REPORTS_HISTORY_PAGE_H
#define REPORTS_HISTORY_PAGE_H

#include <stdio.h>

#include "core/base/error.h"
#include "reports/history/view.h"

/* -ENOMEM. */
int history_page(FILE *out, const struct history_view *view);

#endif
