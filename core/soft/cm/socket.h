/* SPDX-License-Identifier: MIT */
/*
 * The socket of an rdma_cm connection. Only the service thread frees a link; other threads detach
 * from it with soft_cm_socket_leave(). All functions need the rdma_cm mutex unless noted.
 */
#ifndef CORE_SOFT_CM_SOCKET_H
#define CORE_SOFT_CM_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "core/soft/cm/address.h"
#include "core/soft/peer/service.h"

#define SOFT_CM_MAGIC 0x766d636d /* "vmcm" */

struct soft_cm_id;

enum soft_cm_kind {
	SOFT_CM_REQUEST = 1,
	SOFT_CM_REPLY,
	SOFT_CM_READY,
	SOFT_CM_REJECT,
	SOFT_CM_LEAVE,
	SOFT_CM_LEAVE_REPLY,
};

struct soft_cm_message {
	uint32_t magic;
	uint32_t kind;
	uint32_t port; /* the listener's entry in the registry */
	uint32_t space;
	uint32_t qp_num;
	uint32_t qkey;
	uint32_t psn;
	uint32_t reason;
	uint32_t ece_vendor_id;
	uint32_t ece_options;
	uint8_t responder_resources;
	uint8_t initiator_depth;
	uint8_t flow_control;
	uint8_t retry_count;
	uint8_t rnr_retry_count;
	uint8_t srq;
	uint8_t tos;
	uint8_t data_length;
	struct soft_cm_address from;
	struct soft_cm_address to;
	unsigned char data[196];
};

struct soft_cm_socket {
	struct soft_source source;
	struct soft_cm_socket *next;
	struct soft_cm_id *id; /* NULL: detached, or not assigned yet */
	bool is_fresh;         /* from a guest that has not sent its request */
};

/* Makes the socket to a peer the link of a connection. Returns 0 or a negative errno. */
int soft_cm_socket_join(struct soft_cm_id *id, int fd);

int soft_cm_socket_send(struct soft_cm_socket *link, struct soft_cm_message *message);

/*
 * Detaches from the link: later messages are ignored, and the peer sees end of file. Accepts NULL.
 */
void soft_cm_socket_leave(struct soft_cm_socket *link);

/* Adopts the socket of a guest that wants a connection. Call without the mutex. */
void soft_cm_socket_adopt(int fd);

/*
 * For links without a connection: forget_all drops the parent's in a forked child; close_all closes
 * them once the service thread has ended.
 */
void soft_cm_socket_forget_all(void);
void soft_cm_socket_close_all(void);

/* Handle a message, or end of file: see receive.c. */
void soft_cm_receive(struct soft_cm_socket *link, const struct soft_cm_message *message);
void soft_cm_receive_end(struct soft_cm_id *id);

#endif
