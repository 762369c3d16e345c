/* SPDX-License-Identifier: MIT */
/*
 * RDMA between a client and a server: a context, calls that connect it, and blocking
 * operations. A context starts zeroed, with its settings filled in, and is used by one
 * thread at a time. Every function returns 0, or -1 with a message in context.reason;
 * nothing is printed. A failed completion, an operation that times out, or a peer that
 * goes away ends the connection: all later operations fail with the same reason until
 * rdma_close. Invalid arguments (range, size) and an expired idle_timeout_ms (code
 * -ETIMEDOUT) leave the connection usable.
 *
 * A library thread watches all connections of the process. It reads the asynchronous
 * events of their devices, so a program does not receive those of its own queue pairs
 * on the same rdma_cm device.
 *
 * The functions up to rdma_notify_read, except rdma_prepare, and the first fields of struct
 * rdma_context have the names of the specification that this library implements. They
 * share the prefix of librdmacm, but not a name with it.
 *
 * A program runs with any later library of the same soname. Callers allocate struct
 * rdma_context without an initializer, so its size is fixed: new settings and results take
 * the place of reserved ones, and 0 selects what an earlier library did. Set-up fails if a
 * setting is newer than the library. The other structs do not change.
 *
 *	struct rdma_context server = {.buffer_size = 1 << 20, .cq_notify = RDMA_EVENT};
 *	size_t length;
 *
 *	if (rdma_setup_server(&server, 0, NULL) || tell_the_client(server.port) ||
 *	    rdma_wait_for_client(&server) || rdma_recv(&server, &length))
 *		fprintf(stderr, "%s\n", server.reason);
 *	rdma_close(&server);
 */
#ifndef CORE_RDMA_RDMA_H
#define CORE_RDMA_RDMA_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RDMA_API __attribute__((visibility("default")))

/* Values of cq_notify: the completion mode of this side. */
enum rdma_wait_mode {
	RDMA_POLL = 0,
	RDMA_EVENT = 1,
	RDMA_ADAPTIVE = 2, /* polls for settings.spin_us, then sleeps */
};

/* For settings where 0 selects the default: no retries, no inline data. */
#define RDMA_NONE      UINT8_MAX
#define RDMA_NO_INLINE UINT32_MAX

/* Settings to choose before set-up. 0 (or false) selects the default. */
struct rdma_settings {
	unsigned int timeout_ms;      /* of each step and each local operation (default 5000) */
	unsigned int idle_timeout_ms; /* for a client or a message (default: no limit) */
	unsigned int spin_us;         /* RDMA_ADAPTIVE polls this long before it sleeps
				       * (default 50) */
	uint32_t send_depth;          /* outstanding operations (default 16) */
	uint32_t recv_depth;          /* outstanding receives (default 16) */
	uint32_t max_sge;             /* scatter/gather elements per request (default and
				       * minimum 2) */
	uint32_t max_inline;          /* bytes sent inline (default: what the device supports,
				       * up to 256), or RDMA_NO_INLINE */
	uint64_t max_message;         /* bytes, checked before connecting (default: unchecked) */
	uint8_t outstanding_reads;    /* reads and atomics in flight (default: what the device
				       * supports, up to 16) */
	uint8_t ack_timeout;          /* 4.096 us * 2^n (default 14, 67 ms) */
	uint8_t retry_count;          /* without an ACK (default 6); with rdma_cm, a server
				       * uses its client's: rdma_accept(3) ignores it */
	uint8_t rnr_retry;            /* retries by the peer when no receive is posted here
				       * (default 7, unlimited; 6 with own_receives), or
				       * RDMA_NONE; for a manual queue pair, retries by this
				       * side */
	uint8_t min_rnr_timer;        /* delay between RNR retries (default 12, 0.64 ms) */
	bool huge_pages;              /* allocate the buffer from huge pages, or fail */
	bool own_receives;            /* the caller posts receives and polls their completions
				       * instead of rdma_prepare and rdma_recv */
	uint64_t reserved[8];         /* 0 */
};

/* The peer's buffer, for one-sided operations. */
struct rdma_remote {
	uint64_t address;
	uint64_t size;
	uint32_t rkey;
};

enum rdma_message_kind {
	RDMA_MESSAGE_DATA = 1,    /* rdma_send: length bytes are in buffer */
	RDMA_MESSAGE_WRITTEN = 2, /* rdma_notify_write: buffer was written to */
	RDMA_MESSAGE_READ = 3,    /* rdma_notify_read: buffer was read from */
};

struct rdma_message {
	enum rdma_message_kind kind;
	size_t length;
	size_t offset; /* in the receiver's buffer */
};

struct rdma_state;

struct rdma_context {
	/* Fields of the specification. The caller sets buffer_size (4096 if 0) and cq_notify
	 * before set-up. */
	struct rdma_event_channel *ec; /* server: connection requests; connections have
					* channels of their own */
	struct rdma_cm_id *listener;   /* server only */
	struct rdma_cm_id *conn;
	struct ibv_pd *pd;
	struct ibv_mr *mr; /* of buffer: the peer reads and writes it */
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	char *buffer;
	size_t buffer_size;
	struct rdma_cm_event *event; /* the last set-up event: an acknowledged copy, or NULL */
	int cq_notify;

	struct rdma_settings settings;

	/* Set by set-up. */
	uint16_t port;       /* of the server */
	char address[64];    /* the local address as text; "*" for all */
	uint32_t max_inline; /* inline limit of the queue pair */
	struct rdma_remote remote;

	/* The message that the last rdma_recv returned. */
	struct rdma_message received;
	/* Reported to the peer by the next rdma_notify_write and rdma_notify_read. rdma_write
	 * and rdma_read set them; a caller that posts work requests itself may set them, too.
	 * Such work must be unsignaled or complete before it calls an operation, which
	 * discards completions that are not its own. */
	struct rdma_message last_write;
	struct rdma_message last_read;

	char reason[256]; /* of the last failure */
	int code;         /* negative errno of the last call; 0 after success */
	struct rdma_state *state;
	uint64_t reserved[16];
};

/*
 * Listens on port (0: a free one, returned in sctx->port) on all addresses, or on one
 * address of ib_dev: a device name or one of its addresses as text. The reason
 * distinguishes a port in use, an unknown device, and a machine without RDMA. Releases
 * everything on failure.
 */
RDMA_API int rdma_setup_server(struct rdma_context *sctx, uint16_t port, const char *ib_dev);

/*
 * Waits for a client (without limit, or idle_timeout_ms), connects to it and posts a
 * receive. A client that is not verbmark or uses another version is rejected with a reason,
 * and the wait continues. A second call drops the current client and waits for the next
 * one. After a failure, including a client that did not complete its connection, the
 * context still listens and the function may be called again.
 */
RDMA_API int rdma_wait_for_client(struct rdma_context *sctx);

/*
 * Resolves host (a name, an IPv4 or an IPv6 address) and the route to it, within timeout_ms
 * each, and creates the resources. If a name has several addresses, the first reachable one
 * is used; they share the time limit. ib_dev binds to a device by its name or one of its
 * addresses; NULL uses the device that leads to host. Releases everything on failure.
 */
RDMA_API int rdma_setup_client(struct rdma_context *cctx, const char *host, uint16_t port,
			       const char *ib_dev);

/*
 * Connects to the server, whose buffer is in cctx->remote afterwards. After a failure, only
 * rdma_close may be called.
 */
RDMA_API int rdma_connect_server(struct rdma_context *cctx);

/*
 * Disconnects and releases everything, from any partially built state. A zeroed context is
 * fine, and so is a second call. Settings and an earlier reason are kept. Returns -1 if a
 * resource could not be released.
 */
RDMA_API int rdma_close(struct rdma_context *ctx);

/*
 * Sends length bytes of buffer and waits for the completion. They arrive in the peer's
 * buffer once it has posted a receive; see rdma_prepare.
 */
RDMA_API int rdma_send(struct rdma_context *ctx, size_t length);

/*
 * Posts a receive unless one is posted, and waits for a message or a notification;
 * ctx->received tells them apart. Stores its length in *length unless that is NULL.
 */
RDMA_API int rdma_recv(struct rdma_context *ctx, size_t *length);

/*
 * Posts the receive for the next message ahead of rdma_recv, unless one is posted or a
 * message has already arrived; from then on buffer may be overwritten. Call it before
 * rdma_send if the peer replies: a reply that finds no receive is delayed by some
 * milliseconds and fails after rnr_retry retries.
 */
RDMA_API int rdma_prepare(struct rdma_context *ctx);

/* Writes buffer[local_offset...] to the peer's buffer and waits for the completion. */
RDMA_API int rdma_write(struct rdma_context *ctx, size_t local_offset, size_t remote_offset,
			size_t length);

/* Reads the peer's buffer into buffer[local_offset...] and waits for the completion. */
RDMA_API int rdma_read(struct rdma_context *ctx, size_t local_offset, size_t remote_offset,
		       size_t length);

/* Notify the peer that the last write, or read, is done; its rdma_recv returns. */
RDMA_API int rdma_notify_write(struct rdma_context *ctx);
RDMA_API int rdma_notify_read(struct rdma_context *ctx);

/*
 * Ends every current and future wait of the context with that reason. Other threads may
 * call only this function, from set-up until rdma_close is called.
 */
RDMA_API void rdma_abort(struct rdma_context *ctx, const char *reason);

#ifdef __cplusplus
}
#endif

#endif
