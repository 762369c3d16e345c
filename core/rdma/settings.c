/* SPDX-License-Identifier: MIT */
#include "core/rdma/settings.h"

#include <assert.h>

#include "core/base/compiler.h"
#include "core/verbs/post.h"

#define DEFAULT_TIMEOUT_MS 5000
#define DEFAULT_DEPTH      16
#define DEFAULT_READS      16
#define DEFAULT_RETRIES    6
#define RETRY_FOR_EVER     7
#define DEFAULT_TIMEOUT    14
#define DEFAULT_RNR_TIMER  12

#ifdef __LP64__
/* The sizes that programs of this soname were compiled with. */
static_assert(sizeof(struct rdma_settings) == 112, "struct rdma_settings has a fixed size");
static_assert(sizeof(struct rdma_context) == 768, "struct rdma_context has a fixed size");
#endif

bool settings_are_known(const struct rdma_settings *settings)
{
	for (size_t i = 0; i < ARRAY_LENGTH(settings->reserved); i++)
		if (settings->reserved[i])
			return false;
	return true;
}

unsigned int settings_timeout_ms(const struct rdma_settings *settings)
{
	return settings->timeout_ms ? settings->timeout_ms : DEFAULT_TIMEOUT_MS;
}

uint32_t settings_send_depth(const struct rdma_settings *settings)
{
	/* An operation and a probe may be outstanding at the same time. */
	return settings->send_depth > 1 ? settings->send_depth
	       : settings->send_depth   ? 2
					: DEFAULT_DEPTH;
}

uint32_t settings_recv_depth(const struct rdma_settings *settings)
{
	return settings->recv_depth ? settings->recv_depth : DEFAULT_DEPTH;
}

uint32_t settings_sges(const struct rdma_settings *settings)
{
	return settings->max_sge > POST_SGES ? settings->max_sge : POST_SGES;
}

uint8_t settings_reads(const struct rdma_settings *settings, const struct ibv_device_attr *device)
{
	int most = device->max_qp_rd_atom < device->max_qp_init_rd_atom
			   ? device->max_qp_rd_atom
			   : device->max_qp_init_rd_atom;

	if (settings->outstanding_reads)
		return settings->outstanding_reads;
	return most < 1 ? 0 : most < DEFAULT_READS ? (uint8_t)most : DEFAULT_READS;
}

static uint8_t retries(uint8_t setting, uint8_t otherwise)
{
	return setting == RDMA_NONE ? 0 : setting ? setting : otherwise;
}

uint8_t settings_rnr_retry(const struct rdma_settings *settings)
{
	return retries(settings->rnr_retry,
		       settings->own_receives ? DEFAULT_RETRIES : RETRY_FOR_EVER);
}

uint8_t settings_retry_count(const struct rdma_settings *settings)
{
	return retries(settings->retry_count, DEFAULT_RETRIES);
}

uint8_t settings_ack_timeout(const struct rdma_settings *settings)
{
	return settings->ack_timeout ? settings->ack_timeout : DEFAULT_TIMEOUT;
}

uint8_t settings_rnr_timer(const struct rdma_settings *settings)
{
	return settings->min_rnr_timer ? settings->min_rnr_timer : DEFAULT_RNR_TIMER;
}
