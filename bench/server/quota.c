/* SPDX-License-Identifier: MIT */
#include "bench/server/quota.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench/cli/value.h"
#include "bench/client/pacing.h"
#include "bench/lane/lane.h"
#include "bench/plan/rules.h"
#include "core/base/cgroup.h"
#include "core/base/free_memory.h"
#include "core/base/hist.h"
#include "core/base/sysfs.h"
#include "reports/result/rate_windows.h"

/*
 * Of an entry of a queue without its pieces, and of a completion: the most that providers
 * take. Queues are powers of two, and of soft0 as long again.
 */
#define SEND_BYTES       192
#define RECEIVE_BYTES    64
#define COMPLETION_BYTES 128
#define QUEUE_TIMES      2
/* A thread with its lane, and windows where a server's keeps when messages came or went. */
#define LANE_BYTES (128U << 10)
/* What a client's thread sees, which is gathered in as much again. */
#define SEEN_BYTES (2 * sizeof(struct hist) + sizeof(struct rate_windows))
/* A queue pair, its connection, and what the library keeps of both. */
#define PAIR_BYTES (16U << 10)
/* What the provider itself takes inline where nobody asks for less. */
#define INLINE_BYTES 256
/* A device's table of a region's pages has some bytes for each. */
#define PAGE_BYTES 16

/* Both ends of a connection that rdma_cm makes, the one that listens among them. */
#define CONNECTED_DESCRIPTORS 2
/* Descriptors that clients, devices and the server itself have. */
#define OWN_DESCRIPTORS 256
/* Threads that the server itself has, of the pool and of devices among them, and some to spare. */
#define OWN_THREADS 32

#define TIME_MS  (24U * 3600 * 1000)
#define PAUSE_MS (5U * 60 * 1000)

static uint64_t limit_of(int kind)
{
	struct rlimit limit;

	return getrlimit(kind, &limit) || limit.rlim_cur == RLIM_INFINITY ? UINT32_MAX
									  : limit.rlim_cur;
}

/* Three of four: others on this machine need some, and they are not free at once. */
static uint64_t count_ports(void)
{
	unsigned int low = 32768;
	unsigned int high = 60999;
	char text[SYSFS_TEXT];

	if (sysfs_line("", text, sizeof(text), "/proc/sys/net/ipv4/ip_local_port_range"))
		sscanf(text, "%u %u", &low, &high);
	return high > low ? (uint64_t)(high - low + 1) * 3 / 4 : 1;
}

/* Each has a port of its own to listen on. */
static uint64_t count_connected(void)
{
	uint64_t descriptors = limit_of(RLIMIT_NOFILE);
	uint64_t own = descriptors / 4 < OWN_DESCRIPTORS ? descriptors / 4 : OWN_DESCRIPTORS;
	uint64_t pairs = (descriptors - own) / CONNECTED_DESCRIPTORS;
	uint64_t ports = count_ports();

	return pairs < ports ? pairs : ports;
}

/* Without a number nothing is known of the machine. */
static uint64_t half_of_memory(const char *root)
{
	uint64_t most = free_memory_most(root);

	return most == UINT64_MAX ? 1U << 30 : most / 2;
}

void quota_init(struct quota *quota, const char *root)
{
	*quota = (struct quota){
		.clients = 64,
		.queue_pairs = RULES_QUEUE_PAIRS,
		.message_bytes = parameter_find("size")->most,
		.memory = half_of_memory(root),
		.connected = count_connected(),
		.threads = UINT32_MAX,
		.time_ms = TIME_MS,
		.pause_ms = PAUSE_MS,
	};
}

/*
 * Of a service's, or a container's, own: each client that is served has a thread before its case
 * has others, and one more for a loop of it that is alone. So has who knocks, or has been told to
 * go, the first.
 */
static uint64_t count_tasks(const char *root, uint64_t clients)
{
	uint64_t left = cgroup_limit(root, CGROUP_TASKS).left;
	uint64_t others = 2 * clients + 2ULL * QUOTA_STRANGERS + OWN_THREADS;

	if (left == UINT64_MAX)
		return left;
	return clients + (left > others ? left - others : 0);
}

/* Half of what this user may have; root has no limit but that of the control group. */
void quota_find_threads(struct quota *quota, const char *root)
{
	uint64_t of_user = geteuid() ? limit_of(RLIMIT_NPROC) / 2 : UINT32_MAX;
	uint64_t of_group = count_tasks(root, quota->clients);
	uint64_t most = of_user < of_group ? of_user : of_group;

	quota->threads = most ? most : 1;
}

int quota_enter(struct quota *quota, struct error *error)
{
	unsigned int before = atomic_fetch_add(&quota->served, 1);

	if (before < quota->clients)
		return 0;
	quota_leave(quota);
	return error_set(error, -EBUSY,
			 "%u %s being served, which is all it takes: come back later, or raise "
			 "'serve --max-clients' there",
			 quota->clients, quota->clients == 1 ? "client is" : "clients are");
}

void quota_leave(struct quota *quota)
{
	atomic_fetch_sub(&quota->served, 1);
}

/* Adds count * each. False: that is more than there are numbers. */
static bool quota_add(uint64_t *sum, uint64_t count, uint64_t each)
{
	uint64_t product;

	return !__builtin_mul_overflow(count, each, &product) &&
	       !__builtin_add_overflow(*sum, product, sum);
}

static uint64_t entries(uint64_t depth)
{
	uint64_t count = 1;

	while (count < depth && count < 1ULL << 62)
		count *= 2;
	return QUEUE_TIMES * count;
}

/* A region is as large as its pages are. */
static uint64_t region_bytes(const struct parameters *p, uint64_t wanted)
{
	uint64_t page = p->hugepages ? free_memory_info("", "Hugepagesize") << 10
				     : (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t pages = page ? wanted / page + 1 : 0;

	return pages * (page + PAGE_BYTES);
}

/* Requests that are posted at once are kept ready. */
static uint64_t list_bytes(const struct parameters *p)
{
	uint64_t each =
		sizeof(struct post_work) + sizeof(struct ibv_send_wr) + sizeof(struct ibv_recv_wr);

	return p->post_list > 1 ? p->post_list * each : 0;
}

/* What is in it is bounded by the rules, so that no product of two is too large. */
static bool estimate(const struct protocol_case *wanted, bool is_server, uint64_t *bytes)
{
	const struct parameters *p = &wanted->parameters;
	const struct limits limits = lane_limits(p, &wanted->op->shape, is_server);
	uint64_t inlined = p->inline_size == PARAMETER_AUTO ? INLINE_BYTES : p->inline_size;
	uint64_t pieces = limits.sge * sizeof(struct ibv_sge);
	uint64_t pairs = limits.queue_pairs;
	uint64_t sends = entries(limits.send_depth) * (SEND_BYTES + pieces + inlined);
	uint64_t receives = limits.recv_depth ? entries(limits.recv_depth) : 0;
	uint64_t shared = limits.srqs ? entries(limits.srq_depth) : 0;

	*bytes = (uint64_t)pattern_lanes(p, is_server) * LANE_BYTES;
	if (!is_server)
		*bytes += (pattern_lanes(p, false) + 1) * SEEN_BYTES + sizeof(struct pacing);
	return quota_add(bytes, limits.regions, region_bytes(p, limits.memory_bytes)) &&
	       quota_add(bytes, pairs, PAIR_BYTES + sizeof(struct flow) + list_bytes(p)) &&
	       quota_add(bytes, pairs, sends + 2 * sizeof(uint64_t) * limits.send_depth) &&
	       quota_add(bytes, pairs, receives * (RECEIVE_BYTES + pieces)) &&
	       quota_add(bytes, limits.srqs, shared * (RECEIVE_BYTES + pieces)) &&
	       quota_add(bytes, limits.completion_queues,
			 entries(limits.cq_depth) * COMPLETION_BYTES);
}

static int check_case(const struct quota *quota, const struct protocol_case *wanted, bool is_server,
		      struct error *error)
{
	const struct parameters *p = &wanted->parameters;
	const struct operation_shape *shape = &wanted->op->shape;
	/* What has a size and is no message is memory, or is none of this end's. */
	bool has_messages = !shape->is_granted && !shape->is_call;
	bool has_regions = shape->registers && !is_server;
	uint64_t pairs = lane_limits(p, shape, is_server).queue_pairs;
	char asked[32];
	char most[32];

	if (pairs > quota->queue_pairs)
		return error_set(error, -EOPNOTSUPP,
				 "%" PRIu64 " queue pairs are above the %" PRIu64
				 " that this server gives a client: ask for fewer, or raise 'serve "
				 "--max-qps' there",
				 pairs, quota->queue_pairs);
	if ((!has_messages && !has_regions) || p->size <= quota->message_bytes)
		return 0;
	value_print_size(p->size, asked, sizeof(asked));
	value_print_size(quota->message_bytes, most, sizeof(most));
	return error_set(error, -EOPNOTSUPP,
			 "%s of %s are above the %s that this server takes: ask for smaller ones, "
			 "or raise 'serve --max-size' there",
			 has_messages ? "messages" : "regions", asked, most);
}

static uint64_t of_client(const struct quota *quota)
{
	uint64_t most = quota->client_memory;

	return most && most < quota->memory ? most : quota->memory;
}

/* Sums as people read them. */
static void print_memory(uint64_t bytes, char *text, size_t size)
{
	if (bytes < 1U << 20)
		value_print_size(bytes, text, size);
	else
		snprintf(text, size, "%" PRIu64 "m", bytes >> 20);
}

static int refuse_memory(const struct quota *quota, uint64_t wanted, struct error *error)
{
	bool is_own = of_client(quota) == quota->client_memory;
	char asked[32];
	char most[32];

	print_memory(wanted, asked, sizeof(asked));
	print_memory(of_client(quota), most, sizeof(most));
	return error_set(error, -EOPNOTSUPP,
			 "the case takes %s of memory, and this server gives %s%s: ask for smaller "
			 "messages, queues or fewer queue pairs, or raise 'serve --%s' there",
			 asked, is_own ? "a client " : "", most,
			 is_own ? "max-client-memory" : "max-memory");
}

/* By itself, with no other client there. */
static int check_sums(const struct quota *quota, const struct quota_share *wanted,
		      struct error *error)
{
	if (wanted->bytes > of_client(quota))
		return refuse_memory(quota, wanted->bytes, error);
	if (wanted->connected > quota->connected)
		return error_set(
			error, -EOPNOTSUPP,
			"%" PRIu64 " queue pairs are above the %" PRIu64
			" that this server has descriptors and ports for: ask for fewer, or for "
			"--connect qp, or raise LimitNOFILE and ip_local_port_range there",
			wanted->connected, quota->connected);
	if (wanted->threads > quota->threads)
		return error_set(
			error, -EOPNOTSUPP,
			"%" PRIu64 " threads are above the %" PRIu64
			" that this server may have: ask for fewer, or raise LimitNPROC and TasksMax "
			"there",
			wanted->threads, quota->threads);
	return 0;
}

/* Adds to a sum; false: it would be above the most, of which *left is left. */
static bool add_to(atomic_uint_least64_t *sum, uint64_t most, uint64_t wanted, uint64_t *left)
{
	uint_least64_t before = atomic_load(sum);

	do {
		*left = most - before;
		if (wanted > *left)
			return false;
	} while (!atomic_compare_exchange_weak(sum, &before, before + wanted));
	return true;
}

/* own: what who asks has already. */
static int take_memory(struct quota *quota, uint64_t bytes, uint64_t own, struct error *error)
{
	uint64_t left;
	char text[32];

	if (add_to(&quota->taken, quota->memory, bytes, &left))
		return 0;
	print_memory(left + own, text, sizeof(text));
	return error_set(error, -EBUSY,
			 "other clients have left %s of this server's memory: come back later, or "
			 "raise 'serve --max-memory' there",
			 text);
}

static int take_others(struct quota *quota, const struct quota_share *wanted,
		       struct quota_share *taken, struct error *error)
{
	uint64_t left;

	if (!add_to(&quota->n_connected, quota->connected, wanted->connected, &left))
		return error_set(
			error, -EBUSY,
			"other clients have left descriptors and ports for %" PRIu64
			" queue pairs of this server: come back later, or raise LimitNOFILE "
			"and ip_local_port_range there",
			left);
	taken->connected = wanted->connected;
	if (!add_to(&quota->n_threads, quota->threads, wanted->threads, &left))
		return error_set(error, -EBUSY,
				 "other clients have left %" PRIu64 " threads of this server: come "
				 "back later, or raise LimitNPROC and TasksMax there",
				 left);
	taken->threads = wanted->threads;
	return 0;
}

static struct quota_share share_of(const struct protocol_case *wanted, bool is_server)
{
	const struct parameters *p = &wanted->parameters;
	struct quota_share share = {.threads = pattern_lanes(p, is_server)};

	if (p->connect != CONNECT_QP)
		share.connected = lane_limits(p, &wanted->op->shape, is_server).queue_pairs;
	if (!estimate(wanted, is_server, &share.bytes))
		share.bytes = UINT64_MAX;
	return share;
}

uint64_t quota_bytes(const struct protocol_case *wanted, bool is_server)
{
	return share_of(wanted, is_server).bytes;
}

int quota_take_more(struct quota *quota, const struct protocol_case *wanted, bool is_server,
		    struct quota_share *taken, struct error *error)
{
	const struct quota_share share = share_of(wanted, is_server);
	uint64_t before = taken->bytes;
	uint64_t more = share.bytes > before ? share.bytes - before : 0;
	int code = check_case(quota, wanted, is_server, error);

	if (!code)
		code = check_sums(quota, &share, error);
	if (!code)
		code = take_memory(quota, more, before, error);
	if (code)
		return code;
	taken->bytes += more;
	code = take_others(quota, &share, taken, error);
	if (code)
		quota_keep(quota, taken, before);
	return code;
}

int quota_take(struct quota *quota, const struct protocol_case *wanted, bool is_server,
	       struct quota_share *taken, struct error *error)
{
	*taken = (struct quota_share){0};
	return quota_take_more(quota, wanted, is_server, taken, error);
}

void quota_keep(struct quota *quota, struct quota_share *taken, uint64_t kept)
{
	atomic_fetch_sub(&quota->n_connected, taken->connected);
	atomic_fetch_sub(&quota->n_threads, taken->threads);
	taken->connected = taken->threads = 0;
	if (kept >= taken->bytes)
		return;
	atomic_fetch_sub(&quota->taken, taken->bytes - kept);
	taken->bytes = kept;
}

void quota_give(struct quota *quota, struct quota_share *taken)
{
	quota_keep(quota, taken, 0);
}

const char *quota_parse_clients(const char *text, void *field)
{
	uint64_t count;

	if (!value_count(text, 1, QUOTA_CLIENTS_MOST, &count))
		return "is not from 1 to 4096";
	*(unsigned int *)field = (unsigned int)count;
	return NULL;
}

const char *quota_parse_queue_pairs(const char *text, void *field)
{
	return value_count(text, 1, UINT32_MAX, field) ? NULL : "is not a number above 0";
}

const char *quota_parse_size(const char *text, void *field)
{
	uint64_t bytes;

	if (!value_size(text, &bytes) || !bytes)
		return "is not a size above 0, such as 64k or 4g";
	*(uint64_t *)field = bytes;
	return NULL;
}

const char *quota_parse_time(const char *text, void *field)
{
	unsigned int ms;

	if (!value_duration(text, &ms) || !ms)
		return "is not a time above 0, such as 90s or 60m";
	*(unsigned int *)field = ms;
	return NULL;
}
