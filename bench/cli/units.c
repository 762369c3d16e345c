/* SPDX-License-Identifier: MIT */
#include "bench/cli/units.h"

const struct option_value unit_values[UNITS] = {
	{"Gb/s",  "10^9 bits per second" },
        {"Mb/s",  "10^6 bits per second" },
	{"GB/s",  "10^9 bytes per second"},
        {"MB/s",  "10^6 bytes per second"},
	{"MiB/s", "2^20 bytes per second"},
};
