/* SPDX-License-Identifier: MIT */
/*
 * Objects that are released while another process may still use them: a device that a forked child
 * closes, the lanes of a guest, and a completion channel.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/soft/op/channel.h"
#include "core/soft/peer/process.h"
#include "core/test/soft/pair.h"

enum {
	PATIENCE_S = 20,
	TRIES = PATIENCE_S * 1000, /* 1 ms each */
	KEY = 12345,
};

/* The parent's device still works for existing and new connections. */
static void test_child_closes_parents_device(void **unused)
{
	const struct stage_ways ways = {0};
	struct pair first;
	struct pair second;
	pid_t child;
	int result;

	pair_set_up(&first, pair_wait, &ways);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		alarm(PATIENCE_S);
		_exit(ibv_close_device(first.stage.context));
	}
	assert_int_equal(waitpid(child, &result, 0), child);
	assert_int_equal(result, 0);
	pair_set_up(&second, pair_wait, &ways);
	pair_post(&first, IBV_WR_RDMA_WRITE, 8);
	assert_int_equal(pair_status(&first), IBV_WC_SUCCESS);
	pair_post(&second, IBV_WR_RDMA_WRITE, 8);
	assert_int_equal(pair_status(&second), IBV_WC_SUCCESS);
	pair_send(second.socket, "e", 1);
	pair_tear_down(&second);
	pair_send(first.socket, "e", 1);
	pair_tear_down(&first);
}

/* A child can still use its own device after it closed its parent's. */
static void test_child_keeps_its_own_device(void **unused)
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
	pair_wait(pair);
	soft_peer_leave(soft_peer_find(soft_image_slot(pair->peer.number)));
	pair_wait(pair);
}

static bool has_guests(void)
{
	bool result;

	pthread_mutex_lock(&soft_process.door.mutex);
	result = soft_process.door.guests != NULL;
	pthread_mutex_unlock(&soft_process.door.mutex);
	return result;
}

/* A guest that disconnects may still be copying: it holds regions until it clears its lanes. */
static void test_guest_disconnects_while_copying(void **unused)
{
	const struct stage_ways ways = {0};
	_Atomic uint32_t *lane;
	struct pair pair;
	struct pair next;

	pair_set_up(&pair, leave, &ways);
	lane = soft_process.arena.image->lanes[soft_image_slot(pair.peer.number)][0].key;
	assert_true(has_guests());
	atomic_store(lane, KEY);
	pair_send(pair.socket, "l", 1);
	for (int i = 0; has_guests(); i++) {
		assert_true(i < TRIES);
		usleep(1000);
	}
	/* Once the next guest is in, the previous one has been handled completely. */
	pair_set_up(&next, pair_wait, &ways);
	assert_int_equal(atomic_load(lane), KEY);
	atomic_store(lane, 0);
	pair_send(next.socket, "e", 1);
	pair_tear_down(&next);
	pair_send(pair.socket, "e", 1);
	pair_tear_down(&pair);
}

/*
 * Fills the eventfd of its channel, so that the next process to raise an event blocks in the write,
 * and destroys the channel during the write.
 */
static void part_with_a_full_channel(struct pair *pair)
{
	const struct soft_channel *channel = soft_channel_of(pair->stage.channel);
	const uint64_t most = UINT64_MAX - 1;
	struct ibv_cq *cq = pair->stage.end[0].cq;
	struct ibv_recv_wr wr = {0};
	struct ibv_recv_wr *bad;
	uint64_t one;

	assert_int_equal(write(channel->verbs.fd, &most, sizeof(most)), sizeof(most));
	assert_int_equal(ibv_req_notify_cq(cq, 0), 0);
	assert_int_equal(ibv_post_recv(pair->stage.end[0].qp, &wr, &bad), 0);
	pair_send(pair->socket, "r", 1);
	stage_await(cq);
	pair_send(pair->socket, "c", 1);
	pair_wait(pair);
	soft_door_announce(&soft_process.door, channel->number, channel->generation, -1);
	pair_wait(pair);
	assert_int_equal(read(channel->verbs.fd, &one, sizeof(one)), sizeof(one));
	pair_wait(pair);
}

static _Atomic pid_t poster;

static void *post_one(void *pair)
{
	poster = gettid();
	pair_post(pair, IBV_WR_SEND, 0);
	return NULL;
}

static bool sleeps(pid_t thread)
{
	char path[64];
	char state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)thread);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%*d (%*[^)]) %c", &state), 1);
	fclose(file);
	return state == 'S';
}

/* Returns the channel that the peer has announced. */
static struct soft_peer_channel *find_channel(struct soft_peer *peer)
{
	for (uint32_t i = 0; i < SOFT_CHANNELS; i++)
		if (peer->channel[i].generation)
			return &peer->channel[i];
	return NULL;
}

/* A descriptor stays open during a write to it, as its number could be reused for another file. */
static void test_channel_is_destroyed_during_write(void **unused)
{
	struct soft_peer_channel *channel;
	struct pair pair;
	pthread_t thread;
	int fd;

	pair_set_up(&pair, part_with_a_full_channel, &(struct stage_ways){0});
	channel = find_channel(soft_peer_find(soft_image_slot(pair.peer.number)));
	assert_non_null(channel);
	fd = channel->fd;
	pair_wait(&pair);
	assert_int_equal(pthread_create(&thread, NULL, post_one, &pair), 0);
	/* The completion arrives before its event. */
	pair_wait(&pair);
	for (int i = 0; !sleeps(poster); i++) {
		assert_true(i < TRIES);
		usleep(1000);
	}
	pair_send(pair.socket, "g", 1);
	for (int i = 0; channel->generation; i++) {
		assert_true(i < TRIES);
		usleep(1000);
	}
	usleep(10000);
	assert_int_not_equal(fcntl(fd, F_GETFD), -1);
	pair_send(pair.socket, "r", 1);
	pthread_join(thread, NULL);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	assert_int_equal(pair_status(&pair), IBV_WC_SUCCESS);
	pair_send(pair.socket, "e", 1);
	pair_tear_down(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_child_closes_parents_device, pair_end_child),
		cmocka_unit_test(test_child_keeps_its_own_device),
		cmocka_unit_test_teardown(test_guest_disconnects_while_copying, pair_end_child),
		cmocka_unit_test_teardown(test_channel_is_destroyed_during_write, pair_end_child),
	};

	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
