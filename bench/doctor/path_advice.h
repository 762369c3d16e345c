/* SPDX-License-Identifier: MIT */
/* Turns the outcome of a path test into findings (see advice.h). */
#ifndef BENCH_DOCTOR_PATH_ADVICE_H
#define BENCH_DOCTOR_PATH_ADVICE_H

#include <jansson.h>

#include "bench/doctor/path_probe.h"

void path_advice(const struct path_probe *path, json_t *findings);

#endif
