/* SPDX-License-Identifier: MIT */
/*
 * What one end lets go of while another one may still be at it: a device that a forked child
 * closes, a channel, a guest's lanes, an event that could not be rung.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/soft/channel.h"
#include "core/soft/cq.h"
#include "core/soft/process.h"
#include "core/soft/test/pair.h"

enum {
	PATIENCE_S = 20,
	TRIES = PATIENCE_S * 1000, /* of a millisecond */
	KEY = 12345,
};

/* The parent's device is as it was, for who was connected and for who comes later. */
static void test_a_child_that_closes(void **unused)
{
	const struct stage_ways ways = {0};
	struct pair first;
	struct pair second;
	pid_t child;
	int result;

	pair_set_up(&first, pair_sleep, &ways);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		alarm(PATIENCE_S);
		_exit(ibv_close_device(first.stage.context));
	}
	assert_int_equal(waitpid(child, &result, 0), child);
	assert_int_equal(result, 0);
	pair_set_up(&second, pair_sleep, &ways);
	pair_post(&first, IBV_WR_RDMA_WRITE, 8);
	assert_int_equal(pair_status(&first), IBV_WC_SUCCESS);
	pair_post(&second, IBV_WR_RDMA_WRITE, 8);
	assert_int_equal(pair_status(&second), IBV_WC_SUCCESS);
	pair_tell(second.socket, "e", 1);
	pair_tear_down(&second);
	pair_tell(first.socket, "e", 1);
	pair_tear_down(&first);
}

/* A child that opened its own has that still, when it has closed its parent's. */
static void test_a_child_that_closes_both(void **unused)
{
	struct ibv_context *context = stage_open_device();
	pid_t child = fork();
	int result;

	assert_true(child >= 0);
	if (!child) {
		struct ibv_context *own = stage_open_device();

		alarm(PATIENCE_S);
		ibv_close_device(context);
		result = ibv_alloc_pd(own) && soft_process.registry.file ? 0 : 1;
		_exit(ibv_close_device(own) || result);
	}
	assert_int_equal(waitpid(child, &result, 0), child);
	assert_int_equal(result, 0);
	assert_int_equal(ibv_close_device(context), 0);
}

struct name {
	uint32_t number;
	uint32_t generation;
};

static void give_up_channel(struct pair *pair)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(pair->stage.context);
	struct name name = {0};

	assert_non_null(channel);
	name.number = soft_channel_of(channel)->number;
	name.generation = soft_channel_of(channel)->generation;
	pair_tell(pair->socket, &name, sizeof(name));
	pair_sleep(pair);
	assert_int_equal(ibv_destroy_comp_channel(channel), 0);
	pair_tell(pair->socket, "g", 1);
	pair_sleep(pair);
}

/* Who was about to ring it writes to nothing of the program's. */
static void test_a_channel_that_goes(void **unused)
{
	struct soft_peer *peer;
	struct name name;
	struct pair pair;
	char word;
	int fd;

	pair_set_up(&pair, give_up_channel, &(struct stage_ways){0});
	pair_hear(pair.socket, &name, sizeof(name));
	peer = soft_peer_find(soft_image_slot(pair.there.number));
	assert_non_null(peer);
	fd = soft_peer_channel(peer, name.number, name.generation);
	assert_true(fd >= 0);
	pair_tell(pair.socket, "g", 1);
	pair_hear(pair.socket, &word, 1);
	for (int i = 0; soft_peer_channel(peer, name.number, name.generation) >= 0; i++) {
		assert_true(i < TRIES);
		usleep(1000);
	}
	assert_true(fcntl(fd, F_GETFD) >= 0);
	soft_service_ring(fd);
	pair_tell(pair.socket, "e", 1);
	pair_tear_down(&pair);
	assert_true(fcntl(fd, F_GETFD) < 0);
}

static void leave(struct pair *pair)
{
	pair_sleep(pair);
	soft_peer_leave(soft_peer_find(soft_image_slot(pair->there.number)));
	pair_sleep(pair);
}

static bool has_guests(void)
{
	bool result;

	pthread_mutex_lock(&soft_process.door.mutex);
	result = soft_process.door.guests != NULL;
	pthread_mutex_unlock(&soft_process.door.mutex);
	return result;
}

/* It may be copying still: its regions stay until it says that it is not. */
static void test_a_guest_that_goes_and_lives(void **unused)
{
	_Atomic uint32_t *lane;
	struct pair pair;

	pair_set_up(&pair, leave, &(struct stage_ways){0});
	lane = soft_process.arena.image->lanes[soft_image_slot(pair.there.number)][0].key;
	assert_true(has_guests());
	atomic_store(lane, KEY);
	pair_tell(pair.socket, "l", 1);
	for (int i = 0; has_guests(); i++) {
		assert_true(i < TRIES);
		usleep(1000);
	}
	assert_int_equal(atomic_load(lane), KEY);
	atomic_store(lane, 0);
	pair_tell(pair.socket, "e", 1);
	pair_tear_down(&pair);
}

static void write_here(struct stage *stage)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {(uintptr_t)stage->end[1].buffer, stage->mr->rkey},
	};

	assert_int_equal(stage_post(stage, &wr, 8), 0);
	assert_int_equal(stage_await(stage->end[0].cq).status, IBV_WC_SUCCESS);
}

/* An event for which there was no descriptor comes as soon as its owner looks. */
static void test_an_event_that_was_not_rung(void **unused)
{
	struct soft_peer_channel *entry;
	struct soft_cq_image *image;
	struct pollfd readable = {.events = POLLIN};
	struct stage stage;
	struct ibv_cq *cq;
	void *context;

	stage_open(&stage, &(struct stage_ways){0});
	image = soft_cq_of(stage.end[0].cq)->image;
	entry = &soft_process.own_channels[image->channel];
	readable.fd = stage.channel->fd;
	assert_int_equal(ibv_req_notify_cq(stage.end[0].cq, 0), 0);
	soft_peer_set_channel(entry, -1, 0);
	write_here(&stage);
	soft_peer_set_channel(entry, readable.fd, image->channel_generation);
	assert_int_equal(poll(&readable, 1, 0), 0);
	soft_process_mend();
	assert_int_equal(poll(&readable, 1, 0), 1);
	assert_int_equal(ibv_get_cq_event(stage.channel, &cq, &context), 0);
	assert_ptr_equal(cq, stage.end[0].cq);
	ibv_ack_cq_events(cq, 1);
	/* And once only. */
	soft_process_mend();
	assert_int_equal(poll(&readable, 1, 0), 0);
	stage_close(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_a_child_that_closes, pair_end_child),
		cmocka_unit_test(test_a_child_that_closes_both),
		cmocka_unit_test_teardown(test_a_channel_that_goes, pair_end_child),
		cmocka_unit_test_teardown(test_a_guest_that_goes_and_lives, pair_end_child),
		cmocka_unit_test(test_an_event_that_was_not_rung),
	};

	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
