/* SPDX-License-Identifier: MIT */
/*
 * RDMA between two ends: a context, the calls that connect it, and operations
 * that block. A context starts zeroed, with its settings filled in; one thread
 * uses it at a time. Every function returns 0, or -1 with a sentence in
 * context.reason. Nothing is printed. What ends a connection (a completion that
 * fails, a deadline of an own operation, the other end's going) does so for good: all
 * operations fail with the same reason until rdma_close. What is refused beforehand
 * (a range, a size) and an idle_timeout_ms (code -ETIMEDOUT) leave it as it was.
 *
 * A thread of the library's own watches all connections of the process while there
 * are any. It reads the asynchronous events of their devices: a program with queue
 * pairs of its own on the same rdma_cm device does not get them.
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

/* The values of cq_notify: how this end waits for completions. */
enum rdma_wait_mode {
	RDMA_POLL = 0,
	RDMA_EVENT = 1,
	RDMA_ADAPTIVE = 2, /* polls for settings.spin_us, then sleeps */
};

/* For settings whose 0 means the default: really none. */
#define RDMA_NONE      UINT8_MAX
#define RDMA_NO_INLINE UINT32_MAX

/* What both ends may choose before set-up. 0 (or false) is the default. */
struct rdma_settings {
	unsigned int timeout_ms;      /* of each step and each own operation: 5000 */
	unsigned int idle_timeout_ms; /* of waiting for a client or a message: no limit */
	unsigned int spin_us;         /* RDMA_ADAPTIVE polls so long before it sleeps: 50 */
	uint32_t send_depth;          /* outstanding operations: 16 */
	uint32_t recv_depth;          /* receives that can be posted: 16 */
	uint32_t max_sge;             /* pieces of one request: 2, which is the least */
	uint32_t max_inline;          /* bytes sent inline: what the device takes, to 256;
				       * RDMA_NO_INLINE */
	uint64_t max_message;         /* bytes, checked before connecting: not checked */
	uint8_t outstanding_reads;    /* reads and atomics under way: what it takes, to 16 */
	uint8_t ack_timeout;          /* 4.096 us * 2^n for an acknowledgement: 14, 67 ms */
	uint8_t retry_count;          /* without an acknowledgement: 6; by rdma_cm a server
				       * has its client's: rdma_accept(3) ignores it */
	uint8_t rnr_retry;            /* by the other end, of what finds no receive here: 7,
				       * for ever; 6 with own_receives; RDMA_NONE; of a pair
				       * by hand what this end retries itself */
	uint8_t min_rnr_timer;        /* between these: 12, which is 0.64 ms */
	bool huge_pages;              /* the buffer comes from huge pages, or not at all */
	bool own_receives;            /* the caller posts receives and takes their completions:
				       * rdma_prepare and rdma_recv are not for this */
};

/* The other end's buffer, for one-sided operations. */
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
	size_t offset; /* in the buffer of the end that receives this */
};

struct rdma_state;

struct rdma_context {
	/* The specification's fields. buffer_size (4096 if 0) and cq_notify are set by
	 * the caller before set-up. */
	struct rdma_event_channel
		*ec; /* a server's: connection requests; what follows is not there */
	struct rdma_cm_id *listener; /* server only */
	struct rdma_cm_id *conn;
	struct ibv_pd *pd;
	struct ibv_mr *mr; /* of buffer: the other end reads and writes it */
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	char *buffer;
	size_t buffer_size;
	struct rdma_cm_event *event; /* the last one of set-up: a copy, acknowledged; NULL: none */
	int cq_notify;

	struct rdma_settings settings;

	/* What set-up found. */
	uint16_t port;       /* that the server listens on */
	char address[64];    /* that this end is bound to, as text; "*" for all */
	uint32_t max_inline; /* bytes that the queue pair takes inline */
	struct rdma_remote remote;

	/* What the last rdma_recv got. */
	struct rdma_message received;
	/* What the next rdma_notify_write and rdma_notify_read will tell the other end:
	 * rdma_write and rdma_read fill them in; a caller that posts itself may. Its work
	 * is unsignalled, or complete, when it calls an operation: completions that are
	 * not the operation's are passed by. */
	struct rdma_message last_write;
	struct rdma_message last_read;

	char reason[256]; /* of the last failure, as a sentence */
	int code;         /* the same as a negative errno; 0 after a success */
	struct rdma_state *state;
};

/*
 * Listens on port (0: a free one, told in sctx->port) on all addresses, or on one of
 * ib_dev: a device by its name, or one of its addresses as text. A port in use, a
 * device that is not there and a machine without RDMA are each told as such. After a
 * failure nothing is held any more.
 */
RDMA_API int rdma_setup_server(struct rdma_context *sctx, uint16_t port, const char *ib_dev);

/*
 * Waits for a client (for ever, or idle_timeout_ms), connects to it and prepares
 * a receive. One that is not ours, or speaks another version, is rejected with
 * the reason, and the wait goes on. Called again, it drops the client that there
 * was and takes the next one. After a failure, that of a client to complete its
 * connection among them, it still listens and may be called again.
 */
RDMA_API int rdma_wait_for_client(struct rdma_context *sctx);

/*
 * Resolves host (a name, an IPv4 or an IPv6 address) and the route to it, within
 * timeout_ms each, and makes the resources. Of a name with several addresses the first
 * that leads anywhere is taken; each has its share of the time. ib_dev binds to that device, or to that
 * address of one; NULL takes what the host's address implies. After a failure nothing
 * is held any more.
 */
RDMA_API int rdma_setup_client(struct rdma_context *cctx, const char *host, uint16_t port,
			       const char *ib_dev);

/*
 * Connects. The other end's buffer is in cctx->remote afterwards. After a failure
 * only rdma_close is of use.
 */
RDMA_API int rdma_connect_server(struct rdma_context *cctx);

/*
 * Disconnects and releases everything, in the order in which it must go, from any
 * half-built state; a zeroed context is fine, and so is a second call. Settings
 * stay, and so does a reason. Returns -1 if something refused to go.
 */
RDMA_API int rdma_close(struct rdma_context *ctx);

/*
 * Sends length bytes of buffer and waits for the completion. They land in the
 * other end's buffer when it has a receive prepared: see rdma_prepare.
 */
RDMA_API int rdma_send(struct rdma_context *ctx, size_t length);

/*
 * Prepares a receive unless there is one, and waits for a message or a
 * notification: ctx->received says which. *length (NULL is allowed) is its length.
 */
RDMA_API int rdma_recv(struct rdma_context *ctx, size_t *length);

/*
 * Prepares the receive for the next message ahead of rdma_recv, unless there is one or
 * a message has come already: from here on buffer may be overwritten. Who asks and
 * waits for the answer calls it before rdma_send: an answer that finds no receive is
 * held back by the other end for some milliseconds, and fails after rnr_retry tries.
 */
RDMA_API int rdma_prepare(struct rdma_context *ctx);

/* Writes buffer[local_offset...] into the other end's buffer and waits. */
RDMA_API int rdma_write(struct rdma_context *ctx, size_t local_offset, size_t remote_offset,
			size_t length);

/* Reads the other end's buffer into buffer[local_offset...] and waits. */
RDMA_API int rdma_read(struct rdma_context *ctx, size_t local_offset, size_t remote_offset,
		       size_t length);

/* Tell the other end that the last write, or read, is done; its rdma_recv returns. */
RDMA_API int rdma_notify_write(struct rdma_context *ctx);
RDMA_API int rdma_notify_read(struct rdma_context *ctx);

/*
 * Ends every wait of the context, present and to come, with that reason. The only
 * function that other threads may call: from when the context is set up until
 * rdma_close is called.
 */
RDMA_API void rdma_abort(struct rdma_context *ctx, const char *reason);

#ifdef __cplusplus
}
#endif

#endif
