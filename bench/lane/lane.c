/* SPDX-License-Identifier: MIT */
#include "bench/lane/lane.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "bench/host/gpu_list.h"
#include "bench/host/soft_device.h"
#include "bench/lane/layout.h"
#include "bench/plan/memory_name.h"
#include "core/base/free_memory.h"
#include "core/rdma/manual_qp.h"
#include "core/rdma/settings.h"
#include "core/verbs/device_kind.h"
#include "core/verbs/limits.h"
#include "core/verbs/verbs.h"
#include "reports/result/case_id.h"

/* Alignment of slots, chosen for datagrams. */
#define SLOT 64

/*
 * The control connection notices a client that has died. A live client may need a long time to
 * touch memory or wait for a disk before it connects.
 */
#define CLIENT_MS 60000

/* Memory touched and registered per millisecond on a slow machine. */
#define BYTES_PER_MS (256U << 10)
/* Time to create a queue pair and listen for its connection. */
#define PAIR_MS 10

/* No completion takes longer, even on a 100 Mb/s link. */
#define STALLED_NS          (5 * NS_PER_S)
#define SLOWEST_NS_PER_BYTE 80
/* The unit of --timeout. */
#define ACK_TICK_NS 4096ULL
/* On an unreliable transport a reply is given up sooner. */
#define LOST_NS (200 * NS_PER_MS)

#ifdef HAVE_ATOMIC_WRITE
#define ATOMIC_WRITE IBV_QP_EX_WITH_ATOMIC_WRITE
#else
#define ATOMIC_WRITE 0
#endif

/* Bytes that a stream posts between two polls of the CQ: a post may be the whole operation. */
#define LOOK_BYTES (64U << 10)

/* Send depth of a queue pair that sends nothing; --tx-depth applies to what the call creates. */
#define CALL_DEPTH 64

/* A message must not be overwritten while in flight or before it is verified. */
static void make_slots(struct lane *lane)
{
	const struct parameters *p = lane->settings.parameters;
	bool is_slotted = p->verify && p->metric == METRIC_BW;
	bool is_read = lane->settings.shape->is_read;
	size_t size = lane_message_bytes(lane) + TRANSPORT_GRH;

	lane->settings.stride =
		lane_round_up(size < LANE_LEAST_RECEIVE ? LANE_LEAST_RECEIVE : size, SLOT);
	lane->settings.sent_slots = is_slotted && !is_read ? lane->settings.tx_depth : 1;
	lane->settings.received_slots = 1;
	if (is_slotted)
		lane->settings.received_slots =
			is_read ? lane->settings.tx_depth : (uint32_t)p->rx_depth;
}

/*
 * Returns the send depth of each queue pair. A latency loop posts the next signaled request before
 * it takes the previous completion. A notification is a separate post, and so is what
 * invalidates a memory window.
 */
static uint64_t send_depth(const struct lane *lane)
{
	const struct parameters *p = lane->settings.parameters;
	uint64_t depth = p->tx_depth;

	if (lane->settings.shape->is_call && !lane->settings.shape->makes_pair)
		return CALL_DEPTH;
	if (p->metric == METRIC_LAT && depth < 2 * p->cq_mod)
		depth = 2 * p->cq_mod;
	return lane->settings.shape->is_notified || lane->settings.shape->binds ? 2 * depth : depth;
}

/* A CQ smaller than the possible completions would overflow. */
static uint32_t cq_depth(const struct parameters *parameters, uint64_t least)
{
	uint64_t asked = parameters->cq_depth;

	return (uint32_t)(asked != PARAMETER_AUTO && asked > least ? asked : least);
}

_Static_assert(PARAMETER_SGES_MOST <= POST_SGES_MOST, "work requests have room for all pieces");

enum rdma_wait_mode lane_wait_mode(const struct parameters *parameters, bool is_server)
{
	static const enum rdma_wait_mode modes[] = {
		[CQ_POLL] = RDMA_POLL,
		[CQ_EVENT] = RDMA_EVENT,
		[CQ_ADAPTIVE] = RDMA_ADAPTIVE,
	};

	return modes[is_server ? parameters->server_cq : parameters->cq];
}

/* Returns the kind that the case names for this side. A NULL kind: what suits the device. */
static struct memory_choice chosen_memory(const struct lane *lane)
{
	const struct parameters *p = lane->settings.parameters;
	struct memory_choice choice =
		*memory_name_choice(lane->settings.is_server ? p->server_memory : p->memory);

	if (!choice.kind && p->hugepages)
		choice.kind = &memory_huge;
	return choice;
}

/* Adds the number of the GPU that is nearest to the device, unless the case names one. */
static void choose_gpu(struct memory_choice *choice, const char *device)
{
	char rest[MEMORY_TEXT];

	if (!choice->kind || !choice->kind->gpu || isdigit((unsigned char)choice->detail[0]))
		return;
	memcpy(rest, choice->detail, sizeof(rest));
	snprintf(choice->detail, sizeof(choice->detail), "%u%s%.80s",
		 gpu_nearest("", choice->kind->gpu, device), *rest ? "," : "", rest);
}

static struct ibv_moderate_cq moderation(const struct parameters *p, enum rdma_wait_mode cq)
{
	if (cq == RDMA_POLL || p->event_count == PARAMETER_AUTO)
		return (struct ibv_moderate_cq){0};
	return (struct ibv_moderate_cq){(uint16_t)p->event_count,
					(uint16_t)(p->event_period_ns / NS_PER_US)};
}

static struct endpoint_settings endpoint_settings(const struct lane *lane, enum rdma_wait_mode cq)
{
	const struct parameters *p = lane->settings.parameters;
	uint64_t depth = send_depth(lane) + (p->use_srq ? 0 : p->rx_depth);

	return (struct endpoint_settings){
		.buffer_size = lane_flow_size(lane) * lane->settings.n_flows,
		.has_regions = p->mr_per_qp == 1,
		.is_relaxed = p->relaxed_ordering == ORDERING_RELAXED,
		.cq_depth = cq_depth(p, depth * lane->settings.n_flows +
						(p->use_srq ? p->rx_depth : 0)),
		.wait = cq,
		.moderation = moderation(p, cq),
		.is_timed = p->breakdown == 1 && !lane->settings.is_server,
		/* Keep the events of each thread on their own interrupt. */
		.vector = lane->settings.number,
		.srq_depth = p->use_srq ? (uint32_t)p->rx_depth : 0,
		.sges = (uint32_t)p->sge,
		.is_xrc = transports[p->transport].route == ROUTE_SRQ,
		.n_senders = lane->settings.n_flows,
		.send_ops = lane->settings.shape->stores ? ATOMIC_WRITE : 0,
	};
}

/*
 * Both sides derive the pattern from the case id, which is the same whether parameters were given
 * or chosen.
 */
static void begin_verify(struct lane *lane, bool is_server)
{
	char id[CASE_ID];

	parameters_id(lane->settings.parameters, id, sizeof(id));
	verify_init(&lane->verify, lane->settings.parameters->verify, id, is_server,
		    lane->settings.number);
	lane->verify.memory = &lane->endpoint.memory;
	lane->verify.is_lossy = lane_is_lossy(lane);
	lane->verify.is_fixed = lane->settings.shape->is_read;
	for (unsigned int i = 0; i < lane->settings.n_flows; i++) {
		struct verify_slots *slots = &lane->flows[i].slots;
		/* All receivers of a group receive what the first queue pair sends. */
		unsigned int number = pattern_is_multicast(lane->settings.parameters)
					      ? 0
					      : lane_flow_number(lane, i);

		verify_init(&slots->sent, lane->settings.parameters->verify, id, is_server, number);
		slots->sent.memory = lane->verify.memory;
		slots->sent.is_lossy = lane->verify.is_lossy;
		slots->sent.is_fixed = lane->verify.is_fixed;
		slots->sent.length = lane->settings.parameters->size;
		slots->received = slots->sent;
	}
}

static struct placement_wish placement_wish(const struct lane *lane, const char *device,
					    bool is_server)
{
	const struct parameters *p = lane->settings.parameters;
	enum rdma_wait_mode cq = lane_wait_mode(p, is_server);

	return (struct placement_wish){
		.root = "",
		.prefix = is_server ? "server-" : "",
		.device_node = device_numa_node(device),
		.pin = is_server ? p->server_pin : p->pin,
		.threads = pattern_lanes(p, is_server),
		.number = lane->settings.number,
		.is_server = is_server,
		/* The software device runs both sides on this machine. */
		.is_shared = !strcmp(device, SOFT_DEVICE_NAME) && cq != RDMA_EVENT,
		.other_pin = is_server ? p->pin : p->server_pin,
		.numa = is_server ? p->server_numa : p->numa,
	};
}

static const char *detail_of(const struct memory_choice *memory)
{
	return memory->detail[0] ? memory->detail : NULL;
}

/* Returns whether the lane has memory to grant or register. */
static bool has_other(const struct lane *lane)
{
	return lane->settings.is_server ? lane->settings.shape->is_granted
					: lane->settings.shape->registers;
}

/* Two buffers cannot consist of one file. Returns whether only the one that is measured does. */
static bool is_only_other(const struct lane *lane, const struct memory_choice *memory)
{
	return has_other(lane) && memory_path(memory);
}

static int open_other(struct lane *lane, const struct memory_choice *memory, int numa_node,
		      struct error *error)
{
	const struct memory_request request = {
		.size = lane->settings.parameters->size,
		.numa_node = numa_node,
		.device = lane->device.verbs,
		.detail = detail_of(memory),
	};
	const struct memory_kind *kind = memory->kind;

	/* The software device accesses mapped memory without a system call. */
	if (!kind && lane->settings.is_server && device_kind_is_mapped(&lane->endpoint.device))
		kind = &memory_shared;
	return memory_open(&lane->other, kind ? kind : &memory_host, &request, error);
}

/*
 * Moves the thread first, so that the memory that it touches is near. Facts about a device are
 * read only once a device of that name exists.
 */
static int build(struct lane *lane, const struct lane_wish *wanted, struct error *error)
{
	const struct parameters *p = lane->settings.parameters;
	const char *device = wanted->device;
	bool is_server = wanted->is_server;
	struct memory_choice memory = chosen_memory(lane);
	struct placement_wish wish;
	struct endpoint_settings settings = endpoint_settings(lane, lane_wait_mode(p, is_server));
	struct placement *placement = &lane->placement;
	int code = device_open(&lane->device, device, error);

	if (code)
		return code;
	choose_gpu(&memory, device);
	if (!is_only_other(lane, &memory)) {
		settings.memory = memory.kind;
		settings.detail = detail_of(&memory);
	}
	settings.spare = wanted->spare;
	wish = placement_wish(lane, device, is_server);
	code = placement_node(&wish, &settings.numa_node, error);
	if (settings.numa_node == -1)
		settings.numa_node = wish.device_node;
	if (!code)
		code = placement_open(placement, &wish, error);
	if (!code)
		code = endpoint_open(&lane->endpoint, lane->device.verbs, &settings, error);
	if (!code && has_other(lane))
		code = open_other(lane, &memory, settings.numa_node, error);
	if (!code && lane->settings.shape->is_atomic && !lane->settings.shape->stores)
		code = limits_operation((enum transport)p->transport, POST_FETCH_ADD,
					&lane->endpoint.device, error);
	if (code)
		return code;
	return placement_check(placement, &wish,
			       has_other(lane) ? &lane->other : &lane->endpoint.memory, error);
}

static uint64_t each_ns(const struct parameters *p)
{
	return p->think_ns + p->size * SLOWEST_NS_PER_BYTE;
}

/* Do not give up before the retries end: a device may wait four times as long for each. */
static uint64_t patience_ns(const struct parameters *p)
{
	uint64_t retry_ns = (p->retries + 1) * 4 * (ACK_TICK_NS << p->timeout);

	return parameters_has(p, TRANSPORT_RELIABLE) && retry_ns > STALLED_NS ? retry_ns
									      : STALLED_NS;
}

/*
 * Returns the time until the next completion; for a stream, the time for all messages that the
 * completion stands for.
 */
static uint64_t stalled_ns(const struct lane *lane)
{
	const struct parameters *p = lane->settings.parameters;
	uint64_t count = 1;

	if (p->metric != METRIC_LAT)
		count = p->cq_mod * pattern_most_pairs(p);
	else if (lane->settings.shape->rings)
		count = p->cq_mod;
	return patience_ns(p) + count * each_ns(p);
}

uint32_t lane_look_every(const struct parameters *parameters)
{
	return parameters->size < LOOK_BYTES ? (uint32_t)(LOOK_BYTES / parameters->size) : 1;
}

void lane_init(struct lane *lane, const struct lane_wish *wish)
{
	const struct parameters *p = wish->parameters;

	*lane = (struct lane){0};
	lane->settings = (struct lane_settings){
		.parameters = p,
		.shape = wish->shape,
		.tx_depth = (uint32_t)p->tx_depth,
		.look_every = lane_look_every(p),
		.n_flows = pattern_lane_pairs(p, wish->is_server),
		.post_list = (unsigned int)p->post_list,
		.signal_every = wish->signal_every,
		.walks = address_walk_is_on(p),
		.may_defer = p->rx_depth > 1,
		.is_server = wish->is_server,
		.number = wish->number,
	};
	lane->settings.stalled_ns = stalled_ns(lane);
	lane->settings.lost_ns =
		lane_is_lossy(lane) ? LOST_NS + each_ns(p) : lane->settings.stalled_ns;
	make_slots(lane);
}

static int open_regions(struct lane *lane, struct error *error)
{
	size_t size = lane_flow_size(lane);

	for (unsigned int i = 0; i < lane->settings.n_flows; i++) {
		lane->flows[i].region = endpoint_register(&lane->endpoint, i * size, size, error);
		if (!lane->flows[i].region)
			return error->code;
	}
	return 0;
}

static void close_regions(struct lane *lane)
{
	int first = 0;

	for (unsigned int i = 0; i < lane->settings.n_flows && lane->flows; i++)
		if (lane->flows[i].region)
			error_keep(&first, verbs_result(ibv_dereg_mr(lane->flows[i].region)));
	/* Keep no memory that a failed deregistration may have left in use. */
	if (first)
		lane->endpoint.spare = NULL;
}

int lane_open(struct lane *lane, const struct lane_wish *wish, struct error *error)
{
	int code;

	lane_init(lane, wish);
	lane->flows = cacheline_calloc(lane->settings.n_flows, sizeof(*lane->flows));
	if (!lane->flows)
		return free_memory_refused(error, "make queue pairs");
	code = build(lane, wish, error);
	if (!code && lane->settings.parameters->mr_per_qp == 1)
		code = open_regions(lane, error);
	if (!code && wish->payload)
		payload_fill(wish->payload, &lane->endpoint.memory, lane->endpoint.buffer_size);
	begin_verify(lane, wish->is_server);
	if (code)
		lane_close(lane);
	return code;
}

static void close_contexts(struct lane *lane)
{
	for (unsigned int i = 0; i < lane->settings.n_flows && lane->flows; i++) {
		window_close(&lane->flows[i].window);
		rdma_close(&lane->flows[i].context);
		post_list_close(&lane->flows[i].list);
		lane_forget_returns(&lane->flows[i]);
		free(lane->flows[i].ticks);
		lane->flows[i].ticks = NULL;
	}
}

void lane_close(struct lane *lane)
{
	close_contexts(lane);
	multicast_leave(&lane->group);
	close_regions(lane);
	endpoint_close(&lane->endpoint);
	memory_close(&lane->other);
	device_close(&lane->device);
	placement_close(&lane->placement);
	for (unsigned int i = 0; i < lane->settings.n_flows && lane->flows; i++)
		explicit_bzero(&lane->flows[i].tickets, sizeof(lane->flows[i].tickets));
	free(lane->flows);
	*lane = (struct lane){0};
}

struct rdma_settings lane_context_settings(const struct lane *lane)
{
	const struct parameters *p = lane->settings.parameters;
	uint64_t inline_size = p->inline_size;

	return (struct rdma_settings){
		.send_depth = (uint32_t)send_depth(lane),
		.recv_depth = (uint32_t)p->rx_depth,
		.max_inline = inline_size == PARAMETER_AUTO ? 0
			      : inline_size                 ? (uint32_t)inline_size
							    : RDMA_NO_INLINE,
		.idle_timeout_ms = CLIENT_MS,
		.max_message = lane_message_bytes(lane),
		.max_sge = (uint32_t)p->sge,
		.outstanding_reads = p->outstanding == PARAMETER_AUTO ? 0 : (uint8_t)p->outstanding,
		/*
		 * A stream may be faster than its receiver, so it retries until there is a
		 * receive.
		 */
		.rnr_retry = p->metric != METRIC_LAT && p->receives == RECEIVES_BUFFERS ? 7 : 0,
		.ack_timeout = (uint8_t)p->timeout,
		.retry_count = p->retries ? (uint8_t)p->retries : RDMA_NONE,
		.own_receives = true,
	};
}

/* Returns the size of the lane's memory that is not its endpoint's. */
static size_t other_bytes(const struct lane *lane)
{
	return has_other(lane) ? lane_round_up(lane->settings.parameters->size, LANE_AREA) : 0;
}

struct limits lane_limits(const struct parameters *parameters, const struct operation_shape *shape,
			  bool is_server)
{
	bool has_reads = shape->is_read || shape->is_atomic;
	/* The connect operation makes one on both sides. */
	bool makes_pair = shape->makes_pair && (shape->connects || !is_server);
	bool makes_cq = shape->makes_cq && !is_server;
	/* The server replies to a notification with its own READ. */
	bool is_answered = shape->is_notified && parameters->metric == METRIC_LAT;
	bool posts_reads =
		shape->is_read && (!is_server || parameters->bidirectional || is_answered);
	bool registers_each = parameters->registration == REGISTRATION_EACH && !is_server;
	uint32_t n_lanes = pattern_lanes(parameters, is_server);
	bool is_dc = transports[parameters->transport].route == ROUTE_TARGET;
	/* XRC has one to send and one to receive; DC, one to send for all. */
	unsigned int each = parameters_has(parameters, TRANSPORT_TWO_WAY) || is_dc ? 1 : 2;
	const struct lane_wish wish = {
		.parameters = parameters, .shape = shape, .is_server = is_server};
	struct lane lane;
	struct endpoint_settings endpoint;
	struct rdma_settings settings;
	uint64_t other;

	lane_init(&lane, &wish);
	other = other_bytes(&lane);
	endpoint = endpoint_settings(&lane, RDMA_POLL);
	settings = lane_context_settings(&lane);
	return (struct limits){
		.transport = (enum transport)parameters->transport,
		.send_depth = settings_send_depth(&settings) * (is_dc ? lane.settings.n_flows : 1),
		.recv_depth = endpoint.srq_depth ? 0 : settings_recv_depth(&settings),
		.srq_depth = endpoint.srq_depth,
		.cq_depth = makes_cq && parameters->tx_depth > endpoint.cq_depth
				    ? parameters->tx_depth
				    : endpoint.cq_depth,
		.sge = settings_sges(&settings),
		.read_sge = posts_reads ? (uint32_t)parameters->sge : 0,
		.queue_pairs = (lane.settings.n_flows * each + is_dc + makes_pair) * n_lanes,
		.completion_queues = (1 + makes_cq) * n_lanes,
		.srqs = endpoint.srq_depth ? n_lanes : 0,
		.regions = ((parameters->mr_per_qp == 1 ? lane.settings.n_flows : 1) +
			    (has_other(&lane) || registers_each) +
			    (shape->binds && !is_server ? lane.settings.n_flows : 0)) *
			   n_lanes,
		.memory_bytes = other > endpoint.buffer_size ? other : endpoint.buffer_size,
		.all_bytes = n_lanes * (lane_round_up(endpoint.buffer_size, LANE_AREA) + other),
		/* By default, one is enough. */
		.reads = settings.outstanding_reads ? settings.outstanding_reads : has_reads,
		.message_bytes = settings.max_message,
		.mtu = parameters->mtu == PARAMETER_AUTO
			       ? 0
			       : limits_mtu((unsigned int)parameters->mtu),
	};
}

int lane_check_memory(const struct parameters *parameters, const struct operation_shape *shape,
		      const char *device, struct error *error)
{
	const struct lane_wish wish = {.parameters = parameters, .shape = shape};
	struct memory_request request = {0};
	struct memory_choice memory;
	struct lane lane;

	lane_init(&lane, &wish);
	memory = chosen_memory(&lane);
	choose_gpu(&memory, device);
	request.detail = detail_of(&memory);
	request.size = is_only_other(&lane, &memory)
			       ? other_bytes(&lane)
			       : lane_limits(parameters, shape, false).memory_bytes;
	return memory.kind ? memory_check(memory.kind, &request, error) : 0;
}

static uint64_t setup_ms(const struct parameters *parameters, const struct operation_shape *shape,
			 bool is_server)
{
	struct limits limits = lane_limits(parameters, shape, is_server);

	return limits.memory_bytes / BYTES_PER_MS * limits.regions +
	       (uint64_t)limits.queue_pairs * PAIR_MS;
}

unsigned int lane_setup_ms(const struct parameters *parameters, const struct operation_shape *shape)
{
	uint64_t client_ms = setup_ms(parameters, shape, false);
	uint64_t server_ms = setup_ms(parameters, shape, true);
	uint64_t ms = client_ms > server_ms ? client_ms : server_ms;

	return ms < INT_MAX / 4 ? (unsigned int)ms : INT_MAX / 4;
}

/*
 * The loops do not check copies: only some kinds of memory can fail to copy. Report a failure here.
 */
static int reset_endpoint(struct lane *lane, struct error *error)
{
	int code = memory_copy_error(&lane->endpoint.memory, error);

	return code ? code : endpoint_reset(&lane->endpoint, error);
}

int lane_stop(struct lane *lane, struct error *error)
{
	close_contexts(lane);
	return reset_endpoint(lane, error);
}

void lane_show_ticket(struct flow *flow)
{
	uint8_t ticket[PRIVATE_DATA_TICKET];

	secret_tickets_next(&flow->tickets, ticket, sizeof(ticket));
	context_set_ticket(&flow->context, ticket);
}

int lane_renew(struct lane *lane, struct error *error)
{
	for (unsigned int i = 0; i < lane->settings.n_flows; i++) {
		context_drop(&lane->flows[i].context);
		if (lane->flows[i].tickets.is_open)
			lane_show_ticket(&lane->flows[i]);
	}
	return reset_endpoint(lane, error);
}

void lane_share_out(struct lane *lane, uint64_t messages)
{
	for (unsigned int i = 0; i < lane->settings.n_flows; i++) {
		struct flow *flow = &lane->flows[i];

		flow->left = messages;
		if (messages != UINT64_MAX)
			flow->left = messages / lane->settings.n_flows +
				     (i < messages % lane->settings.n_flows);
		flow->share = flow->left;
		flow->room_before = flow->room;
	}
}
