/* SPDX-License-Identifier: MIT */
/* A finding about the cases of a run: bandwidth cases that lost most of their messages. */
#ifndef BENCH_HOST_ADVICE_LOSS_H
#define BENCH_HOST_ADVICE_LOSS_H

#include "reports/result/result.h"

#define ADVICE_LOSS "lost-messages"

/* Appends a finding for the case that lost the largest share, if that is large. */
void advice_loss(const struct result *result, json_t *findings);

#endif
