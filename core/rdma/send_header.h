/* SPDX-License-Identifier: MIT */
/*
 * The header of every SEND of the blocking operations, in network byte order. It is
 * received into a separate slot, so that a notification, which is only a header, never
 * touches the buffer. It needs no immediate data, which iWARP often lacks.
 */
#ifndef CORE_RDMA_SEND_HEADER_H
#define CORE_RDMA_SEND_HEADER_H

#include <stdint.h>

#include "core/base/error.h"
#include "core/rdma/rdma.h"

#define SEND_HEADER_SIZE 24

void send_header_encode(uint8_t head[static SEND_HEADER_SIZE], const struct rdma_message *message);

/* Decodes and checks a header; bytes is the completion's byte count, including the header. */
int send_header_decode(struct rdma_message *message, const uint8_t head[static SEND_HEADER_SIZE],
		       uint32_t bytes, struct error *error);

#endif
