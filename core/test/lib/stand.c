/* SPDX-License-Identifier: MIT */
#include "core/test/lib/stand.h"

#include <errno.h>
#include <sys/mman.h>

#include "core/verbs/verbs.h"

/* The wr_id of the first request of a list, and of the first receive. */
#define FIRST_REQUEST 100
#define FIRST_RECEIVE 200

struct stand_board *board;
struct stand here;

int stand_share(void **unused)
{
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	return board == MAP_FAILED;
}

void stand_plan(enum transport transport, enum rdma_wait_mode wait, unsigned int contexts)
{
	board->plan = (struct stand_plan){
		.endpoint = {.buffer_size = STAND_BUFFER,
			     .numa_node = -1,
			     .cq_depth = 2 * STAND_DEPTH * contexts,
			     .wait = wait},
 /* See agent.c. */
		.settings = {.own_receives = true,
			     .send_depth = STAND_DEPTH,
			     .recv_depth = STAND_DEPTH,
			     .ack_timeout = 18},
		.pair = {.transport = transport,   .gid_index = MANUAL_QP_GID_BEST},
	};
	snprintf(board->plan.device, sizeof(board->plan.device), "%s", device_name());
}

int stand_end(struct rdma_context *ctx, int code, const struct error *error)
{
	ctx->code = code;
	snprintf(ctx->reason, sizeof(ctx->reason), "%s", error->text);
	return code ? -1 : 0;
}

static int run_stand(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	struct error error = {0};
	int code;

	here = (struct stand){.end = (enum stand_end)task->a};
	code = device_open(&here.device, board->plan.device, &error);
	if (!code)
		code = endpoint_open(&here.endpoint, here.device.verbs, &board->plan.endpoint,
				     &error);
	if (code)
		device_close(&here.device);
	ctx->buffer = here.endpoint.memory.cpu;
	return stand_end(ctx, code, &error);
}

static struct rdma_context *next_context(void)
{
	struct rdma_context *context = &here.contexts[here.n++];

	*context = (struct rdma_context){.settings = board->plan.settings};
	return context;
}

static void post_as_planned(struct rdma_context *context)
{
	if (board->plan.classic)
		context->state->queue.qpx = NULL;
}

static int run_pairs(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	struct error error = {0};
	int code = 0;

	for (here.n = 0; here.n < task->a && !code;) {
		struct manual_qp_address *own = &board->addresses[here.end][here.n];
		struct rdma_context *context = next_context();

		code = manual_qp_open(context, &here.endpoint, &board->plan.pair, &error);
		if (code)
			break;
		manual_qp_local(context, own);
		*value += context_queue(context)->qpx != NULL;
		post_as_planned(context);
	}
	return stand_end(ctx, code, &error);
}

static int run_join(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	struct error error = {0};
	int code = 0;

	for (unsigned int i = 0; i < here.n && !code; i++)
		code = manual_qp_connect(&here.contexts[i], &board->addresses[!here.end][i],
					 &error);
	return stand_end(ctx, code, &error);
}

/* Attaches the next context to the endpoint, or reports why not and returns NULL. */
static struct rdma_context *next_on_endpoint(struct rdma_context *ctx)
{
	struct rdma_context *context = next_context();
	struct error error = {0};

	return stand_end(ctx, context_use(context, &here.endpoint, &error), &error) ? NULL
										    : context;
}

/* Reports the context's result as the agent's. */
static int tell(struct rdma_context *ctx, const struct rdma_context *context, int result)
{
	ctx->code = context->code;
	snprintf(ctx->reason, sizeof(ctx->reason), "%s", context->reason);
	return result;
}

static int run_listeners(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	int result = 0;

	for (here.n = 0; here.n < task->a && !result;) {
		uint16_t *port = &board->ports[here.n];
		struct rdma_context *context = next_on_endpoint(ctx);

		if (!context)
			return -1;
		result = tell(ctx, context, rdma_setup_server(context, 0, NULL));
		*port = context->port;
	}
	return result;
}

static int run_accept(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	int result = 0;

	for (unsigned int i = 0; i < here.n && !result; i++) {
		result = rdma_wait_for_client(&here.contexts[i]);
		tell(ctx, &here.contexts[i], result);
		if (!result)
			post_as_planned(&here.contexts[i]);
	}
	return result;
}

static int run_callers(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	int result = 0;

	for (here.n = 0; here.n < task->a && !result;) {
		uint16_t port = board->ports[here.n];
		struct rdma_context *context = next_on_endpoint(ctx);

		if (!context)
			return -1;
		result = rdma_setup_client(context, task->host, port, NULL);
		if (!result)
			result = rdma_connect_server(context);
		tell(ctx, context, result);
		if (!result)
			post_as_planned(context);
	}
	return result;
}

static struct post_work ordered(const struct rdma_context *context, unsigned int i)
{
	const struct stand_order *order = &board->order;
	struct post_work work = {
		.id = FIRST_REQUEST + i,
		.flags = order->flags | (order->is_inline ? IBV_SEND_INLINE : 0),
		.n_sges = order->length ? 1 : 0,
		.sges = {{.addr = (uintptr_t)context->buffer + order->local + i * order->step,
			  .length = (uint32_t)order->length,
			  .lkey = context->mr->lkey}},
		.imm = order->imm + i,
		.add = order->add,
		.compare = order->compare,
		.swap = order->swap,
	};

	manual_qp_aim(context, &work);
	work.remote += order->remote + i * order->step;
	return work;
}

static int post_one(const struct rdma_context *context, unsigned int *last)
{
	const struct post_queue *queue = context_queue(context);
	struct post_work work = ordered(context, 0);

	*last = FIRST_REQUEST;
	return post_send(queue, &work, board->order.operation, post_choose(queue, &work),
			 IBV_SEND_SIGNALED);
}

static int post_many(const struct rdma_context *context, unsigned int *last, struct error *error)
{
	const struct post_queue *queue = context_queue(context);
	const struct stand_order *order = &board->order;
	struct post_list list;
	int code = post_list_open(&list, order->list, error);

	if (code)
		return -code;
	for (unsigned int i = 0; i < list.n; i++)
		list.works[i] = ordered(context, i);
	post_list_link(&list, order->operation);
	*last = FIRST_REQUEST + list.n - 1;
	code = post_send_list(queue, &list, order->count ? order->count : list.n, order->operation,
			      post_choose(queue, &list.works[0]), IBV_SEND_SIGNALED);
	post_list_close(&list);
	return code;
}

/* Waits for one successful completion. */
static int take(struct ibv_wc *wc, struct error *error)
{
	int got = completion_wait(&here.endpoint.completion, 1, wc, 5 * NS_PER_S, error);

	if (got == -ETIMEDOUT)
		return error_set(error, got, "no completion");
	if (got < 0)
		return got;
	return wc->status ? verbs_completion_error(error, "taken", wc) : 0;
}

static int run_post(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	const struct rdma_context *context = &here.contexts[board->order.which];
	struct error error = {0};
	unsigned int last = 0;
	struct ibv_wc wc = {0};
	int code = board->order.list ? post_many(context, &last, &error) : post_one(context, &last);

	if (code)
		code = error_set_errno(&error, verbs_result(code), "cannot post");
	else
		code = take(&wc, &error);
	if (!code && wc.wr_id != last)
		code = error_set(&error, -EPROTO, "unexpected completion of %lu instead of %u",
				 wc.wr_id, last);
	return stand_end(ctx, code, &error);
}

static int run_receives(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	const struct rdma_context *context = &here.contexts[board->order.which];
	const struct post_queue *queue = context_queue(context);
	const struct stand_order *order = &board->order;
	struct error error = {0};
	struct post_list list;
	int code = post_list_open(&list, order->list ? order->list : 1, &error);

	for (unsigned int i = 0; !code && i < list.n; i++) {
		list.works[i] = ordered(context, i);
		list.works[i].id = FIRST_RECEIVE + i;
	}
	if (code)
		return stand_end(ctx, code, &error);
	post_list_link(&list, POST_SEND);
	if (order->list)
		code = queue->srq ? post_receive_list_shared(queue, &list, list.n)
				  : post_receive_list(queue, &list, list.n);
	else
		code = queue->srq ? post_receive_shared(queue, &list.works[0])
				  : post_receive(queue, &list.works[0]);
	post_list_close(&list);
	if (code)
		code = error_set_errno(&error, verbs_result(code), "cannot post a receive");
	return stand_end(ctx, code, &error);
}

static int run_take(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	struct error error = {0};
	struct ibv_wc wc;
	int code = take(&wc, &error);

	if (!code && !(wc.opcode & IBV_WC_RECV))
		code = error_set(&error, -EPROTO, "the completion is not of a receive");
	if (!code) {
		*value = wc.byte_len;
		ctx->received.offset = wc.wc_flags & IBV_WC_WITH_IMM ? post_imm(&wc) : 0;
		for (size_t i = 0; i < here.n; i++)
			if (here.contexts[i].qp->qp_num == wc.qp_num)
				ctx->received.length = i;
	}
	return stand_end(ctx, code, &error);
}

static int run_wait(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	struct error error = {0};
	struct ibv_wc wc;
	int got;

	do
		got = completion_wait(&here.endpoint.completion, 1, &wc, 10 * NS_PER_S, &error);
	while (got >= 0);
	return stand_end(ctx, got, &error);
}

static int run_nothing(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	struct error error = {0};
	struct ibv_wc wc;
	int got = completion_poll(&here.endpoint.completion, 1, &wc);

	if (got)
		error_set(&error, -EPROTO, "unexpected completion of %lu", wc.wr_id);
	return stand_end(ctx, error.code, &error);
}

static int run_close_contexts(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	int result = 0;

	for (unsigned int i = 0; i < here.n; i++)
		if (rdma_close(&here.contexts[i]))
			result = tell(ctx, &here.contexts[i], -1);
	here.n = 0;
	return result;
}

static int run_reset(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	struct error error = {0};

	return stand_end(ctx, endpoint_reset(&here.endpoint, &error), &error);
}

static int run_strike(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	struct error error = {0};
	int code = endpoint_close(&here.endpoint);

	if (code)
		return stand_end(ctx, code, &(struct error){.text = "cannot close the endpoint"});
	device_close(&here.device);
	ctx->buffer = NULL;
	return stand_end(ctx, 0, &error);
}

struct task task_stand(enum stand_end end)
{
	return (struct task){.run = run_stand, .a = end};
}

struct task task_pairs(unsigned int n)
{
	return (struct task){.run = run_pairs, .a = n};
}

struct task task_join(void)
{
	return (struct task){.run = run_join};
}

struct task task_listeners(unsigned int n)
{
	return (struct task){.run = run_listeners, .a = n};
}

struct task task_accept(void)
{
	return (struct task){.run = run_accept};
}

struct task task_callers(unsigned int n)
{
	struct task task = {.run = run_callers, .a = n};

	snprintf(task.host, sizeof(task.host), "%s", device_host());
	return task;
}

struct task task_post(void)
{
	return (struct task){.run = run_post};
}

struct task task_receives(void)
{
	return (struct task){.run = run_receives};
}

struct task task_take(void)
{
	return (struct task){.run = run_take};
}

struct task task_wait(void)
{
	return (struct task){.run = run_wait};
}

struct task task_nothing(void)
{
	return (struct task){.run = run_nothing};
}

struct task task_close_contexts(void)
{
	return (struct task){.run = run_close_contexts};
}

struct task task_reset(void)
{
	return (struct task){.run = run_reset};
}

struct task task_strike(void)
{
	return (struct task){.run = run_strike};
}

struct stand_agents stand_endpoints(void)
{
	struct stand_agents agents = {agent_start(NULL), agent_start(NULL)};

	agent_must(agents.client, task_stand(CLIENT));
	agent_must(agents.server, task_stand(SERVER));
	return agents;
}

void stand_join(struct stand_agents agents, unsigned int n)
{
	/* rxe has the extended interface; otherwise the classic variants would test nothing. */
	assert_int_equal(agent_must(agents.client, task_pairs(n)).value, n);
	assert_int_equal(agent_must(agents.server, task_pairs(n)).value, n);
	agent_must(agents.server, task_join());
	agent_must(agents.client, task_join());
}

void stand_call(struct stand_agents agents, unsigned int n)
{
	struct outcome outcome;

	agent_must(agents.server, task_listeners(n));
	agent_begin(agents.server, task_accept());
	agent_must(agents.client, task_callers(n));
	outcome = agent_end(agents.server);
	assert_succeeded(&outcome);
}

void stand_part(struct stand_agents agents)
{
	agent_must(agents.client, task_close_contexts());
	agent_must(agents.server, task_close_contexts());
}

void stand_stop(struct stand_agents agents)
{
	stand_part(agents);
	agent_must(agents.client, task_strike());
	agent_must(agents.server, task_strike());
	agent_stop(agents.client);
	agent_stop(agents.server);
}

void stand_send(struct agent *from, struct agent *to, unsigned int which, size_t length)
{
	size_t front = transport_head(board->plan.pair.transport);
	struct outcome outcome;

	agent_must(from, task_fill(which + length, 0, STAND_BUFFER));
	agent_must(to, task_fill(which + length + 1, 0, STAND_BUFFER));
	board->order = (struct stand_order){.which = which, .length = front + length};
	agent_must(to, task_receives());
	board->order.operation = POST_SEND;
	board->order.length = length;
	agent_must(from, task_post());
	outcome = agent_must(to, task_take());
	assert_int_equal(outcome.value, front + length);
	assert_int_equal(outcome.received.length, which);
	agent_must(to, task_compare(which + length, front, length, 0));
	agent_must(to, task_compare(which + length + 1, front + length,
				    STAND_BUFFER - front - length, front + length));
}
