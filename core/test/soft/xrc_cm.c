/* SPDX-License-Identifier: MIT */
/* XRC through rdma_cm, as rdma_xserver and rdma_xclient of rdmacm-utils use it. */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/test/soft/stage.h"

struct server {
	struct rdma_cm_id *listener;
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	struct ibv_wc wc;
	uint32_t target; /* number of the queue pair */
	char text[16];
};

/* Adds an SRQ to the request and accepts with its number. Returns what failed, or NULL. */
static const char *accept_one(struct server *server)
{
	struct ibv_srq_init_attr init = {
		.attr = {.max_wr = 1, .max_sge = 1}
        };
	struct rdma_conn_param param = {.private_data_len = sizeof(uint32_t)};
	uint32_t number;

	if (rdma_get_request(server->listener, &server->id))
		return "rdma_get_request";
	server->target = server->id->qp->qp_num;
	if (rdma_create_srq(server->id, NULL, &init))
		return "rdma_create_srq";
	if (ibv_get_srq_num(server->id->srq, &number))
		return "ibv_get_srq_num";
	server->mr = rdma_reg_msgs(server->id, server->text, sizeof(server->text));
	if (!server->mr)
		return "rdma_reg_msgs";
	if (rdma_post_recv(server->id, NULL, server->text, sizeof(server->text), server->mr))
		return "rdma_post_recv";
	number = htonl(number);
	param.private_data = &number;
	return rdma_accept(server->id, &param) ? "rdma_accept" : NULL;
}

static void *serve(void *argument)
{
	struct server *server = argument;
	const char *failed = accept_one(server);

	if (!failed && rdma_get_recv_comp(server->id, &server->wc) != 1)
		failed = "rdma_get_recv_comp";
	if (!failed && rdma_disconnect(server->id))
		failed = "rdma_disconnect";
	return (void *)(uintptr_t)failed;
}

static struct rdma_cm_id *open_end(enum ibv_qp_type type, int flags, const char *service)
{
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = 1,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = 16},
		.sq_sig_all = 1,
	};
	struct rdma_addrinfo hints = {
		.ai_flags = flags, .ai_port_space = RDMA_PS_IB, .ai_qp_type = (int)type};
	struct rdma_addrinfo *info;
	struct rdma_cm_id *id;

	assert_int_equal(rdma_getaddrinfo("127.0.0.1", service, &hints, &info), 0);
	assert_int_equal(rdma_create_ep(&id, info, NULL, &init), 0);
	rdma_freeaddrinfo(info);
	return id;
}

static void send_text(struct rdma_cm_id *id, const char *text, uint32_t number)
{
	struct ibv_sge sge = {.addr = (uintptr_t)text, .length = (uint32_t)strlen(text)};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_INLINE,
		.qp_type.xrc.remote_srqn = number,
	};
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	assert_int_equal(ibv_post_send(id->qp, &wr, &bad), 0);
	assert_int_equal(rdma_get_send_comp(id, &wc), 1);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
}

/* The SRQ outlives the queue pair of its identifier, whose completion queue it uses. */
static void test_endpoints(void **unused)
{
	struct server server = {.listener = open_end(IBV_QPT_XRC_RECV, RAI_PASSIVE, NULL)};
	struct rdma_cm_id *client;
	uint32_t number;
	char service[8];
	pthread_t thread;
	void *failed;

	assert_int_equal(rdma_listen(server.listener, 0), 0);
	assert_int_equal(pthread_create(&thread, NULL, serve, &server), 0);
	snprintf(service, sizeof(service), "%u", ntohs(rdma_get_src_port(server.listener)));
	client = open_end(IBV_QPT_XRC_SEND, 0, service);
	assert_int_equal(client->qp->qp_type, IBV_QPT_XRC_SEND);
	assert_int_equal(rdma_connect(client, NULL), 0);
	memcpy(&number, client->event->param.conn.private_data, sizeof(number));
	send_text(client, "by rdma_cm", ntohl(number));
	assert_int_equal(rdma_disconnect(client), 0);
	assert_int_equal(pthread_join(thread, &failed), 0);
	if (failed)
		fail_msg("%s failed", (const char *)failed);
	assert_int_equal(server.wc.status, IBV_WC_SUCCESS);
	assert_int_equal(server.wc.qp_num, server.target);
	assert_string_equal(server.text, "by rdma_cm");
	rdma_destroy_ep(client);
	assert_int_equal(rdma_dereg_mr(server.mr), 0);
	rdma_destroy_qp(server.id);
	assert_non_null(server.id->recv_cq);
	rdma_destroy_srq(server.id);
	assert_null(server.id->recv_cq);
	rdma_destroy_ep(server.id);
	rdma_destroy_ep(server.listener);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_endpoints),
	};

	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
