/* SPDX-License-Identifier: MIT */
/* A finding about the cases of a run: bandwidths of messages of which most never came. */
#ifndef BENCH_HOST_ADVICE_LOSS_H
#define BENCH_HOST_ADVICE_LOSS_H

#include "reports/result/result.h"

#define ADVICE_LOSS "lost-messages"

/* Of the case that lost the largest share; added to an array of findings. */
void advice_loss(const struct result *result, json_t *findings);

#endif
