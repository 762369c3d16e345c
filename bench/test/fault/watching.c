/* SPDX-License-Identifier: MIT */
/*
 * Preloaded in front of libibverbs without the program's knowledge. Appends JSON objects, one per
 * line, to the file that WATCHED names: the device's attributes of each queue pair when it
 * becomes ready to send, the access rights of each memory region and, at exit, the number of calls
 * that made the kernel send. Service level and type of service are those that the program passed,
 * because Soft-RoCE does not keep the service level.
 */
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <inttypes.h>
#include <rdma/ib_user_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QUERIED                                                                         \
	(IBV_QP_CAP | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | \
	 IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC)

typedef int modify_function(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
typedef struct ibv_mr *register_function(struct ibv_pd *pd, void *address, size_t length,
					 uint64_t iova, unsigned int access);
typedef ssize_t write_function(int fd, const void *bytes, size_t size);

static uint64_t posts;
static unsigned int sl;
static unsigned int tos;
static unsigned int flow_label;
static unsigned int hop_limit;

static void record(const char *line)
{
	FILE *file = fopen(getenv("WATCHED"), "ae");

	if (!file)
		abort();
	fputs(line, file);
	fclose(file);
}

static void describe(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr seen;
	char line[512];

	if (ibv_query_qp(qp, &seen, QUERIED, &init))
		abort();
	snprintf(line, sizeof(line),
		 "{\"mtu\": %d, \"timeout\": %u, \"retries\": %u, \"rnr_retries\": %u, "
		 "\"reads\": %u, \"remote_reads\": %u, \"sl\": %u, \"tos\": %u, "
		 "\"flow_label\": %u, \"hop_limit\": %u, \"pkey_index\": %u, "
		 "\"inline\": %u, \"srq\": %s}\n",
		 128 << seen.path_mtu, seen.timeout, seen.retry_cnt, seen.rnr_retry,
		 seen.max_rd_atomic, seen.max_dest_rd_atomic, sl, tos, flow_label, hop_limit,
		 seen.pkey_index, seen.cap.max_inline_data, init.srq ? "true" : "false");
	record(line);
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	modify_function *real = (modify_function *)dlsym(RTLD_NEXT, "ibv_modify_qp");
	int code = real(qp, attr, mask);

	if (mask & IBV_QP_AV) {
		sl = attr->ah_attr.sl;
		tos = attr->ah_attr.grh.traffic_class;
		flow_label = attr->ah_attr.grh.flow_label;
		hop_limit = attr->ah_attr.grh.hop_limit;
	}
	if (!code && mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RTS)
		describe(qp);
	return code;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *address, size_t length, uint64_t iova,
				unsigned int access)
{
	register_function *real = (register_function *)dlsym(RTLD_NEXT, "ibv_reg_mr_iova2");
	char line[64];

	snprintf(line, sizeof(line), "{\"access\": %u}\n", access);
	record(line);
	return real(pd, address, length, iova, access);
}

/* Counts the calls with which the Soft-RoCE provider tells the kernel to send. */
ssize_t write(int fd, const void *bytes, size_t size)
{
	static write_function *real;
	uint32_t command = 0;

	if (!real)
		real = (write_function *)dlsym(RTLD_NEXT, "write");
	if (size >= sizeof(struct ib_uverbs_cmd_hdr))
		memcpy(&command, bytes, sizeof(command));
	posts += command == IB_USER_VERBS_CMD_POST_SEND;
	return real(fd, bytes, size);
}

static void __attribute__((destructor)) end(void)
{
	char line[64];

	snprintf(line, sizeof(line), "{\"posts\": %" PRIu64 "}\n", posts);
	record(line);
}
