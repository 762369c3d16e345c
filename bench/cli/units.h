/* SPDX-License-Identifier: MIT */
/* The values of --units, as table_parse_unit takes them. */
#ifndef BENCH_CLI_UNITS_H
#define BENCH_CLI_UNITS_H

#include "bench/cli/option.h"

#define UNITS 5

extern const struct option_value unit_values[UNITS];

#endif
