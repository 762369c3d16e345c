/* SPDX-License-Identifier: MIT */
/*
 * A process that holds locks in another process's arena and does not go on, because it is dead or
 * stopped.
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/soft/peer/peer.h"
#include "core/soft/peer/process.h"
#include "core/test/soft/pair.h"

/* Stays with all that it can hold of the other process. */
static void stay_holding(struct pair *pair)
{
	struct soft_peer *peer = soft_peer_find(soft_image_slot(pair->there.number));
	struct soft_image *image;

	if (!peer)
		_exit(1);
	image = peer->arena->image;
	atomic_store(&image->lanes[soft_process.registry.slot][5].key[3], pair->there.rkey);
	for (uint32_t i = 0; i < SOFT_ATOMICS; i++)
		soft_lock_take(&image->atomics[i].lock);
	soft_lock_take(&image->qp[soft_image_index(pair->there.number)].queue.lock);
	for (uint32_t i = 1; i < 10; i++)
		soft_lock_take(&image->cq[i].lock);
	pair_tell(pair->socket, "h", 1);
	pause();
}

/* Queues, atomics and deregistration go on when the holder of their locks is dead. */
static void go_on(struct pair *pair)
{
	/* From the second end to itself, where there is no peer. */
	stage_connect(pair->stage.end[1].qp, &pair->there.gid, pair->stage.end[1].qp->qp_num,
		      &(struct stage_ways){0});
	for (int i = 0; i < 2; i++) {
		struct ibv_sge sge = {(uintptr_t)pair->stage.buffer, 8, pair->stage.mr->lkey};
		struct ibv_send_wr wr = {
			.opcode = i ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED,
			.sg_list = &sge,
			.num_sge = 1,
		};
		struct ibv_send_wr *bad;

		wr.wr.atomic.remote_addr = (uintptr_t)pair->stage.end[1].buffer;
		wr.wr.atomic.rkey = pair->stage.mr->rkey;
		if (!i)
			stage_receive(&pair->stage, 64, 0);
		assert_int_equal(ibv_post_send(pair->stage.end[1].qp, &wr, &bad), 0);
		assert_int_equal(stage_await(pair->stage.end[1].cq).status, IBV_WC_SUCCESS);
	}
	assert_int_equal(stage_await(pair->stage.end[1].cq).status, IBV_WC_SUCCESS);
	/* Everything can be let go. */
	stage_close(&pair->stage);
}

static void begin_holding(struct pair *pair)
{
	char word;

	pair_set_up(pair, stay_holding, &(struct stage_ways){0});
	pair_hear(pair->socket, &word, 1);
}

static void end_holding(struct pair *pair)
{
	kill(pair->child, SIGKILL);
	waitpid(pair->child, NULL, 0);
	close(pair->socket);
}

static void test_locks_of_one_that_is_killed(void **unused)
{
	struct pair pair;

	begin_holding(&pair);
	kill(pair.child, SIGKILL);
	waitpid(pair.child, NULL, 0);
	go_on(&pair);
	close(pair.socket);
}

/* Whoever waits for it waits for a while only. */
static void test_locks_of_one_that_is_stopped(void **unused)
{
	struct pair pair;

	begin_holding(&pair);
	kill(pair.child, SIGSTOP);
	waitpid(pair.child, NULL, WUNTRACED);
	go_on(&pair);
	end_holding(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_locks_of_one_that_is_killed, pair_end_child),
		cmocka_unit_test_teardown(test_locks_of_one_that_is_stopped, pair_end_child),
	};

	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
