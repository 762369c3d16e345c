/* SPDX-License-Identifier: MIT */
#include "core/test/soft/pair.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/soft/peer/peer.h"
#include "core/soft/peer/process.h"
#include "core/test/soft/network.h"

static bool is_child;

void pair_send(int socket, const void *data, size_t size)
{
	assert_int_equal(send(socket, data, size, MSG_NOSIGNAL), (ssize_t)size);
}

void pair_receive(int socket, void *data, size_t size)
{
	assert_int_equal(recv(socket, data, size, MSG_WAITALL), (ssize_t)size);
}

/* Returns whether the kernel rejects process_vm_readv, even for this process. */
static bool is_refused(void)
{
	char byte;
	struct iovec here = {&byte, 1};
	struct iovec there = {&byte, 1};

	return process_vm_readv(getpid(), &here, 1, &there, 1, 0) != 1;
}

/* Retries, as the device's thread may not have noticed yet that the slot's last owner ended. */
static bool is_found(const struct card *there)
{
	for (int tries = 0; tries < 2000; tries++) {
		if (soft_peer_find(soft_image_slot(there->number)))
			return true;
		usleep(1000);
	}
	return false;
}

/* The copy server of the peer is used only if this process may not copy itself. */
static void check_way(const struct card *there)
{
	const struct soft_peer *peer;

	assert_true(is_found(there));
	pthread_mutex_lock(&soft_process.lookup_mutex);
	peer = soft_peer_known(soft_image_slot(there->number));
	assert_non_null(peer);
	assert_int_equal(peer->copy_client != NULL, is_refused());
	pthread_mutex_unlock(&soft_process.lookup_mutex);
}

void pair_meet(struct pair *pair, const struct stage_ways *ways)
{
	struct stage *stage = &pair->stage;
	struct card here = {0};
	struct stage_ways apart = *ways;

	apart.is_apart = true;
	stage_open(stage, &apart);
	here.number = stage->end[0].qp->qp_num;
	here.rkey = stage->mr->rkey;
	here.address = (uintptr_t)stage->end[1].buffer;
	assert_int_equal(ibv_query_gid(stage->context, 1, 0, &here.gid), 0);
	pair_send(pair->socket, &here, sizeof(here));
	pair_receive(pair->socket, &pair->peer, sizeof(pair->peer));
	stage_connect(stage->end[0].qp, &pair->peer.gid, pair->peer.number, ways);
	check_way(&pair->peer);
	/* After this exchange, both processes are connected. */
	pair_send(pair->socket, "c", 1);
	pair_receive(pair->socket, &here, 1);
}

void pair_wait(struct pair *pair)
{
	char word;

	pair_receive(pair->socket, &word, 1);
}

void pair_start(struct pair *pair, pair_part *part, const struct stage_ways *ways)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	pair->child = fork();
	assert_true(pair->child >= 0);
	pair->socket = ends[!pair->child];
	close(ends[!!pair->child]);
	if (pair->child)
		return;
	is_child = true;
	pair_wait(pair);
	if (ways->has_own_network && network_enter())
		_exit(1);
	pair_meet(pair, ways);
	part(pair);
	stage_close(&pair->stage);
	_exit(0);
}

void pair_set_up(struct pair *pair, pair_part *part, const struct stage_ways *ways)
{
	pair_start(pair, part, ways);
	pair_send(pair->socket, "g", 1);
	pair_meet(pair, ways);
}

int pair_end_child(void **state)
{
	if (is_child)
		_exit(1);
	return 0;
}

void pair_tear_down(struct pair *pair)
{
	int result;

	assert_int_equal(waitpid(pair->child, &result, 0), pair->child);
	assert_int_equal(result, 0);
	stage_close(&pair->stage);
	close(pair->socket);
}

void pair_post(struct pair *pair, enum ibv_wr_opcode opcode, uint32_t length)
{
	struct ibv_send_wr wr = {.opcode = opcode, .send_flags = IBV_SEND_SIGNALED};

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = pair->peer.address;
		wr.wr.atomic.compare_add = 1;
		wr.wr.atomic.rkey = pair->peer.rkey;
	} else {
		wr.wr.rdma.remote_addr = pair->peer.address;
		wr.wr.rdma.rkey = pair->peer.rkey;
	}
	assert_int_equal(stage_post(&pair->stage, &wr, length), 0);
}

enum ibv_wc_status pair_status(struct pair *pair)
{
	return stage_await(pair->stage.end[0].cq).status;
}
