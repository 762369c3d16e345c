/* SPDX-License-Identifier: MIT */
#include "core/test/soft/victim.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/soft/cm/cm.h"
#include "core/soft/peer/peer.h"
#include "core/soft/peer/process.h"
#include "core/test/soft/stage.h"

enum {
	PAGE = 4096,
	PATIENCE_MS = 20000,
	REMOTE = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
		 IBV_ACCESS_REMOTE_ATOMIC,
};

/* The objects of the victim. */
struct home {
	struct ibv_context *context;
	struct ibv_pd *pd[2];
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp[3];
	struct ibv_mr *mr[4];
	struct rdma_event_channel *events;
	struct rdma_cm_id *listener;
	unsigned char *memory; /* registered pages between two pages of marks */
	unsigned char *friends;
};

struct order {
	enum victim_order what;
	uint32_t number;
};

static const struct stage_ways usual = {.retry_cnt = 7, .rnr_retry = 7};

static unsigned char *reserve(size_t size)
{
	unsigned char *at =
		mmap(NULL, size + (size_t)4 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(at, MAP_FAILED);
	assert_int_equal(mprotect(at + PAGE, size + (size_t)2 * PAGE, PROT_READ | PROT_WRITE), 0);
	memset(at + PAGE, VICTIM_MARK, size + (size_t)2 * PAGE);
	memset(at + (size_t)2 * PAGE, VICTIM_FILL, size);
	return at + PAGE;
}

static bool is_marked(const unsigned char *page)
{
	for (unsigned int i = 0; i < PAGE; i++)
		if (page[i] != VICTIM_MARK)
			return false;
	return true;
}

static struct ibv_qp *make_qp(struct home *home, struct ibv_pd *pd)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = home->cq,
		.recv_cq = home->cq,
		.cap = {.max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 2, .max_recv_sge = 2},
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &attr);

	assert_non_null(qp);
	return qp;
}

static void listen_for_connections(struct home *home)
{
	struct sockaddr_in any = {.sin_family = AF_INET};

	home->events = rdma_create_event_channel();
	assert_non_null(home->events);
	assert_int_equal(rdma_create_id(home->events, &home->listener, NULL, RDMA_PS_TCP), 0);
	assert_int_equal(rdma_bind_addr(home->listener, (struct sockaddr *)&any), 0);
	assert_int_equal(rdma_listen(home->listener, 8), 0);
}

static void create_home(struct home *home)
{
	unsigned char *registered;

	home->context = stage_open_device();
	home->memory = reserve(VICTIM_BYTES);
	home->friends = reserve(VICTIM_FRIENDS);
	registered = home->memory + PAGE;
	for (int i = 0; i < 2; i++)
		home->pd[i] = ibv_alloc_pd(home->context);
	home->channel = ibv_create_comp_channel(home->context);
	assert_non_null(home->channel);
	home->cq = ibv_create_cq(home->context, 64, NULL, home->channel, 0);
	assert_non_null(home->cq);
	home->mr[0] = ibv_reg_mr(home->pd[0], registered, VICTIM_BYTES, REMOTE);
	home->mr[1] = ibv_reg_mr(home->pd[0], registered, VICTIM_BYTES, 0);
	home->mr[2] = ibv_reg_mr(home->pd[1], registered, VICTIM_BYTES, REMOTE);
	home->mr[3] = ibv_reg_mr(home->pd[1], home->friends + PAGE, VICTIM_FRIENDS, REMOTE);
	home->qp[0] = make_qp(home, home->pd[0]);
	home->qp[1] = make_qp(home, home->pd[0]);
	home->qp[2] = make_qp(home, home->pd[1]);
	listen_for_connections(home);
}

static void introduce(struct home *home, uint32_t slot, struct victim_card *card)
{
	memset(card, 0, sizeof(*card));
	assert_int_equal(ibv_query_gid(home->context, 1, 0, &card->gid), 0);
	stage_connect(home->qp[0], &card->gid, slot << SOFT_INDEX_BITS | 2, &usual);
	card->slot = soft_process.registry.slot;
	card->generation = soft_process.registry.generation;
	card->qp = soft_image_index(home->qp[0]->qp_num);
	card->lonely_qp = soft_image_index(home->qp[1]->qp_num);
	card->key = home->mr[0]->rkey;
	card->local_key = home->mr[1]->rkey;
	card->foreign_key = home->mr[2]->rkey;
	card->port = soft_cm_id_of(home->listener)->port;
	card->address = (uintptr_t)home->memory + PAGE;
	card->friend_qp = home->qp[2]->qp_num;
	card->friend_key = home->mr[3]->rkey;
	card->friend_address = (uintptr_t)home->friends + PAGE;
}

static uint32_t count_fds(void)
{
	DIR *directory = opendir("/proc/self/fd");
	uint32_t count = 0;

	assert_non_null(directory);
	while (readdir(directory))
		count++;
	closedir(directory);
	return count;
}

static void look(const struct home *home, struct victim_report *report)
{
	report->fds = count_fds();
	report->is_intact =
		is_marked(home->memory) && is_marked(home->memory + PAGE + VICTIM_BYTES) &&
		is_marked(home->friends) && is_marked(home->friends + PAGE + VICTIM_FRIENDS);
	memcpy(report->memory, home->memory + PAGE, VICTIM_BYTES);
}

/* Checks that a GRH with a foreign GID is rejected: no GID of the victim consists of marks. */
static void check_foreign_grh(const struct home *home)
{
	struct ibv_wc wc = {.wc_flags = IBV_WC_GRH};
	struct ibv_grh grh;
	struct ibv_ah_attr attr;

	memset(&grh, VICTIM_MARK, sizeof(grh));
	grh.version_tclass_flow = htonl(UINT32_C(6) << 28);
	errno = 0;
	if (ibv_init_ah_from_wc(home->context, 1, &wc, &grh, &attr) != -1 || errno != EINVAL)
		abort();
	errno = 0;
	if (ibv_create_ah_from_wc(home->pd[0], &wc, &grh, 1) || errno != EINVAL)
		abort();
}

/* Uses all objects. The calls may fail, but must return and touch no other memory. */
static void work(const struct home *home)
{
	struct ibv_sge sge = {(uintptr_t)home->memory + PAGE, 64, home->mr[0]->lkey};
	struct ibv_recv_wr receive = {.sg_list = &sge, .num_sge = 1};
	struct ibv_send_wr send = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND};
	struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};
	struct ibv_gid_entry entries[SOFT_GIDS];
	struct ibv_recv_wr *bad_receive;
	struct ibv_send_wr *bad_send;
	struct ibv_wc wc[4];
	union ibv_gid gid;

	for (int i = 0; i < 40; i++) {
		ibv_post_recv(home->qp[0], &receive, &bad_receive);
		/* Sizes that are carried in the completion, and that are copied. */
		sge.length = i % 2 ? PAGE : 64;
		ibv_post_send(home->qp[0], &send, &bad_send);
		ibv_poll_cq(home->cq, 4, wc);
		ibv_req_notify_cq(home->cq, 0);
		ibv_query_gid(home->context, 1, i, &gid);
	}
	ibv_query_gid_table(home->context, entries, SOFT_GIDS, 0);
	check_foreign_grh(home);
	ibv_modify_qp(home->qp[0], &error, IBV_QP_STATE);
	for (int i = 0; i < 200; i++)
		ibv_poll_cq(home->cq, 4, wc);
	ibv_resize_cq(home->cq, 128);
}

static void leave(struct home *home)
{
	for (int i = 0; i < 3; i++)
		ibv_destroy_qp(home->qp[i]);
	for (int i = 0; i < 4; i++)
		ibv_dereg_mr(home->mr[i]);
	ibv_destroy_cq(home->cq);
	ibv_destroy_comp_channel(home->channel);
	rdma_destroy_id(home->listener);
	rdma_destroy_event_channel(home->events);
	ibv_dealloc_pd(home->pd[0]);
	ibv_dealloc_pd(home->pd[1]);
	ibv_close_device(home->context);
	munmap(home->memory - PAGE, VICTIM_BYTES + (size_t)4 * PAGE);
	munmap(home->friends - PAGE, VICTIM_FRIENDS + (size_t)4 * PAGE);
}

static void obey(struct home *home, int socket, struct victim_report *report)
{
	struct order order;
	union ibv_gid gid;

	assert_int_equal(ibv_query_gid(home->context, 1, 0, &gid), 0);
	while (recv(socket, &order, sizeof(order), 0) == sizeof(order) &&
	       order.what != VICTIM_END) {
		memset(report, 0, sizeof(*report));
		if (order.what == VICTIM_MEET)
			report->has_met = soft_peer_find(order.number) != NULL;
		else if (order.what == VICTIM_WORK)
			work(home);
		else if (order.what == VICTIM_FRIEND)
			stage_connect(home->qp[2], &gid, order.number, &usual);
		look(home, report);
		if (send(socket, report, sizeof(*report), MSG_NOSIGNAL) != sizeof(*report))
			break;
	}
}

static void be_victim(int socket)
{
	struct victim_report *report = malloc(sizeof(*report));
	struct victim_card card;
	struct home home;
	uint32_t slot;

	if (!report || recv(socket, &slot, sizeof(slot), MSG_WAITALL) != sizeof(slot))
		_exit(1);
	create_home(&home);
	introduce(&home, slot, &card);
	if (send(socket, &card, sizeof(card), MSG_NOSIGNAL) != sizeof(card))
		_exit(1);
	obey(&home, socket, report);
	leave(&home);
	free(report);
	_exit(0);
}

void victim_start(struct victim *victim)
{
	int ends[2];

	memset(victim, 0, sizeof(*victim));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	victim->pid = fork();
	assert_true(victim->pid >= 0);
	if (!victim->pid) {
		close(ends[0]);
		be_victim(ends[1]);
	}
	close(ends[1]);
	victim->socket = ends[0];
	assert_int_equal(soft_registry_open(&victim->self), 0);
	assert_int_equal(send(ends[0], &victim->self.slot, sizeof(uint32_t), 0), sizeof(uint32_t));
	assert_int_equal(recv(ends[0], &victim->card, sizeof(victim->card), MSG_WAITALL),
			 sizeof(victim->card));
}

void victim_order(struct victim *victim, enum victim_order what, uint32_t number,
		  struct victim_report *report)
{
	struct order order = {what, number};

	assert_int_equal(send(victim->socket, &order, sizeof(order), MSG_NOSIGNAL), sizeof(order));
	assert_int_equal(recv(victim->socket, report, sizeof(*report), MSG_WAITALL),
			 sizeof(*report));
}

void victim_end(struct victim *victim)
{
	struct order order = {.what = VICTIM_END};
	int status;

	assert_int_equal(send(victim->socket, &order, sizeof(order), MSG_NOSIGNAL), sizeof(order));
	assert_int_equal(waitpid(victim->pid, &status, 0), victim->pid);
	assert_int_equal(status, 0);
	close(victim->socket);
	soft_registry_close(&victim->self);
}

int victim_knock(const struct victim *victim)
{
	struct sockaddr_un address;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	soft_registry_address(&victim->self, victim->card.slot, &address);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

struct soft_message victim_message(const struct victim *victim, uint32_t kind)
{
	return (struct soft_message){
		.magic = SOFT_MESSAGE_MAGIC,
		.kind = kind,
		.slot = victim->self.slot,
		.generation = victim->self.generation,
	};
}

bool victim_is_shut(int fd)
{
	struct pollfd readable = {.fd = fd, .events = POLLIN};
	char byte;
	ssize_t size;

	if (poll(&readable, 1, PATIENCE_MS) != 1)
		return false;
	size = recv(fd, &byte, 1, MSG_DONTWAIT);
	return !size || (size < 0 && errno == ECONNRESET);
}
