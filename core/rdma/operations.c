/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/rdma/context.h"
#include "core/rdma/settings.h"
#include "core/verbs/verbs.h"

/* While waiting for a message, probe the peer at this interval. */
#define PROBE_MS 1000

/* Records the error: the connection stays failed. */
static int fail(struct rdma_context *ctx, struct error *error)
{
	alarm_explain(context_alarm(ctx), error);
	if (!ctx->state->failed.code)
		ctx->state->failed = *error;
	return error->code;
}

static int usable(struct rdma_context *ctx, struct error *error)
{
	if (ctx->state && context_borrows(ctx))
		return error_set(
			error, -EINVAL,
			"this context shares its completion queue: its owner must post the work");
	if (!ctx->state || !ctx->state->connected)
		return error_set(error, -ENOTCONN, "this context is not connected");
	if (ctx->state->failed.code) {
		*error = ctx->state->failed;
		return error->code;
	}
	return 0;
}

static const char *work_name(uint64_t id)
{
	switch (id) {
	case CONTEXT_RECEIVE:
		return "receive";
	case CONTEXT_PROBE:
		return "probe of the peer";
	default:
		return "operation";
	}
}

/*
 * A dead peer process or a port that went down often shows up first as a failed completion:
 * give the watcher time to report the cause. A flush error alone does not reveal the cause.
 */
static int completion_failed(struct rdma_context *ctx, const struct ibv_wc *wc, struct error *error)
{
	struct alarm *alarm = context_alarm(ctx);
	struct error cause = {0};

	for (int i = 0; !alarm_raised(alarm) && i < 100; i++)
		nanosleep(&(struct timespec){.tv_nsec = NS_PER_MS}, NULL);
	if (alarm_raised(alarm))
		alarm_reason(alarm, &cause);
	if (cause.code && wc->status == IBV_WC_WR_FLUSH_ERR)
		return error_set(error, cause.code, "%s", cause.text);
	verbs_completion_error(error, work_name(wc->wr_id), wc);
	return cause.code ? error_append(error, "%s", cause.text) : error->code;
}

static bool within(size_t offset, size_t length, uint64_t size)
{
	return offset <= size && length <= size - offset;
}

/* A notification refers to the local buffer: reject one that exceeds it. */
static int read_message(struct rdma_context *ctx, uint32_t bytes, struct error *error)
{
	struct rdma_message *message = &ctx->state->message;
	struct context_slots *slots = (struct context_slots *)(void *)ctx->state->slots.cpu;
	int code = send_header_decode(message, slots->received, bytes, error);

	if (!code && !within(message->offset, message->length, ctx->buffer_size))
		return error_set(
			error, -EPROTO,
			"notification of %zu bytes at offset %zu exceeds the buffer of %zu "
			"bytes",
			message->length, message->offset, ctx->buffer_size);
	return code;
}

static int handle(struct rdma_context *ctx, const struct ibv_wc *wc, struct error *error)
{
	struct rdma_state *state = ctx->state;

	if (wc->status != IBV_WC_SUCCESS)
		return completion_failed(ctx, wc, error);
	if (wc->wr_id == CONTEXT_OPERATION)
		state->done = true;
	if (wc->wr_id == CONTEXT_PROBE)
		state->probing = false;
	if (wc->wr_id != CONTEXT_RECEIVE)
		return 0; /* discard a caller's own completion */
	state->prepared = false;
	state->arrived = true;
	return read_message(ctx, wc->byte_len, error);
}

/* Waits for one completion and handles it. Returns -ETIMEDOUT without setting the error. */
static int step(struct rdma_context *ctx, uint64_t deadline_ns, struct error *error)
{
	uint64_t now = clock_now_ns();
	uint64_t left = deadline_ns > now ? deadline_ns - now : 0;
	struct ibv_wc wc;
	int got = completion_wait(context_completion(ctx), 1, &wc, left, error);

	return got < 0 ? got : handle(ctx, &wc, error);
}

/* Posts a blocking operation on the path that suits the work request. */
static int post(struct rdma_context *ctx, struct post_work *work, enum post_operation operation)
{
	const struct post_queue *queue = &ctx->state->queue;
	enum post_path path = post_choose(queue, work);

	if (operation == POST_SEND)
		return post_send(queue, work, POST_SEND, path, IBV_SEND_SIGNALED);
	if (operation == POST_WRITE)
		return post_send(queue, work, POST_WRITE, path, IBV_SEND_SIGNALED);
	return post_send(queue, work, POST_READ, path, IBV_SEND_SIGNALED);
}

static int operate(struct rdma_context *ctx, struct post_work *work, enum post_operation operation,
		   const char *name)
{
	unsigned int timeout_ms = settings_timeout_ms(&ctx->settings);
	uint64_t deadline = clock_deadline(timeout_ms);
	struct rdma_state *state = ctx->state;
	struct error error = {0};
	int code;

	work->id = CONTEXT_OPERATION;
	state->done = false;
	/* Check here, too: an operation that completes at once never looks at the alarm. */
	if (alarm_raised(context_alarm(ctx)))
		code = alarm_reason(context_alarm(ctx), &error);
	else
		code = verbs_result(post(ctx, work, operation));
	if (code)
		error_set_errno(&error, code, "cannot post the work request");
	while (!code && !state->done)
		code = step(ctx, deadline, &error);
	if (code == -ETIMEDOUT)
		error_set(&error, code, "no completion within %u ms%s", timeout_ms,
			  operation == POST_SEND ? "; is the peer receiving?" : "");
	if (code) {
		error_wrap(&error, "%s", name);
		fail(ctx, &error);
	}
	return context_end(ctx, code, &error);
}

static int check_length(struct rdma_context *ctx, size_t length, size_t head, struct error *error)
{
	uint32_t longest = ctx->state->port.max_msg_sz;

	if (length + head > longest)
		return error_set(error, -EMSGSIZE,
				 "a message of %zu bytes exceeds the device's limit %zu", length,
				 longest - head);
	return 0;
}

/*
 * Sends a header followed by length bytes of buffer. Inline data is packed into one
 * element, since some providers mishandle inline lists: rdma-core's rxe used to count no
 * bytes.
 */
static int send_message(struct rdma_context *ctx, const struct rdma_message *message, size_t length,
			unsigned int flags, const char *name)
{
	struct rdma_state *state = ctx->state;
	struct context_slots *slots = (struct context_slots *)(void *)state->slots.cpu;
	struct post_work work;

	post_clear(&work);
	work.flags = flags;
	work.n_sges = length ? 2 : 1;
	work.sges[0] = (struct ibv_sge){.addr = (uintptr_t)slots->sent,
					.length = SEND_HEADER_SIZE,
					.lkey = state->slots_mr->lkey};
	work.sges[1] = (struct ibv_sge){
		.addr = (uintptr_t)ctx->buffer, .length = (uint32_t)length, .lkey = ctx->mr->lkey};
	send_header_encode(slots->sent, message);
	if (SEND_HEADER_SIZE + length <= ctx->max_inline && length <= sizeof(slots->packed)) {
		memory_read(&state->endpoint->memory, 0, slots->packed, length);
		work.sges[0].length += (uint32_t)length;
		work.n_sges = 1;
		work.flags |= IBV_SEND_INLINE;
	}
	return operate(ctx, &work, POST_SEND, name);
}

int rdma_send(struct rdma_context *ctx, size_t length)
{
	const struct rdma_message message = {.kind = RDMA_MESSAGE_DATA, .length = length};
	struct error error = {0};
	int code = usable(ctx, &error);

	if (!code && length > ctx->buffer_size)
		code = error_set(&error, -EMSGSIZE,
				 "send: %zu bytes exceed the buffer of %zu bytes", length,
				 ctx->buffer_size);
	if (!code && length > ctx->remote.size)
		code = error_set(&error, -EMSGSIZE,
				 "send: %zu bytes exceed the peer's buffer of %zu bytes", length,
				 (size_t)ctx->remote.size);
	if (!code)
		code = check_length(ctx, length, SEND_HEADER_SIZE, &error);
	if (code)
		return context_end(ctx, code, &error);
	return send_message(ctx, &message, length, 0, "send");
}

/* The bytes that a one-sided operation moves. */
struct range {
	size_t local_offset;
	size_t remote_offset;
	size_t length;
};

static int check_range(struct rdma_context *ctx, const struct range *range, struct error *error)
{
	if (!within(range->local_offset, range->length, ctx->buffer_size))
		return error_set(error, -ERANGE,
				 "%zu bytes at offset %zu exceed the buffer of %zu bytes",
				 range->length, range->local_offset, ctx->buffer_size);
	if (!within(range->remote_offset, range->length, ctx->remote.size))
		return error_set(error, -ERANGE,
				 "%zu bytes at offset %zu exceed the peer's buffer of %zu bytes",
				 range->length, range->remote_offset, (size_t)ctx->remote.size);
	return check_length(ctx, range->length, 0, error);
}

static int one_sided(struct rdma_context *ctx, const struct range *range,
		     enum post_operation operation, const char *name)
{
	struct error error = {0};
	int code = usable(ctx, &error);
	struct post_work work;

	post_clear(&work);
	work.remote = ctx->remote.address + range->remote_offset;
	work.rkey = ctx->remote.rkey;
	work.n_sges = range->length ? 1 : 0;
	if (!code) {
		code = check_range(ctx, range, &error);
		error_wrap(&error, "%s", name);
	}
	if (code)
		return context_end(ctx, code, &error);
	work.sges[0] = (struct ibv_sge){.addr = (uintptr_t)ctx->buffer + range->local_offset,
					.length = (uint32_t)range->length,
					.lkey = ctx->mr->lkey};
	if (operation == POST_WRITE && range->length && range->length <= ctx->max_inline)
		work.flags |= IBV_SEND_INLINE;
	return operate(ctx, &work, operation, name);
}

int rdma_write(struct rdma_context *ctx, size_t local_offset, size_t remote_offset, size_t length)
{
	const struct range range = {local_offset, remote_offset, length};

	if (one_sided(ctx, &range, POST_WRITE, "write"))
		return -1;
	ctx->last_write = (struct rdma_message){RDMA_MESSAGE_WRITTEN, length, remote_offset};
	return 0;
}

int rdma_read(struct rdma_context *ctx, size_t local_offset, size_t remote_offset, size_t length)
{
	const struct range range = {local_offset, remote_offset, length};

	if (one_sided(ctx, &range, POST_READ, "read"))
		return -1;
	ctx->last_read = (struct rdma_message){RDMA_MESSAGE_READ, length, remote_offset};
	return 0;
}

static int notify(struct rdma_context *ctx, struct rdma_message message, unsigned int flags,
		  const char *name)
{
	struct error error = {0};

	if (usable(ctx, &error))
		return context_end(ctx, error.code, &error);
	return send_message(ctx, &message, 0, flags, name);
}

int rdma_notify_write(struct rdma_context *ctx)
{
	struct rdma_message message = ctx->last_write;

	message.kind = RDMA_MESSAGE_WRITTEN;
	return notify(ctx, message, 0, "notify of a write");
}

int rdma_notify_read(struct rdma_context *ctx)
{
	struct rdma_message message = ctx->last_read;

	message.kind = RDMA_MESSAGE_READ;
	/* The fence waits for outstanding reads that the caller posted itself. */
	return notify(ctx, message, IBV_SEND_FENCE, "notify of a read");
}

/* With own_receives, the caller posts receives and interprets them. */
static int can_receive(struct rdma_context *ctx, struct error *error)
{
	int code = usable(ctx, error);

	if (!code && ctx->settings.own_receives)
		return error_set(error, -EINVAL,
				 "the caller posts this context's receives (own_receives)");
	return code;
}

int rdma_prepare(struct rdma_context *ctx)
{
	struct error error = {0};
	int code = can_receive(ctx, &error);

	if (!code) {
		code = context_prepare(ctx, &error);
		if (code)
			fail(ctx, &error);
	}
	return context_end(ctx, code, &error);
}

/*
 * Posts an empty write. If the peer's machine has vanished, the write is not acknowledged
 * and fails, which ends the wait.
 */
static int probe(struct rdma_context *ctx, struct error *error)
{
	struct post_work work = {
		.id = CONTEXT_PROBE, .remote = ctx->remote.address, .rkey = ctx->remote.rkey};
	int code;

	if (ctx->state->probing)
		return 0;
	code = verbs_result(post(ctx, &work, POST_WRITE));
	if (code)
		return error_set_errno(error, code, "cannot post a probe");
	ctx->state->probing = true;
	return 0;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Waits for a message. -ETIMEDOUT after idle_timeout_ms leaves the connection usable. */
static int wait_for_message(struct rdma_context *ctx, struct error *error)
{
	unsigned int idle_ms = ctx->settings.idle_timeout_ms;
	uint64_t deadline = idle_ms ? clock_deadline(idle_ms) : UINT64_MAX;
	uint64_t next_probe = clock_deadline(PROBE_MS);
	struct rdma_state *state = ctx->state;

	while (!state->arrived) {
		int code = step(ctx, earlier(deadline, next_probe), error);

		if (code == -ETIMEDOUT && clock_now_ns() >= deadline)
			return error_set(error, code, "no message within %u ms", idle_ms);
		if (code == -ETIMEDOUT) {
			next_probe = clock_deadline(PROBE_MS);
			code = probe(ctx, error);
		}
		if (code) {
			fail(ctx, error);
			return code;
		}
	}
	return 0;
}

int rdma_recv(struct rdma_context *ctx, size_t *length)
{
	struct error error = {0};
	int code = can_receive(ctx, &error);

	if (!code) {
		code = context_prepare(ctx, &error);
		if (code)
			fail(ctx, &error);
	}
	if (!code)
		code = wait_for_message(ctx, &error);
	if (code) {
		error_wrap(&error, "receive");
		return context_end(ctx, code, &error);
	}
	ctx->received = ctx->state->message;
	ctx->state->arrived = false;
	if (length)
		*length = ctx->received.length;
	return context_end(ctx, 0, &error);
}

void rdma_abort(struct rdma_context *ctx, const char *reason)
{
	alarm_raise(context_alarm(ctx), -ECANCELED, reason);
}

int rdma_close(struct rdma_context *ctx)
{
	struct error error = {0};
	int code = context_release(ctx);

	if (code)
		error_set_errno(&error, code, "cannot release everything");
	return context_end(ctx, code, &error);
}
