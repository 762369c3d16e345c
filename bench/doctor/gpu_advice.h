/* SPDX-License-Identifier: MIT */
/* Findings about the places of a host's GPUs and of its RDMA device on PCI Express. */
#ifndef BENCH_DOCTOR_GPU_ADVICE_H
#define BENCH_DOCTOR_GPU_ADVICE_H

#include <jansson.h>

/* Adds findings about the host that the facts are of. Facts without GPUs add none. */
void gpu_advice(const json_t *facts, json_t *findings);

#endif
