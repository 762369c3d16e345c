/* SPDX-License-Identifier: MIT */
/*
 * Tests the lanes of several threads on soft0: everything that a thread's loop writes, here and in
 * the device, is on cache lines that no other thread's loop writes.
 */
#include "bench/test/unit.d/soft_lanes.h"
#include "core/soft/op/atomic.h"
#include "core/soft/op/channel.h"
#include "core/soft/op/cq.h"
#include "core/soft/op/qp.h"
#include "core/soft/op/srq.h"
#include "core/soft/peer/process.h"

#define LINE   64
#define PIECES 4096

/* A piece of memory that one thread writes. */
struct piece {
	const char *what;
	uintptr_t first; /* cache line numbers */
	uintptr_t last;
	unsigned int thread;
};

static struct piece pieces[PIECES];
static size_t n_pieces;

static void add(unsigned int thread, const char *what, const void *at, size_t size)
{
	assert_non_null(at);
	assert_true(n_pieces < PIECES);
	pieces[n_pieces++] = (struct piece){.what = what,
					    .first = (uintptr_t)at / LINE,
					    .last = ((uintptr_t)at + size - 1) / LINE,
					    .thread = thread};
}

#define ADD(thread, what, at) add(thread, what, at, sizeof(*(at)))

static void add_lists(unsigned int thread, const struct post_list *list)
{
	add(thread, "works of a list", list->works, list->n * sizeof(*list->works));
	add(thread, "requests of a list", list->sends, list->n * sizeof(*list->sends));
	add(thread, "receives of a list", list->receives, list->n * sizeof(*list->receives));
}

static void add_lane(unsigned int thread, const struct lane *lane)
{
	ADD(thread, "lane", lane);
	add(thread, "flows", lane->flows, lane->settings.n_flows * sizeof(*lane->flows));
	add(thread, "buffer", lane->endpoint.memory.cpu, lane->endpoint.buffer_size);
	for (unsigned int i = 0; i < lane->settings.n_flows; i++) {
		const struct flow *flow = &lane->flows[i];

		add(thread, "ticks", flow->ticks, lane->settings.tx_depth * sizeof(*flow->ticks));
		add_lists(thread, &flow->list);
	}
}

static void add_ring(unsigned int thread, const char *what, const struct soft_ring *ring)
{
	add(thread, what, soft_arena_at(&soft_process.arena, ring->offset, 1),
	    (size_t)ring->size * ring->stride);
}

static void add_qp(unsigned int thread, struct ibv_qp *verbs)
{
	struct soft_qp *qp = soft_qp_of(verbs);
	const struct soft_registry *registry = &soft_process.registry;

	ADD(thread, "queue pair", qp);
	ADD(thread, "queue pair's image", qp->image);
	add(thread, "send queue", qp->sends.ring, (size_t)qp->sends.size * qp->sends.stride);
	if (qp->srq) {
		ADD(thread, "shared receive queue", qp->srq);
		ADD(thread, "shared receive queue's image", qp->srq->image);
		add_ring(thread, "shared receives", &qp->srq->receives);
	} else {
		add_ring(thread, "receives", &qp->receives);
		ADD(thread, "known head", qp->receives.known_head);
	}
	ADD(thread, "keys in use",
	    &soft_process.arena.image->lanes[registry->slot][qp->send_cq->sender]);
	ADD(thread, "packets sent", &registry->file->counts[registry->slot].sent[qp->sender]);
}

static void add_device(unsigned int thread, const struct lane *lane)
{
	struct soft_cq *cq = soft_cq_of(lane->endpoint.completion.cq);

	ADD(thread, "completion queue", cq);
	ADD(thread, "completion queue's image", cq->image);
	add(thread, "completions", cq->ring, cq->size * sizeof(*cq->ring));
	ADD(thread, "channel", soft_channel_of(lane->endpoint.completion.channel));
	for (unsigned int i = 0; i < lane->settings.n_flows; i++)
		add_qp(thread, lane->flows[i].context.qp);
}

static int order(const void *one, const void *other)
{
	const struct piece *a = one;
	const struct piece *b = other;

	return a->first < b->first ? -1 : a->first > b->first;
}

/* Pieces of one thread may share a line. */
static void check_apart(void)
{
	const struct piece *furthest;

	qsort(pieces, n_pieces, sizeof(*pieces), order);
	furthest = &pieces[0];
	for (size_t i = 1; i < n_pieces; i++) {
		if (pieces[i].first <= furthest->last && pieces[i].thread != furthest->thread)
			fail_msg("%s of thread %u and %s of thread %u share a line", furthest->what,
				 furthest->thread, pieces[i].what, pieces[i].thread);
		if (pieces[i].last > furthest->last)
			furthest = &pieces[i];
	}
}

/* Client and server are checked as if they were threads of one process. */
static void check_lines(const char *asked_for)
{
	n_pieces = 0;
	set_up(asked_for);
	for (unsigned int i = 0; i < THREADS; i++) {
		ADD(i, "histogram", parts[i].hist);
		ADD(i, "warm-up", parts[i].warmup);
		ADD(i, "windows", parts[i].windows);
		add_lane(i, &parts[i].lane);
		add_device(i, &parts[i].lane);
		add_lane(THREADS + i, &posts[i]);
		add_device(THREADS + i, &posts[i]);
	}
	check_apart();
	tear_down();
}

static void test_lanes_share_no_cache_line(void **unused)
{
	check_lines("op=send metric=bw cq=event");
	check_lines("op=read metric=bw");
}

static void test_lanes_share_no_cache_line_with_srq(void **unused)
{
	check_lines("op=send metric=bw use-srq=1");
}

/*
 * Checks that the part of the buffer that one side receives into is the part that the peer
 * targets.
 */
static void check_parts(const struct lane *lane, const struct lane *other, bool is_both)
{
	const struct memory *buffer = &lane->endpoint.memory;

	for (unsigned int i = 0; i < QPS; i++) {
		const struct flow *flow = &lane->flows[i];
		uint64_t bytes = address_walk_bytes(&flow->walk);
		uint64_t landing = flow->local_base + (is_both ? bytes : 0);

		/* 1 MiB / 15 holds 1024 places of 64 bytes, and half of it 512. */
		assert_int_equal(bytes, is_both ? 32768 : 65536);
		assert_int_equal(flow->landing, landing);
		assert_int_equal(other->flows[i].remote_base, landing);
		assert_true(flow->local_base >= buffer->address);
		assert_true(landing + bytes <= buffer->address + buffer->size);
	}
}

static void test_both_sides_use_the_same_part(void **unused)
{
	static const char both[] =
		"op=write metric=bw bidirectional=1 access=random buffer=1m size=64";

	for (int is_both = 0; is_both < 2; is_both++) {
		set_up(is_both ? both : "op=write metric=bw access=random buffer=1m size=64");
		for (unsigned int i = 0; i < THREADS; i++) {
			check_parts(&parts[i].lane, &posts[i], is_both);
			check_parts(&posts[i], &parts[i].lane, is_both);
		}
		tear_down();
	}
}

/* An atomic's result must not land where the peer's atomics operate. */
static void test_bidirectional_atomics_do_not_overlap(void **unused)
{
	set_up("op=fetch-add metric=bw bidirectional=1");
	for (unsigned int i = 0; i < THREADS; i++)
		for (unsigned int j = 0; j < QPS; j++) {
			const struct flow *near = &parts[i].lane.flows[j];
			const struct flow *far = &posts[i].flows[j];

			assert_int_not_equal(near->work.sges[0].addr, far->remote_base);
			assert_int_not_equal(far->work.sges[0].addr, near->remote_base);
		}
	tear_down();
}

static void test_state_starts_on_a_cache_line(void **unused)
{
	assert_int_equal(_Alignof(struct lane) % LINE, 0);
	assert_int_equal(sizeof(struct lane) % LINE, 0);
	assert_int_equal(sizeof(struct trial_lane) % LINE, 0);
	assert_int_equal(offsetof(struct trial_lane, lane) % LINE, 0);
	set_up("op=send metric=bw");
	for (unsigned int i = 0; i < THREADS; i++) {
		assert_int_equal((uintptr_t)&parts[i].lane % LINE, 0);
		assert_int_equal((uintptr_t)&posts[i] % LINE, 0);
		assert_int_equal((uintptr_t)parts[i].hist % LINE, 0);
		assert_int_equal((uintptr_t)parts[i].windows % LINE, 0);
		assert_int_equal((uintptr_t)parts[i].lane.flows % LINE, 0);
		for (unsigned int j = 0; j < QPS; j++) {
			assert_int_equal((uintptr_t)parts[i].lane.flows[j].ticks % LINE, 0);
			assert_int_equal((uintptr_t)parts[i].lane.flows[j].list.works % LINE, 0);
			assert_int_equal((uintptr_t)parts[i].lane.flows[j].list.sends % LINE, 0);
		}
	}
	tear_down();
}

/* Atomics on the same word share a lock; atomics on adjacent lines or pages do not. */
static void test_atomic_locks(void **unused)
{
	static const uint64_t steps[] = {LINE, 4096};
	struct soft_image *image;

	set_up("op=fetch-add metric=bw");
	image = soft_process.arena.image;
	for (size_t i = 0; i < ARRAY_LENGTH(steps); i++) {
		uint64_t place = (uintptr_t)parts[0].lane.endpoint.memory.cpu;

		for (int j = 0; j < 16; j++, place += steps[i]) {
			uintptr_t lock = (uintptr_t)soft_atomic_lock(image, place);

			assert_int_equal(lock % LINE, 0);
			assert_int_equal(lock, (uintptr_t)soft_atomic_lock(image, place + 8));
			for (int k = 1; k <= j; k++)
				assert_int_not_equal(
					lock, (uintptr_t)soft_atomic_lock(
						      image, place - (uint64_t)k * steps[i]));
		}
	}
	tear_down();
}

/* A lane reuses the pages of the previous one if they fit, zeroed. */
static void check_spare(const char *asked_for, bool is_server, bool is_same)
{
	struct lane_wish wish = wish_of(0, is_server);
	struct memory spare = {0};
	struct lane lane;
	const char *address;
	uint64_t key;

	parameters = asked("op=send metric=bw");
	defaults_choose(&operations[parameters.op], &parameters);
	wish.spare = &spare;
	open_as_wished(&lane, &wish);
	address = lane.endpoint.memory.cpu;
	memset(lane.endpoint.memory.cpu, 0xa5, lane.endpoint.memory.size);
	key = lane.endpoint.mr->rkey;
	lane_close(&lane);
	assert_ptr_equal(spare.address, address);
	parameters = asked(asked_for);
	defaults_choose(&operations[parameters.op], &parameters);
	wish.shape = &operations[parameters.op].shape;
	open_as_wished(&lane, &wish);
	assert_null(spare.address);
	assert_int_equal(lane.endpoint.memory.cpu == address, is_same);
	for (size_t i = 0; i < lane.endpoint.memory.size; i++)
		assert_int_equal(lane.endpoint.memory.cpu[i], 0);
	/* The old rkey is no longer valid. */
	assert_int_not_equal(lane.endpoint.mr->rkey, key);
	lane_close(&lane);
	memory_close(&spare);
}

static void test_buffer_is_reused(void **unused)
{
	check_spare("op=send metric=bw", false, true);
	check_spare("op=send metric=bw", true, true);
	check_spare("op=send metric=bw size=128", true, true);
	check_spare("op=send metric=bw size=16m", true, false);
}

/* The device may take 4 * 4.096 us * 2^N for each retry before it gives up. */
static void test_time_limits(void **unused)
{
	static const struct {
		const char *asked_for;
		uint64_t stalled_ns;
		uint64_t lost_ns;
	} rows[] = {
		{"size=1",					 5000000080,   5000000080  },
		{"size=1 timeout=20 retries=7",                    137438953552, 137438953552},
		{"size=1 timeout=20 transport=UC",                 5000000080,   200000080   },
		{"metric=bw cq-mod=2 timeout=19 retries=0 size=1", 8589934752,   8589934752  },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct lane_wish wish;
		struct lane lane;

		parameters = asked(rows[i].asked_for);
		defaults_choose(&operations[OPERATION_SEND], &parameters);
		wish = wish_of(0, false);
		open_as_wished(&lane, &wish);
		assert_int_equal(lane.settings.stalled_ns, rows[i].stalled_ns);
		assert_int_equal(lane.settings.lost_ns, rows[i].lost_ns);
		lane_close(&lane);
	}
}

/* With a message count one thread may finish before another, and then posts no receives. */
static void test_stalled_lane_suggests_duration(void **unused)
{
	static const struct {
		const char *asked_for;
		bool has_hint;
	} rows[] = {
		{"op=send metric=bw bidirectional=1 threads=2 iterations=100", true },
		{"op=send metric=bw bidirectional=1 threads=2",                false},
		{"op=send metric=bw bidirectional=1 iterations=100",           false},
		{"op=send metric=bw threads=2 iterations=100",                 false},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		const struct lane_wish wish = wish_of(0, true);
		struct error error = {0};
		struct lane lane;

		parameters = asked(rows[i].asked_for);
		defaults_choose(&operations[parameters.op], &parameters);
		open_as_wished(&lane, &wish);
		assert_int_equal(lane_stalled(&lane, &error), -ETIMEDOUT);
		assert_int_equal(strstr(error.text, "-D instead of -n") != NULL, rows[i].has_hint);
		lane_close(&lane);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lanes_share_no_cache_line),
		cmocka_unit_test(test_lanes_share_no_cache_line_with_srq),
		cmocka_unit_test(test_both_sides_use_the_same_part),
		cmocka_unit_test(test_bidirectional_atomics_do_not_overlap),
		cmocka_unit_test(test_state_starts_on_a_cache_line),
		cmocka_unit_test(test_atomic_locks),
		cmocka_unit_test(test_buffer_is_reused),
		cmocka_unit_test(test_time_limits),
		cmocka_unit_test(test_stalled_lane_suggests_duration),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
