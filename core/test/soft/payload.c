/* SPDX-License-Identifier: MIT */
/*
 * A preloaded library that checks data for programs that do not. After the program has initialized
 * its registered memory, and before anything is sent, fills the memory with the pattern of its side
 * (PAYLOAD_END is near or far). When a region is deregistered, or at exit, appends the length of
 * the longest run of the peer's pattern in the region to the file $PAYLOAD.
 */
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	REGIONS = 256,
	PERIOD = 95,
	/* Above the small numbers that programs count with. */
	NEAR = 0xa0,
	FAR = 0x20,
};

typedef struct ibv_mr *register_function(struct ibv_pd *pd, void *address, size_t length,
					 uint64_t iova, unsigned int access);

static struct region {
	struct ibv_mr *mr;
	bool is_filled;
} regions[REGIONS];

static unsigned char pattern(bool is_own, size_t offset)
{
	const char *end = getenv("PAYLOAD_END");
	bool is_near = end && !strcmp(end, "near");

	return (unsigned char)((is_near == is_own ? NEAR : FAR) + offset % PERIOD);
}

static void fill_all(void)
{
	for (struct region *region = regions; region < regions + REGIONS; region++) {
		unsigned char *bytes;

		if (!region->mr || region->is_filled)
			continue;
		bytes = region->mr->addr;
		for (size_t i = 0; i < region->mr->length; i++)
			bytes[i] = pattern(true, i);
		region->is_filled = true;
	}
}

static struct ibv_mr *keep(struct ibv_mr *mr)
{
	for (struct region *region = regions; mr && region < regions + REGIONS; region++) {
		if (region->mr)
			continue;
		region->mr = mr;
		region->is_filled = false;
		break;
	}
	return mr;
}

static size_t longest_run(const unsigned char *bytes, size_t length)
{
	unsigned char first = pattern(false, 0);
	size_t most = 0;
	size_t run = 0;

	for (size_t i = 0; i < length; i++) {
		bool is_theirs = bytes[i] >= first && bytes[i] < first + PERIOD;
		bool goes_on = i && run && bytes[i] == first + (bytes[i - 1] - first + 1) % PERIOD;

		run = !is_theirs ? 0 : goes_on ? run + 1 : 1;
		if (run > most)
			most = run;
	}
	return most;
}

static void report(struct region *region)
{
	const char *path = getenv("PAYLOAD");
	FILE *file = path ? fopen(path, "ae") : NULL;

	if (!file)
		abort();
	fprintf(file, "%zu\n", longest_run(region->mr->addr, region->mr->length));
	fclose(file);
	region->mr = NULL;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *address, size_t length, uint64_t iova,
				unsigned int access)
{
	register_function *real = (register_function *)dlsym(RTLD_NEXT, "ibv_reg_mr_iova2");

	return keep(real(pd, address, length, iova, access));
}

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *address, size_t length, int access)
{
	return ibv_reg_mr_iova2(pd, address, length, (uintptr_t)address, (unsigned int)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	int (*real)(struct ibv_mr *) = (int (*)(struct ibv_mr *))dlsym(RTLD_NEXT, "ibv_dereg_mr");

	for (struct region *region = regions; region < regions + REGIONS; region++)
		if (region->mr == mr)
			report(region);
	return real(mr);
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	int (*real)(struct ibv_qp *, struct ibv_qp_attr *, int) =
		(int (*)(struct ibv_qp *, struct ibv_qp_attr *, int))dlsym(RTLD_NEXT,
									   "ibv_modify_qp");

	if (mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RTR)
		fill_all();
	return real(qp, attr, mask);
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	int (*real)(struct rdma_cm_id *, struct rdma_conn_param *) =
		(int (*)(struct rdma_cm_id *, struct rdma_conn_param *))dlsym(RTLD_NEXT,
									      "rdma_connect");

	fill_all();
	return real(id, param);
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	int (*real)(struct rdma_cm_id *, struct rdma_conn_param *) =
		(int (*)(struct rdma_cm_id *, struct rdma_conn_param *))dlsym(RTLD_NEXT,
									      "rdma_accept");

	fill_all();
	return real(id, param);
}

/* Some programs do not deregister their memory. */
static void __attribute__((destructor)) end(void)
{
	for (struct region *region = regions; region < regions + REGIONS; region++)
		if (region->mr)
			report(region);
}
