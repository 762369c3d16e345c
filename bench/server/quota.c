/* SPDX-License-Identifier: MIT */
#include "bench/server/quota.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench/cli/value.h"
#include "bench/lane/lane.h"
#include "bench/plan/memory_name.h"
#include "bench/plan/rules.h"
#include "core/base/cgroup.h"
#include "core/base/free_memory.h"
#include "core/base/sysfs.h"

/*
 * Bytes per queue entry, without its scatter/gather elements, and per completion: the most that
 * providers need. Queues are powers of two; soft0's are twice as long.
 */
#define SEND_BYTES       192
#define RECEIVE_BYTES    64
#define COMPLETION_BYTES 128
#define QUEUE_TIMES      2
/* A thread with its lane, and the windows in which a server thread counts messages. */
#define LANE_BYTES (128U << 10)
/* A queue pair, its connection, and the library's state of both. */
#define PAIR_BYTES (16U << 10)
/* Inline bytes that a provider chooses if nobody asks for a size. */
#define INLINE_BYTES 256
/* A device's translation table has a few bytes for each page of a region. */
#define PAGE_BYTES 16

/* Descriptors per rdma_cm connection, including its listener's. */
#define CONNECTED_DESCRIPTORS 2
/* Descriptors of clients, devices and the server itself. */
#define OWN_DESCRIPTORS 256
/* Threads of the server itself, of the pool and of devices, with some to spare. */
#define OWN_THREADS 32

#define TIME_MS  (24U * 3600 * 1000)
#define PAUSE_MS (5U * 60 * 1000)

static uint64_t limit_of(int kind)
{
	struct rlimit limit;

	return getrlimit(kind, &limit) || limit.rlim_cur == RLIM_INFINITY ? UINT32_MAX
									  : limit.rlim_cur;
}

/* Returns three quarters of the local ports: other programs need some, as do closed connections. */
static uint64_t count_ports(void)
{
	unsigned int low = 32768;
	unsigned int high = 60999;
	char text[SYSFS_TEXT];

	if (sysfs_line("", text, sizeof(text), "/proc/sys/net/ipv4/ip_local_port_range"))
		sscanf(text, "%u %u", &low, &high);
	return high > low ? (uint64_t)(high - low + 1) * 3 / 4 : 1;
}

/* Returns how many connections descriptors and ports allow. Each listens on its own port. */
static uint64_t count_connected(void)
{
	uint64_t descriptors = limit_of(RLIMIT_NOFILE);
	uint64_t own = descriptors / 4 < OWN_DESCRIPTORS ? descriptors / 4 : OWN_DESCRIPTORS;
	uint64_t pairs = (descriptors - own) / CONNECTED_DESCRIPTORS;
	uint64_t ports = count_ports();

	return pairs < ports ? pairs : ports;
}

/* Returns half of the memory, or 1 GiB if its size is unknown. */
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
 * Returns how many threads the control group, of a service or container, allows for cases. Two per
 * client are set aside: its own, which runs the first lane of its case, and one for a loop that
 * runs alone. Connections that have not authenticated, or are being ended, have one each.
 */
static uint64_t count_tasks(const char *root, uint64_t clients)
{
	uint64_t left = cgroup_limit(root, CGROUP_TASKS).left;
	uint64_t others = 2 * clients + 2ULL * QUOTA_STRANGERS + OWN_THREADS;

	if (left == UINT64_MAX)
		return left;
	return clients + (left > others ? left - others : 0);
}

/* Allows half of this user's process limit. Root is limited only by the control group. */
void quota_find_threads(struct quota *quota, const char *root)
{
	uint64_t of_user = geteuid() ? limit_of(RLIMIT_NPROC) / 2 : UINT32_MAX;
	uint64_t of_group = count_tasks(root, quota->clients);
	uint64_t most = of_user < of_group ? of_user : of_group;

	quota->threads = most ? most : 1;
}

/* Adds count * each to *sum. Returns false on overflow. */
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

/* Returns the memory of a region: whole pages, and their entries in the device's table. */
static uint64_t region_bytes(const struct parameters *p, uint64_t wanted)
{
	uint64_t huge = memory_huge_page(memory_name_choice(p->server_memory));
	uint64_t page = huge           ? huge
			: p->hugepages ? free_memory_info("", "Hugepagesize") << 10
				       : (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t pages = page ? wanted / page + 1 : 0;

	return pages * (page + PAGE_BYTES);
}

/* Returns the memory for the prepared work requests of a post list. */
static uint64_t list_bytes(const struct parameters *p)
{
	uint64_t each =
		sizeof(struct post_work) + sizeof(struct ibv_send_wr) + sizeof(struct ibv_recv_wr);

	return p->post_list > 1 ? p->post_list * each : 0;
}

/* Estimates the memory of a case. The rules bound all values, so that products of two fit. */
static bool estimate(const struct protocol_case *wanted, uint64_t *bytes)
{
	const struct parameters *p = &wanted->parameters;
	const struct limits limits = lane_limits(p, &wanted->op->shape, true);
	uint64_t inlined = p->inline_size == PARAMETER_AUTO ? INLINE_BYTES : p->inline_size;
	uint64_t pieces = limits.sge * sizeof(struct ibv_sge);
	uint64_t pairs = limits.queue_pairs;
	uint64_t sends = entries(limits.send_depth) * (SEND_BYTES + pieces + inlined);
	uint64_t receives = limits.recv_depth ? entries(limits.recv_depth) : 0;
	uint64_t shared = limits.srqs ? entries(limits.srq_depth) : 0;

	*bytes = (uint64_t)pattern_lanes(p, true) * LANE_BYTES;
	return quota_add(bytes, limits.regions, region_bytes(p, limits.memory_bytes)) &&
	       quota_add(bytes, pairs, PAIR_BYTES + sizeof(struct flow) + list_bytes(p)) &&
	       quota_add(bytes, pairs, sends + 2 * sizeof(uint64_t) * limits.send_depth) &&
	       quota_add(bytes, pairs, receives * (RECEIVE_BYTES + pieces)) &&
	       quota_add(bytes, limits.srqs, shared * (RECEIVE_BYTES + pieces)) &&
	       quota_add(bytes, limits.completion_queues,
			 entries(limits.cq_depth) * COMPLETION_BYTES);
}

static int check_case(const struct quota *quota, const struct protocol_case *wanted,
		      struct error *error)
{
	const struct parameters *p = &wanted->parameters;
	const struct operation_shape *shape = &wanted->op->shape;
	/* --size is the size of a message, of granted memory, or of the client's alone. */
	bool has_messages = !shape->is_granted && !shape->is_call;
	uint64_t pairs = lane_limits(p, shape, true).queue_pairs;
	char asked[32];
	char most[32];

	if (pairs > quota->queue_pairs)
		return error_set(error, -EOPNOTSUPP,
				 "%" PRIu64 " queue pairs exceed this server's limit of %" PRIu64
				 " per client: use fewer, or raise 'serve --max-qps' on the server",
				 pairs, quota->queue_pairs);
	if (!has_messages || p->size <= quota->message_bytes)
		return 0;
	value_print_size(p->size, asked, sizeof(asked));
	value_print_size(quota->message_bytes, most, sizeof(most));
	return error_set(
		error, -EOPNOTSUPP,
		"messages of %s exceed this server's limit of %s: use smaller ones, or raise 'serve "
		"--max-size' on the server",
		asked, most);
}

static uint64_t of_client(const struct quota *quota)
{
	uint64_t most = quota->client_memory;

	return most && most < quota->memory ? most : quota->memory;
}

/* Prints a sum of memory in units that people read. */
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
	return error_set(
		error, -EOPNOTSUPP,
		"the case needs %s of memory, above this server's %slimit of %s: use smaller "
		"messages or queues, or fewer queue pairs, or raise 'serve --%s' on the server",
		asked, is_own ? "per-client " : "", most,
		is_own ? "max-client-memory" : "max-memory");
}

/* Checks whether the case would fit if there were no other client. */
static int check_sums(const struct quota *quota, const struct quota_share *wanted,
		      struct error *error)
{
	if (wanted->bytes > of_client(quota))
		return refuse_memory(quota, wanted->bytes, error);
	if (wanted->connected > quota->connected)
		return error_set(
			error, -EOPNOTSUPP,
			"%" PRIu64 " queue pairs exceed the %" PRIu64
			" that this server's descriptors and ports allow: use fewer, or "
			"--connect qp, or raise LimitNOFILE and ip_local_port_range on the server",
			wanted->connected, quota->connected);
	if (wanted->threads > quota->threads)
		return error_set(error, -EOPNOTSUPP,
				 "%" PRIu64 " threads exceed this server's limit of %" PRIu64
				 ": use fewer, or raise LimitNPROC and TasksMax on the server",
				 wanted->threads, quota->threads);
	return 0;
}

/* Adds to a sum. Returns false if it would exceed `most`. Sets *left to the amount available. */
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

/* own: the bytes that the caller already holds. */
static int take_memory(struct quota *quota, uint64_t bytes, uint64_t own, struct error *error)
{
	uint64_t left;
	char text[32];

	if (add_to(&quota->taken, quota->memory, bytes, &left))
		return 0;
	print_memory(left + own, text, sizeof(text));
	return error_set(
		error, -EBUSY,
		"other clients leave only %s of this server's memory: retry later, or raise "
		"'serve --max-memory' on the server",
		text);
}

static int take_others(struct quota *quota, const struct quota_share *wanted,
		       struct quota_share *taken, struct error *error)
{
	uint64_t left;

	if (!add_to(&quota->n_connected, quota->connected, wanted->connected, &left))
		return error_set(
			error, -EBUSY,
			"other clients leave descriptors and ports for only %" PRIu64
			" queue pairs on this server: retry later, or raise LimitNOFILE and "
			"ip_local_port_range there",
			left);
	taken->connected = wanted->connected;
	if (!add_to(&quota->n_threads, quota->threads, wanted->threads, &left))
		return error_set(error, -EBUSY,
				 "other clients leave only %" PRIu64 " threads on this server: "
				 "retry later, or raise LimitNPROC and TasksMax there",
				 left);
	taken->threads = wanted->threads;
	return 0;
}

static struct quota_share share_of(const struct protocol_case *wanted)
{
	const struct parameters *p = &wanted->parameters;
	struct quota_share share = {.threads = pattern_lanes(p, true)};

	if (p->connect != CONNECT_QP)
		share.connected = lane_limits(p, &wanted->op->shape, true).queue_pairs;
	if (!estimate(wanted, &share.bytes))
		share.bytes = UINT64_MAX;
	return share;
}

uint64_t quota_bytes(const struct protocol_case *wanted)
{
	return share_of(wanted).bytes;
}

int quota_take(struct quota *quota, const struct protocol_case *wanted, struct quota_share *taken,
	       struct error *error)
{
	const struct quota_share share = share_of(wanted);
	uint64_t before = taken->bytes;
	uint64_t more = share.bytes > before ? share.bytes - before : 0;
	int code = check_case(quota, wanted, error);

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
		return "is not a number from 1 to 4096";
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
