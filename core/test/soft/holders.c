/* SPDX-License-Identifier: MIT */
/*
 * A process that holds locks in the arena of another process, and never releases them because it
 * is dead or stopped.
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/soft/peer/peer.h"
#include "core/soft/peer/process.h"
#include "core/test/soft/pair.h"

/* Takes all locks of the peer process that it can, and sleeps. */
static void stay_holding(struct pair *pair)
{
	struct soft_peer *peer = soft_peer_find(soft_image_slot(pair->peer.number));
	struct soft_image *image;

	if (!peer)
		_exit(1);
	image = peer->arena->image;
	atomic_store(&image->lanes[soft_process.registry.slot][5].key[3], pair->peer.rkey);
	for (uint32_t i = 0; i < SOFT_ATOMICS; i++)
		soft_lock_take(&image->atomics[i].lock);
	soft_lock_take(&image->qp[soft_image_index(pair->peer.number)].queue.lock);
	for (uint32_t i = 1; i < 10; i++)
		soft_lock_take(&image->cq[i].lock);
	pair_send(pair->socket, "h", 1);
	pause();
}

/* Checks that queues, atomics and deregistration work although their locks are held. */
static void check_all_work(struct pair *pair)
{
	/* Connect end[1] to itself, so that no peer is involved. */
	stage_connect(pair->stage.end[1].qp, &pair->peer.gid, pair->stage.end[1].qp->qp_num,
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
	/* Everything can be freed. */
	stage_close(&pair->stage);
}

static void begin_holding(struct pair *pair)
{
	char word;

	pair_set_up(pair, stay_holding, &(struct stage_ways){0});
	pair_receive(pair->socket, &word, 1);
}

static void end_holding(struct pair *pair)
{
	kill(pair->child, SIGKILL);
	waitpid(pair->child, NULL, 0);
	close(pair->socket);
}

static void test_lock_holder_is_killed(void **unused)
{
	struct pair pair;

	begin_holding(&pair);
	kill(pair.child, SIGKILL);
	waitpid(pair.child, NULL, 0);
	check_all_work(&pair);
	close(pair.socket);
}

/* Waiting for the lock of a stopped process times out. */
static void test_lock_holder_is_stopped(void **unused)
{
	struct pair pair;

	begin_holding(&pair);
	kill(pair.child, SIGSTOP);
	waitpid(pair.child, NULL, WUNTRACED);
	check_all_work(&pair);
	end_holding(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_lock_holder_is_killed, pair_end_child),
		cmocka_unit_test_teardown(test_lock_holder_is_stopped, pair_end_child),
	};

	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
