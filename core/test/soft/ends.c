/* SPDX-License-Identifier: MIT */
/*
 * ends serve|connect poll|event [PORT]: server and client of a connection of core, with each
 * operation once. Failures are reported on standard error. If a client fails, the server waits for
 * the next one; it exits after the first success.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/rdma/rdma.h"

enum {
	LENGTH = 64,
	HALF = 2048,
	CLIENTS = 3,
};

static int talk_to_client(struct rdma_context *ctx)
{
	if (rdma_wait_for_client(ctx) || rdma_recv(ctx, NULL) || rdma_prepare(ctx) ||
	    rdma_send(ctx, LENGTH) || rdma_recv(ctx, NULL) || rdma_recv(ctx, NULL))
		return -1;
	return 0;
}

static int serve(struct rdma_context *ctx)
{
	int result = rdma_setup_server(ctx, 0, NULL);

	if (result)
		return result;
	printf("%u\n", ctx->port);
	fflush(stdout);
	for (int client = 1; (result = talk_to_client(ctx)) && client < CLIENTS; client++)
		fprintf(stderr, "ends: %s\n", ctx->reason);
	return result;
}

static int talk_to_server(struct rdma_context *ctx, uint16_t port)
{
	if (rdma_setup_client(ctx, "127.0.0.1", port, NULL) || rdma_connect_server(ctx) ||
	    rdma_prepare(ctx) || rdma_send(ctx, LENGTH) || rdma_recv(ctx, NULL) ||
	    rdma_write(ctx, 0, HALF, LENGTH) || rdma_notify_write(ctx) ||
	    rdma_read(ctx, 0, HALF, LENGTH) || rdma_notify_read(ctx))
		return -1;
	return 0;
}

int main(int argc, char **argv)
{
	struct rdma_context ctx = {
		.settings = {.timeout_ms = 1000, .idle_timeout_ms = 3000}
        };
	int result;

	if (argc < 3)
		return 2;
	ctx.cq_notify = strcmp(argv[2], "event") ? RDMA_POLL : RDMA_EVENT;
	if (argc == 3)
		result = serve(&ctx);
	else
		result = talk_to_server(&ctx, (uint16_t)atoi(argv[3]));
	if (result)
		fprintf(stderr, "ends: %s\n", ctx.reason);
	if (rdma_close(&ctx) && !result) {
		fprintf(stderr, "ends: %s\n", ctx.reason);
		result = -1;
	}
	return result ? 1 : 0;
}
