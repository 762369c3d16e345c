/* SPDX-License-Identifier: MIT */
/*
 * The behavior of hardware and of librdmacm that other programs rely on.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <rdma/rdma_cma.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/compiler.h"
#include "core/soft/files.h"
#include "core/test/soft/stage.h"

/* Vendors have the second bit of the first byte clear: it is locally administered. */
static void test_vendor(void **unused)
{
	struct ibv_context *context = stage_open_device();
	struct ibv_device_attr attr;

	assert_int_equal(ibv_query_device(context, &attr), 0);
	assert_int_equal(attr.vendor_id & ~UINT32_C(0xffffff), 0);
	assert_true(attr.vendor_id & UINT32_C(0x020000));
	assert_int_not_equal(attr.vendor_part_id, 0);
	assert_int_equal(ibv_close_device(context), 0);
}

/* rdma_getaddrinfo(3): without node and service, the hints contain the addresses. */
static void test_addresses_of_hints(void **unused)
{
	struct sockaddr_in from = {.sin_family = AF_INET, .sin_port = htons(1)};
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(2)};
	struct rdma_addrinfo hints = {
		.ai_flags = RAI_PASSIVE,
		.ai_family = AF_INET,
		.ai_port_space = RDMA_PS_UDP,
		.ai_src_addr = (struct sockaddr *)&from,
		.ai_src_len = sizeof(from),
		.ai_dst_addr = (struct sockaddr *)&to,
		.ai_dst_len = sizeof(to),
	};
	struct rdma_addrinfo *info = NULL;

	assert_int_equal(rdma_getaddrinfo(NULL, NULL, &hints, &info), 0);
	assert_int_equal(info->ai_flags, RAI_PASSIVE);
	assert_int_equal(info->ai_family, AF_INET);
	assert_int_equal(info->ai_port_space, RDMA_PS_UDP);
	assert_int_equal(info->ai_src_len, sizeof(from));
	assert_memory_equal(info->ai_src_addr, &from, sizeof(from));
	assert_int_equal(info->ai_dst_len, sizeof(to));
	assert_memory_equal(info->ai_dst_addr, &to, sizeof(to));
	assert_null(info->ai_next);
	rdma_freeaddrinfo(info);
	assert_int_equal(rdma_getaddrinfo(NULL, NULL, NULL, &info), -1);
	assert_int_equal(errno, EINVAL);
}

/* Creates a queue pair with that mask, flags and capabilities, and returns the latter. */
static int create(struct stage *stage, uint64_t mask, uint32_t flags, struct ibv_qp_cap *cap)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = stage->end[0].cq,
		.recv_cq = stage->end[0].cq,
		.cap = *cap,
		.qp_type = IBV_QPT_RC,
		.comp_mask = (uint32_t)mask | IBV_QP_INIT_ATTR_PD,
		.pd = stage->pd,
		.create_flags = flags,
	};
	struct ibv_qp *qp = ibv_create_qp_ex(stage->context, &attr);

	if (!qp)
		return errno;
	*cap = attr.cap;
	return ibv_destroy_qp(qp);
}

static void test_create_flags(void **unused)
{
	struct ibv_qp_cap cap = {1, 1, 1, 1, 0};
	struct stage stage;

	stage_open(&stage, &(struct stage_ways){0});
	assert_int_equal(create(&stage, IBV_QP_INIT_ATTR_CREATE_FLAGS, 0, &cap), 0);
	assert_int_equal(create(&stage, IBV_QP_INIT_ATTR_CREATE_FLAGS,
				IBV_QP_CREATE_BLOCK_SELF_MCAST_LB, &cap),
			 EOPNOTSUPP);
	stage_close(&stage);
}

/* Inline data takes the place of the scatter/gather list, as on Soft-RoCE. */
static void test_inline_size_is_rounded_up(void **unused)
{
	static const uint32_t rows[][3] = {
		{1, 0,    16  },
                {1, 16,   16  },
                {1, 17,   32  },
                {4, 1,    64  },
                {1, 1024, 1024},
	};
	struct stage stage;

	stage_open(&stage, &(struct stage_ways){0});
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct ibv_qp_cap cap = {1, 1, rows[i][0], 1, rows[i][1]};

		assert_int_equal(create(&stage, 0, 0, &cap), 0);
		assert_int_equal(cap.max_inline_data, rows[i][2]);
	}
	stage_close(&stage);
}

/* The peer, which runs while a poll yields: posts a message to end[1]. */
static struct stage *yielding;

int sched_yield(void)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
	struct stage *stage = yielding;

	yielding = NULL;
	if (stage)
		assert_int_equal(stage_post(stage, &wr, 4), 0);
	return 0;
}

/*
 * A poll that yielded while the peer sent and disconnected must not miss the message: libfabric
 * would see the disconnect first, and close the connection without it.
 */
static void test_poll_looks_again_after_yielding(void **unused)
{
	struct stage stage;
	struct ibv_wc wc;
	int count = 0;

	stage_open(&stage, &(struct stage_ways){0});
	stage_receive(&stage, 4, 11);
	yielding = &stage;
	while (yielding)
		count = ibv_poll_cq(stage.end[1].cq, 1, &wc);
	assert_int_equal(count, 1);
	assert_int_equal(wc.wr_id, 11);
	stage_close(&stage);
}

static struct rdma_cm_event *take(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;

	assert_int_equal(rdma_get_cm_event(channel, &event), 0);
	assert_int_equal(event->event, type);
	return event;
}

static void pass(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	assert_int_equal(rdma_ack_cm_event(take(channel, type)), 0);
}

static struct rdma_cm_id *open_id(struct rdma_event_channel *channel)
{
	struct rdma_cm_id *id;

	assert_int_equal(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	return id;
}

/* Sends a request of a queue pair that the program manages, which has some ECE. */
static void request(struct rdma_event_channel *channel, struct rdma_cm_id *id,
		    struct sockaddr *address, struct ibv_ece *ece)
{
	struct rdma_conn_param param = {.qp_num = 99};

	assert_int_equal(rdma_resolve_addr(id, NULL, address, 1000), 0);
	pass(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	assert_int_equal(rdma_resolve_route(id, 1000), 0);
	pass(channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
	assert_int_equal(rdma_set_local_ece(id, ece), 0);
	assert_int_equal(rdma_connect(id, &param), 0);
}

static void assert_ece(struct rdma_cm_id *id, uint32_t vendor_id, uint32_t options)
{
	struct ibv_ece ece = {.comp_mask = 9};

	assert_int_equal(rdma_get_remote_ece(id, &ece), 0);
	assert_int_equal(ece.vendor_id, vendor_id);
	assert_int_equal(ece.options, options);
	assert_int_equal(ece.comp_mask, 0);
}

/* Programs with queue pairs of their own exchange ECE, and some require the call to succeed. */
static void test_ece(void **unused)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct ibv_ece ece = {.options = 5};
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *listener = open_id(channel);
	struct rdma_cm_id *client = open_id(channel);
	struct rdma_cm_event *event;
	struct rdma_cm_id *server;

	assert_int_equal(rdma_bind_addr(listener, (struct sockaddr *)&address), 0);
	assert_int_equal(rdma_listen(listener, 1), 0);
	address.sin_port = rdma_get_src_port(listener);
	assert_int_equal(rdma_set_local_ece(client, &ece), -1);
	assert_int_equal(errno, EINVAL);
	assert_ece(client, 0, 0);
	ece.vendor_id = 3;
	request(channel, client, (struct sockaddr *)&address, &ece);
	event = take(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	server = event->id;
	assert_int_equal(rdma_ack_cm_event(event), 0);
	assert_ece(server, 3, 5);
	assert_int_equal(rdma_reject_ece(server, NULL, 0), 0);
	event = take(channel, RDMA_CM_EVENT_REJECTED);
	assert_int_equal(event->status, 35); /* IBTA 12.6.7.2: vendor option not supported */
	assert_int_equal(rdma_ack_cm_event(event), 0);
	assert_int_equal(rdma_destroy_id(server), 0);
	assert_int_equal(rdma_destroy_id(client), 0);
	assert_int_equal(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(channel);
}

static void assert_file(const char *path, const char *text)
{
	char found[64] = "";
	int fd = soft_files_open(path, O_RDONLY);

	assert_true(fd >= 0);
	assert_true(read(fd, found, sizeof(found) - 1) >= 0);
	assert_string_equal(found, text);
	close(fd);
}

/* UCX takes a device only if it finds these, and reads the types of GIDs. */
static void test_files(void **unused)
{
	static const char gid[] = "/sys/class/infiniband/soft0/ports/1/gid_attrs/";
	struct ibv_context *context = stage_open_device();
	struct ibv_gid_entry entry;
	char interface[IF_NAMESIZE + 1];
	struct stat status;
	char path[80];

	assert_int_equal(ibv_query_gid_ex(context, 1, 0, &entry, 0), 0);
	snprintf(path, sizeof(path), "%stypes/0", gid);
	assert_file(path, "RoCE v2\n");
	assert_non_null(if_indextoname(entry.ndev_ifindex, interface));
	snprintf(path, sizeof(path), "%sndevs/0", gid);
	assert_file(path, strcat(interface, "\n"));
	snprintf(path, sizeof(path), "%stypes/999", gid);
	assert_int_equal(soft_files_open(path, O_RDONLY), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(soft_files_stat("/dev/infiniband/soft0", &status), 0);
	assert_true(S_ISCHR(status.st_mode));
	assert_int_equal(soft_files_access("/dev/infiniband/soft0", R_OK | W_OK), 0);
	assert_int_equal(soft_files_access("/dev/infiniband/soft1", F_OK), -1);
	assert_int_equal(ibv_close_device(context), 0);
}

static unsigned long long read_counter(int fd)
{
	char text[32] = "";

	assert_true(soft_files_read(fd, text, sizeof(text) - 1) > 0);
	assert_int_equal(soft_files_read(fd, text + 31, 1), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return strtoull(text, NULL, 10);
}

static void check_path(const char *path, const char *real)
{
	char *found = soft_files_realpath(path, NULL);

	assert_string_equal(found, real);
	free(found);
}

/* perftest resolves the paths, keeps the files open and reads them again. The path MTU is 1024. */
static void test_counters(void **unused)
{
	static const struct {
		uint32_t length;
		unsigned int packets;
	} rows[] = {
		{8,    1},
                {1024, 1},
                {5000, 5}
        };
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED};
	unsigned long long before;
	struct stage stage;
	int sent;
	int xmit;

	stage_open(&stage, &(struct stage_ways){0});
	wr.wr.rdma.remote_addr = (uintptr_t)stage.end[1].buffer;
	wr.wr.rdma.rkey = stage.mr->rkey;
	sent = soft_files_open("/sys/class/infiniband/soft0/ports/1/hw_counters/sent_pkts",
			       O_RDONLY);
	xmit = soft_files_open("/sys/class/infiniband/soft0/ports/1/counters/port_xmit_packets",
			       O_RDONLY);
	before = read_counter(sent);
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		assert_int_equal(stage_post(&stage, &wr, rows[i].length), 0);
		stage_await(stage.end[0].cq);
		before += rows[i].packets;
		assert_int_equal(read_counter(sent), before);
		assert_int_equal(read_counter(xmit), before);
	}
	close(sent);
	close(xmit);
	assert_int_equal(
		soft_files_open("/sys/class/infiniband/soft0/ports/1/counters/x", O_RDONLY), -1);
	assert_int_equal(soft_files_read(sent, &before, 1), -1);
	assert_int_equal(errno, EBADF);
	check_path("/sys/class/infiniband/soft0/ports/1/hw_counters/sent_pkts",
		   "/sys/class/infiniband/soft0/ports/1/hw_counters/sent_pkts");
	check_path("/proc/../sys", "/sys");
	stage_close(&stage);
}

/* The kernel opens all other files, with the program's mode. */
static void test_other_files(void **unused)
{
	mode_t before = umask(0);
	struct stat status;
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/file", stage_directory());
	fd = soft_files_open(path, O_CREAT | O_EXCL | O_WRONLY, 0640);
	assert_true(fd >= 0);
	close(fd);
	umask(before);
	assert_int_equal(soft_files_stat(path, &status), 0);
	assert_int_equal(status.st_mode, S_IFREG | 0640);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(soft_files_stat(path, &status), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(soft_files_open(NULL, O_RDONLY), -1);
	assert_int_equal(errno, EFAULT);
}

static void send_datagram(struct stage *stage, const union ibv_gid *gid, int index)
{
	struct ibv_ah_attr attr = {
		.is_global = 1,
		.port_num = 1,
		.grh = {.dgid = *gid, .sgid_index = (uint8_t)index},
	};
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud = {ibv_create_ah(stage->pd, &attr), stage->end[1].qp->qp_num, STAGE_QKEY},
	};

	assert_non_null(wr.wr.ud.ah);
	stage_receive(stage, 64, 1);
	assert_int_equal(stage_post(stage, &wr, 8), 0);
	assert_int_equal(stage_await(stage->end[0].cq).status, IBV_WC_SUCCESS);
	assert_int_equal(ibv_destroy_ah(wr.wr.ud.ah), 0);
}

/* mlx5 reports 1 for IPv6 and 2 for IPv4, and UCX drops datagrams of the wrong kind. */
static void test_service_level_is_kind_of_header(void **unused)
{
	static const union ibv_gid none;
	struct stage_ways ways = {.type = IBV_QPT_UD};
	union ibv_gid gid;
	struct stage stage;

	stage_open(&stage, &ways);
	for (int i = 0; !ibv_query_gid(stage.context, 1, i, &gid); i++) {
		bool is_v4 = IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)&gid);

		if (!memcmp(&gid, &none, sizeof(gid)))
			break;
		send_datagram(&stage, &gid, i);
		assert_int_equal(stage_await(stage.end[1].cq).sl, is_v4 ? 2 : 1);
	}
	stage_close(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vendor),
		cmocka_unit_test(test_addresses_of_hints),
		cmocka_unit_test(test_ece),
		cmocka_unit_test(test_create_flags),
		cmocka_unit_test(test_inline_size_is_rounded_up),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_other_files),
		cmocka_unit_test(test_service_level_is_kind_of_header),
		cmocka_unit_test(test_poll_looks_again_after_yielding),
	};

	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
