/* SPDX-License-Identifier: MIT */
/* Settings of a context, with defaults filled in. */
#ifndef CORE_RDMA_SETTINGS_H
#define CORE_RDMA_SETTINGS_H

#include "core/rdma/rdma.h"

/* Whether the reserved settings are 0: others are of a later library. */
bool settings_are_known(const struct rdma_settings *settings);

unsigned int settings_timeout_ms(const struct rdma_settings *settings);
uint32_t settings_send_depth(const struct rdma_settings *settings);
uint32_t settings_recv_depth(const struct rdma_settings *settings);
uint32_t settings_sges(const struct rdma_settings *settings);
uint8_t settings_reads(const struct rdma_settings *settings, const struct ibv_device_attr *device);
uint8_t settings_rnr_retry(const struct rdma_settings *settings);
uint8_t settings_retry_count(const struct rdma_settings *settings);
uint8_t settings_ack_timeout(const struct rdma_settings *settings);
uint8_t settings_rnr_timer(const struct rdma_settings *settings);

#endif
