/* SPDX-License-Identifier: MIT */
/*
 * Planned faults take effect: calls fail as documented in their manual pages, completions have the
 * planned status and their data does not arrive, and faults of the link or the peer are reported as
 * real devices do.
 */
#include <errno.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/soft/fault/fault.h"
#include "core/test/soft/stage.h"

enum {
	LENGTH = 64,
	ID = 40,
};

static void assert_fired(const char *text)
{
	if (!soft_fault_fired(text))
		fail_msg("%s did not fire", text);
}

static void open_with(struct stage *stage, const char *plan, const struct stage_ways *ways)
{
	soft_fault_load(plan);
	stage_open(stage, ways);
}

static void send_one(struct stage *stage, uint64_t wr_id)
{
	struct ibv_send_wr wr = {
		.wr_id = wr_id, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};

	assert_int_equal(stage_post(stage, &wr, LENGTH), 0);
}

static void test_wrong_plans(void **unused)
{
	static const struct {
		const char *plan;
		const char *words;
	} rows[] = {
		{"ibv_creat_cq#2=ENOMEM",    "expected a verbs or rdma_cm call"              },
		{"ibv_create_cq#0=ENOMEM",   "must be a number from 1"                       },
		{"ibv_create_cq#x=ENOMEM",   "must be a number from 1"                       },
		{"ibv_create_cq#1+1=ENOMEM", "expected N, N+ or N-M after '#'"               },
		{"ibv_create_cq#9-3=ENOMEM", "the end of a range must not be below its start"},
		{"ibv_create_cq#2",          "WHAT#COUNT=FAULT"                              },
		{"ibv_create_cq#2=NOMEM",    "expected the name of an errno, or stall:TIME"  },
		{"ibv_poll_cq=stall:5",      "expected the name of an errno, or stall:TIME"  },
		{"ibv_poll_cq=stall:5min",   "expected the name of an errno, or stall:TIME"  },
		{"completion#5=SUCCESS",     "expected a completion status"                  },
		{"cm:ESTABLISHD=lost",       "unknown rdma_cm event"                         },
		{"cm:ESTABLISHED=lots",      "expected lost, late:TIME or another event"     },
		{"message#7=delay",          "expected duplicate or delay:TIME"              },
		{"link#7=up:5ms",            "expected down:TIME"                            },
		{"device#3s=gone",           "expected 'removed'"                            },
		{"peer=500ms",               "expected stall:TIME"                           },
		{"seed=x",                   "the seed must be a whole number"               },
	};
	struct soft_fault_plan plan;

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		soft_fault_plan_parse(&plan, rows[i].plan);
		assert_int_equal(plan.count, 0);
		assert_non_null(strstr(plan.wrong, rows[i].plan));
		if (!strstr(plan.wrong, rows[i].words))
			fail_msg("'%s': not: %s", plan.wrong, rows[i].words);
	}
}

static void test_invalid_plan_hides_device(void **unused)
{
	struct ibv_device **list;
	int count = 1;

	soft_fault_load("ibv_poll_cq");
	list = ibv_get_device_list(&count);
	assert_int_equal(count, 0);
	assert_non_null(list);
	assert_null(list[0]);
	ibv_free_device_list(list);
	assert_null(rdma_create_event_channel());
	assert_int_equal(errno, ENODEV);
}

static void test_plan(void **unused)
{
	static const char text[] = " ibv_create_cq#2=ENOMEM;completion#5=WR_FLUSH_ERR\n"
				   "cm:ESTABLISHED#1=late:200ms ; cm:REJECTED=UNREACHABLE;;"
				   "ibv_poll_cq#3+=EIO; device#3s=removed; report=/tmp/x";
	struct soft_fault_plan plan;

	soft_fault_plan_parse(&plan, text);
	assert_string_equal(plan.wrong, "");
	assert_int_equal(plan.count, 6);
	assert_string_equal(plan.fault[0].text, "ibv_create_cq#2=ENOMEM");
	assert_int_equal(plan.fault[0].n, 2);
	assert_int_equal(plan.fault[0].value, 12);
	assert_int_equal(plan.fault[1].value, 5);
	assert_int_equal(plan.fault[2].which, 9);
	assert_int_equal(plan.fault[2].value, 200000000);
	assert_int_equal(plan.fault[3].n, 1);
	assert_int_equal(plan.fault[3].value, 7);
	assert_true(plan.fault[4].is_lasting);
	assert_int_equal(plan.fault[5].after_ns, 3000000000);
	assert_true(plan.reports);
	assert_string_equal(plan.report, "/tmp/x");
}

/* The first number of splitmix64 with seed 0 is 0xe220a8397b1dcdaf, which selects 36 of 100. */
static void test_seed(void **unused)
{
	struct soft_fault_plan plan;

	soft_fault_plan_parse(&plan, "message#1-100=duplicate; seed=0");
	assert_int_equal(plan.fault[0].n, 36);
	soft_fault_plan_parse(&plan, "seed=1; message#1-100=duplicate");
	assert_in_range(plan.fault[0].n, 1, 100);
	assert_int_not_equal(plan.fault[0].n, 36);
}

/* Each kind of function reports the fault in its own way; the next call works again. */
static void test_calls(void **unused)
{
	static const char plan[] = "ibv_alloc_pd#2=ENOMEM;ibv_query_gid#2=EIO;"
				   "ibv_query_device=EPERM;ibv_query_gid_table=ENODATA;"
				   "ibv_query_port=EBUSY;ibv_destroy_ah=EFAULT;"
				   "rdma_create_id#1+=EMFILE;ibv_poll_cq=EIO;"
				   "ibv_req_notify_cq=EINVAL;ibv_post_recv=ENOSPC";
	struct ibv_recv_wr wr = {.wr_id = ID};
	struct ibv_recv_wr *bad = NULL;
	struct ibv_device_attr device;
	struct ibv_port_attr port;
	struct ibv_gid_entry entry[32];
	struct rdma_cm_id *id;
	struct ibv_wc wc;
	struct stage stage;
	union ibv_gid gid;

	open_with(&stage, plan, &(struct stage_ways){0});
	errno = 0;
	assert_null(ibv_alloc_pd(stage.context));
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(ibv_query_gid(stage.context, 1, 0, &gid), -1);
	assert_int_equal(errno, EIO);
	assert_int_equal(ibv_query_device(stage.context, &device), EPERM);
	assert_int_equal(ibv_query_device(stage.context, &device), 0);
	assert_int_equal(ibv_query_gid_table(stage.context, entry, 32, 0), -ENODATA);
	assert_int_equal(ibv_query_port(stage.context, 1, &port), EBUSY);
	assert_int_equal(ibv_query_port(stage.context, 1, &port), 0);
	assert_int_equal(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP), -1);
	assert_int_equal(errno, EMFILE);
	assert_int_equal(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP), -1);
	assert_true(ibv_poll_cq(stage.end[0].cq, 1, &wc) < 0);
	assert_int_equal(ibv_poll_cq(stage.end[0].cq, 1, &wc), 0);
	assert_int_equal(ibv_req_notify_cq(stage.end[0].cq, 0), EINVAL);
	assert_int_equal(ibv_post_recv(stage.end[0].qp, &wr, &bad), ENOSPC);
	assert_ptr_equal(bad, &wr);
	assert_int_equal(soft_fault_fired("rdma_create_id#1+=EMFILE"), 2);
	assert_int_equal(soft_fault_fired("ibv_destroy_ah=EFAULT"), 0);
	stage_close(&stage);
}

/* A failing post posts nothing. */
static void test_posts(void **unused)
{
	struct ibv_send_wr wr = {
		.wr_id = ID, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_qp_ex *extended;
	struct stage stage;

	open_with(&stage, "ibv_post_send#1=ENOMEM;ibv_wr_complete#1=EINVAL",
		  &(struct stage_ways){0});
	extended = ibv_qp_to_qp_ex(stage.end[0].qp);
	stage_receive(&stage, LENGTH, ID);
	assert_int_equal(stage_post(&stage, &wr, LENGTH), ENOMEM);
	for (int i = 0; i < 2; i++) {
		ibv_wr_start(extended);
		extended->wr_id = ID + 1;
		extended->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_send(extended);
		ibv_wr_set_sge(extended, stage.mr->lkey, (uintptr_t)stage.buffer, LENGTH);
		assert_int_equal(ibv_wr_complete(extended), i ? 0 : EINVAL);
	}
	assert_int_equal(stage_await(stage.end[0].cq).wr_id, ID + 1);
	assert_int_equal(stage_await(stage.end[1].cq).wr_id, ID);
	assert_true(stage_is_empty(stage.end[0].cq));
	stage_close(&stage);
}

static void expect(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status)
{
	struct ibv_wc wc = stage_await(cq);

	assert_int_equal(wc.wr_id, wr_id);
	assert_int_equal(wc.status, status);
}

/* With any status, a send is not carried out, and later sends are flushed. */
static void test_send_statuses(void **unused)
{
	for (uint32_t status = 1; soft_fault_status_name(status); status++) {
		struct stage stage;
		char plan[64];

		snprintf(plan, sizeof(plan), "completion#1=%s", soft_fault_status_name(status));
		open_with(&stage, plan, &(struct stage_ways){0});
		stage_receive(&stage, LENGTH, ID);
		memset(stage.end[0].buffer, 'x', LENGTH);
		send_one(&stage, 1);
		send_one(&stage, 2);
		expect(stage.end[0].cq, 1, (enum ibv_wc_status)status);
		expect(stage.end[0].cq, 2, IBV_WC_WR_FLUSH_ERR);
		assert_int_equal(stage_state(stage.end[0].qp), IBV_QPS_ERR);
		assert_int_equal(stage.end[1].buffer[0], 0);
		assert_fired(plan);
		stage_close(&stage);
	}
}

/* IBTA specification, 9.9: a responder that rejects a request stops, too. */
static void test_both_ends_stop(void **unused)
{
	struct stage stage;

	open_with(&stage, "send#2=REM_ACCESS_ERR", &(struct stage_ways){0});
	stage_receive(&stage, LENGTH, ID);
	stage_receive(&stage, LENGTH, ID + 1);
	send_one(&stage, 1);
	send_one(&stage, 2);
	expect(stage.end[0].cq, 1, IBV_WC_SUCCESS);
	expect(stage.end[0].cq, 2, IBV_WC_REM_ACCESS_ERR);
	expect(stage.end[1].cq, ID, IBV_WC_SUCCESS);
	expect(stage.end[1].cq, ID + 1, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(stage_state(stage.end[1].qp), IBV_QPS_ERR);
	assert_int_equal(stage_await_event(&stage), IBV_EVENT_QP_ACCESS_ERR);
	stage_close(&stage);
}

static void test_receive_statuses(void **unused)
{
	for (uint32_t status = 1; soft_fault_status_name(status); status++) {
		struct stage stage;
		char plan[64];

		snprintf(plan, sizeof(plan), "receive#2=%s", soft_fault_status_name(status));
		open_with(&stage, plan, &(struct stage_ways){0});
		memset(stage.end[0].buffer, 'x', LENGTH);
		for (unsigned int i = 0; i < 3; i++)
			stage_receive(&stage, LENGTH, ID + i);
		send_one(&stage, 1);
		expect(stage.end[1].cq, ID, IBV_WC_SUCCESS);
		assert_int_equal(stage.end[1].buffer[0], 'x');
		memset(stage.end[0].buffer, 'y', LENGTH);
		send_one(&stage, 2);
		send_one(&stage, 3);
		expect(stage.end[1].cq, ID + 1, (enum ibv_wc_status)status);
		expect(stage.end[1].cq, ID + 2, IBV_WC_WR_FLUSH_ERR);
		assert_int_equal(stage.end[1].buffer[0], 'x');
		assert_int_equal(stage_state(stage.end[1].qp), IBV_QPS_ERR);
		assert_fired(plan);
		stage_close(&stage);
	}
}

static struct ibv_ah *address_of(struct stage *stage)
{
	struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1};
	struct ibv_ah *ah;

	assert_int_equal(ibv_query_gid(stage->context, 1, 0, &attr.grh.dgid), 0);
	ah = ibv_create_ah(stage->pd, &attr);
	assert_non_null(ah);
	return ah;
}

/* IBTA specification, 9.7.5.1.2: connections recognize duplicates by their sequence number. */
static void test_duplicates(void **unused)
{
	static const struct {
		enum ibv_qp_type type;
		bool comes_twice;
	} rows[] = {
		{IBV_QPT_RC, false},
                {IBV_QPT_UC, false},
                {IBV_QPT_UD, true }
        };

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		const struct stage_ways ways = {.type = rows[i].type};
		struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
		struct ibv_ah *ah = NULL;
		struct stage stage;

		open_with(&stage, "message#1=duplicate", &ways);
		stage_receive(&stage, 2 * LENGTH, ID);
		stage_receive(&stage, 2 * LENGTH, ID + 1);
		if (rows[i].type == IBV_QPT_UD) {
			ah = wr.wr.ud.ah = address_of(&stage);
			wr.wr.ud.remote_qpn = stage.end[1].qp->qp_num;
			wr.wr.ud.remote_qkey = STAGE_QKEY;
		}
		assert_int_equal(stage_post(&stage, &wr, LENGTH), 0);
		expect(stage.end[0].cq, 0, IBV_WC_SUCCESS);
		expect(stage.end[1].cq, ID, IBV_WC_SUCCESS);
		assert_fired("message#1=duplicate");
		assert_int_equal(!stage_is_empty(stage.end[1].cq), rows[i].comes_twice);
		assert_true(stage_is_empty(stage.end[0].cq));
		/* The connection still works. */
		if (rows[i].type == IBV_QPT_RC) {
			assert_int_equal(stage_post(&stage, &wr, LENGTH), 0);
			expect(stage.end[1].cq, ID + 1, IBV_WC_SUCCESS);
		}
		if (ah)
			assert_int_equal(ibv_destroy_ah(ah), 0);
		stage_close(&stage);
	}
}

/* Later messages on the connection do not overtake a delayed one. */
static void test_delay(void **unused)
{
	struct stage stage;

	open_with(&stage, "message#1=delay:100ms", &(struct stage_ways){0});
	stage_receive(&stage, LENGTH, ID);
	stage_receive(&stage, LENGTH, ID + 1);
	send_one(&stage, 1);
	send_one(&stage, 2);
	assert_true(stage_is_empty(stage.end[1].cq));
	expect(stage.end[1].cq, ID, IBV_WC_SUCCESS);
	expect(stage.end[0].cq, 1, IBV_WC_SUCCESS);
	expect(stage.end[0].cq, 2, IBV_WC_SUCCESS);
	stage_close(&stage);
}

static enum ibv_port_state port_state(struct stage *stage)
{
	struct ibv_port_attr attr;

	assert_int_equal(ibv_query_port(stage->context, 1, &attr), 0);
	return attr.state;
}

static void test_link(void **unused)
{
	/* 7 retries of 4.096 us * 2^16 take longer than the link is down. */
	const struct stage_ways patient = {.timeout = 16, .retry_cnt = 7};
	struct stage stage;

	open_with(&stage, "link#2=down:100ms", &patient);
	stage_receive(&stage, LENGTH, ID);
	stage_receive(&stage, LENGTH, ID + 1);
	send_one(&stage, 1);
	assert_int_equal(port_state(&stage), IBV_PORT_ACTIVE);
	send_one(&stage, 2);
	expect(stage.end[1].cq, ID, IBV_WC_SUCCESS);
	assert_int_equal(stage_await_event(&stage), IBV_EVENT_PORT_ERR);
	assert_int_equal(stage_await_event(&stage), IBV_EVENT_PORT_ACTIVE);
	assert_int_equal(port_state(&stage), IBV_PORT_ACTIVE);
	expect(stage.end[0].cq, 1, IBV_WC_SUCCESS);
	expect(stage.end[0].cq, 2, IBV_WC_SUCCESS);
	expect(stage.end[1].cq, ID + 1, IBV_WC_SUCCESS);
	stage_close(&stage);
}

/* The link is down for longer than the only retry, after 4.096 us * 2. */
static void test_link_down_for_too_long(void **unused)
{
	const struct stage_ways impatient = {.timeout = 1, .retry_cnt = 1};
	struct stage stage;

	open_with(&stage, "link#1=down:3600s", &impatient);
	stage_receive(&stage, LENGTH, ID);
	send_one(&stage, 1);
	expect(stage.end[0].cq, 1, IBV_WC_RETRY_EXC_ERR);
	assert_int_equal(port_state(&stage), IBV_PORT_DOWN);
	assert_true(stage_is_empty(stage.end[1].cq));
	stage_close(&stage);
}

static void test_removal(void **unused)
{
	const union ibv_gid group = {
		.raw = {0xff, 0x0e}
        };
	struct stage stage;

	open_with(&stage, "device#2=removed", &(struct stage_ways){0});
	stage_receive(&stage, LENGTH, ID);
	stage_receive(&stage, LENGTH, ID + 1);
	send_one(&stage, 1);
	send_one(&stage, 2);
	assert_int_equal(stage_await_event(&stage), IBV_EVENT_DEVICE_FATAL);
	expect(stage.end[0].cq, 1, IBV_WC_SUCCESS);
	expect(stage.end[0].cq, 2, IBV_WC_WR_FLUSH_ERR);
	expect(stage.end[1].cq, ID, IBV_WC_SUCCESS);
	expect(stage.end[1].cq, ID + 1, IBV_WC_WR_FLUSH_ERR);
	assert_null(ibv_alloc_pd(stage.context));
	assert_int_equal(errno, EIO);
	assert_int_equal(ibv_attach_mcast(stage.end[0].qp, &group, 0), EIO);
	stage_close(&stage);
}

static void test_removal_after_a_time(void **unused)
{
	struct stage stage = {0};

	/* Only an open context gets the event; set up nothing else. */
	soft_fault_load("device#1s=removed");
	stage.context = stage_open_device();
	assert_int_equal(stage_await_event(&stage), IBV_EVENT_DEVICE_FATAL);
	assert_fired("device#1s=removed");
	assert_int_equal(ibv_close_device(stage.context), 0);
}

/* A stalled program posts no receives; rnr_retry decides whether sends fail. */
static void test_stall(void **unused)
{
	const struct stage_ways patient = {.rnr_retry = 7};
	struct stage stage;

	open_with(&stage, "peer#1=stall:3600s", &(struct stage_ways){0});
	stage_receive(&stage, LENGTH, ID);
	send_one(&stage, 1);
	expect(stage.end[0].cq, 1, IBV_WC_RNR_RETRY_EXC_ERR);
	stage_close(&stage);

	open_with(&stage, "peer#1=stall:50ms", &patient);
	stage_receive(&stage, LENGTH, ID);
	send_one(&stage, 1);
	expect(stage.end[0].cq, 1, IBV_WC_SUCCESS);
	expect(stage.end[1].cq, ID, IBV_WC_SUCCESS);
	stage_close(&stage);
}

/* Resolves the address of the software device. Returns the event; -1: none in time. */
static int resolve(const char *plan, int patience_ms, int *status)
{
	struct sockaddr_in local = {.sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct rdma_event_channel *channel;
	struct pollfd readable = {.events = POLLIN};
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	int type = -1;

	soft_fault_load(plan);
	channel = rdma_create_event_channel();
	assert_non_null(channel);
	assert_int_equal(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	assert_int_equal(rdma_resolve_addr(id, NULL, (struct sockaddr *)&local, 1000), 0);
	readable.fd = channel->fd;
	if (poll(&readable, 1, patience_ms) == 1) {
		assert_int_equal(rdma_get_cm_event(channel, &event), 0);
		type = (int)event->event;
		*status = event->status;
		assert_int_equal(rdma_ack_cm_event(event), 0);
	}
	/* A second attempt succeeds. */
	if (type == RDMA_CM_EVENT_ADDR_ERROR) {
		assert_int_equal(rdma_resolve_addr(id, NULL, (struct sockaddr *)&local, 1000), 0);
		assert_int_equal(rdma_get_cm_event(channel, &event), 0);
		assert_int_equal(event->event, RDMA_CM_EVENT_ADDR_RESOLVED);
		assert_int_equal(rdma_ack_cm_event(event), 0);
	}
	assert_fired(plan);
	assert_int_equal(rdma_destroy_id(id), 0);
	rdma_destroy_event_channel(channel);
	return type;
}

static void test_events(void **unused)
{
	int status = 0;

	assert_int_equal(resolve("cm:ADDR_RESOLVED=lost", 200, &status), -1);
	assert_int_equal(resolve("cm:ADDR_RESOLVED=late:3600s", 200, &status), -1);
	assert_int_equal(resolve("cm:ADDR_RESOLVED=late:50ms", 10000, &status),
			 RDMA_CM_EVENT_ADDR_RESOLVED);
	assert_int_equal(status, 0);
	assert_int_equal(resolve("cm:ADDR_RESOLVED=ADDR_ERROR", 10000, &status),
			 RDMA_CM_EVENT_ADDR_ERROR);
	assert_int_equal(status, -ETIMEDOUT);
}

/* A fault may prevent a program from destroying an identifier before its channel. */
static void test_channel_is_destroyed_first(void **unused)
{
	struct rdma_event_channel *channel;
	struct rdma_event_channel *other;
	struct rdma_cm_id *id[2];

	soft_fault_load("rdma_destroy_id#9=ENOMEM");
	channel = rdma_create_event_channel();
	other = rdma_create_event_channel();
	assert_non_null(channel);
	assert_non_null(other);
	for (int i = 0; i < 2; i++)
		assert_int_equal(rdma_create_id(channel, &id[i], NULL, RDMA_PS_TCP), 0);
	rdma_destroy_event_channel(channel);
	assert_int_equal(rdma_migrate_id(id[0], other), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(rdma_destroy_id(id[i]), 0);
	rdma_destroy_event_channel(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wrong_plans),
		cmocka_unit_test(test_invalid_plan_hides_device),
		cmocka_unit_test(test_plan),
		cmocka_unit_test(test_seed),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_posts),
		cmocka_unit_test(test_send_statuses),
		cmocka_unit_test(test_both_ends_stop),
		cmocka_unit_test(test_receive_statuses),
		cmocka_unit_test(test_duplicates),
		cmocka_unit_test(test_delay),
		cmocka_unit_test(test_link),
		cmocka_unit_test(test_link_down_for_too_long),
		cmocka_unit_test(test_removal),
		cmocka_unit_test(test_removal_after_a_time),
		cmocka_unit_test(test_stall),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_channel_is_destroyed_first),
	};

	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
