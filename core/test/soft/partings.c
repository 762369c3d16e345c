/* SPDX-License-Identifier: MIT */
/*
 * What one end lets go of while another one may still be at it: a device that a forked child
 * closes, and a guest's lanes.
 */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/soft/peer/process.h"
#include "core/test/soft/pair.h"

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
	const struct stage_ways ways = {0};
	_Atomic uint32_t *lane;
	struct pair pair;
	struct pair next;

	pair_set_up(&pair, leave, &ways);
	lane = soft_process.arena.image->lanes[soft_image_slot(pair.there.number)][0].key;
	assert_true(has_guests());
	atomic_store(lane, KEY);
	pair_tell(pair.socket, "l", 1);
	for (int i = 0; has_guests(); i++) {
		assert_true(i < TRIES);
		usleep(1000);
	}
	/* Who lets the next one in is through with that one. */
	pair_set_up(&next, pair_sleep, &ways);
	assert_int_equal(atomic_load(lane), KEY);
	atomic_store(lane, 0);
	pair_tell(next.socket, "e", 1);
	pair_tear_down(&next);
	pair_tell(pair.socket, "e", 1);
	pair_tear_down(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_a_child_that_closes, pair_end_child),
		cmocka_unit_test(test_a_child_that_closes_both),
		cmocka_unit_test_teardown(test_a_guest_that_goes_and_lives, pair_end_child),
	};

	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
