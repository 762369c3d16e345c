/* SPDX-License-Identifier: MIT */
/*
 * What the proof of a path means: from the outcomes of its cases to findings, as
 * advice.h has them.
 */
#ifndef BENCH_DOCTOR_PATH_ADVICE_H
#define BENCH_DOCTOR_PATH_ADVICE_H

#include <jansson.h>

#include "bench/doctor/path_probe.h"

void path_advice(const struct path_probe *path, json_t *findings);

#endif
