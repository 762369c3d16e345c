/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>

#include "bench/plan/defaults.h"
#include "bench/server/quota.h"
#include "bench/test/unit.d/asked.h"
#include "core/test/lib/made_up.h"
#include "reports/result/rate_windows.h"

#define MIB (1ULL << 20)

static struct protocol_case made_case(const char *text)
{
	struct protocol_case made = {.parameters = asked(text)};

	made.op = &operations[made.parameters.op];
	defaults_choose(made.op, &made.parameters);
	return made;
}

/* Initializes a quota that does not depend on this machine's descriptors and threads. */
static void init_quota(struct quota *quota)
{
	quota_init(quota, "");
	quota->connected = UINT32_MAX;
	quota->threads = UINT32_MAX;
}

static void check_refused(struct quota *quota, const char *text, int code, const char *sentence)
{
	const struct protocol_case wanted = made_case(text);
	struct error error = {0};
	struct quota_share taken = {0};

	assert_int_equal(quota_take(quota, &wanted, &taken, &error), code);
	assert_string_equal(error.text, sentence);
	assert_int_equal(taken.bytes + taken.connected + taken.threads, 0);
	assert_int_equal(atomic_load(&quota->taken), 0);
	assert_int_equal(atomic_load(&quota->n_connected), 0);
	assert_int_equal(atomic_load(&quota->n_threads), 0);
}

static struct quota_share check_taken(struct quota *quota, const char *text)
{
	const struct protocol_case wanted = made_case(text);
	struct error error = {0};
	struct quota_share taken = {0};

	if (quota_take(quota, &wanted, &taken, &error))
		fail_msg("%s: %s", text, error.text);
	return taken;
}

static void test_limits_of_a_client(void **unused)
{
	struct quota quota;

	init_quota(&quota);
	quota.memory = 64 * MIB;
	quota.queue_pairs = 8;
	quota.message_bytes = 64 << 10;
	check_refused(&quota, "metric=bw qps=9", -EOPNOTSUPP,
		      "9 queue pairs exceed this server's limit of 8 per client: use fewer, or "
		      "raise 'serve --max-qps' on the server");
	/* Each thread has a queue pair, and creates another one again and again. */
	check_refused(&quota, "op=connect threads=5", -EOPNOTSUPP,
		      "10 queue pairs exceed this server's limit of 8 per client: use fewer, or "
		      "raise 'serve --max-qps' on the server");
	check_refused(&quota, "size=65537", -EOPNOTSUPP,
		      "messages of 65537 exceed this server's limit of 64k: use smaller ones, or "
		      "raise 'serve --max-size' on the server");
	quota.message_bytes = 1 << 30;
	/* A send and a receive buffer, with 16 bytes for each page of 4 KiB. */
	check_refused(
		&quota, "size=1g", -EOPNOTSUPP,
		"the case needs 2056m of memory, above this server's limit of 64m: use smaller "
		"messages or queues, or fewer queue pairs, or raise 'serve --max-memory' on "
		"the server");
	quota.client_memory = 10 * MIB;
	check_refused(
		&quota, "size=1g", -EOPNOTSUPP,
		"the case needs 2056m of memory, above this server's per-client limit of 10m: "
		"use smaller messages or queues, or fewer queue pairs, or raise 'serve "
		"--max-client-memory' on the server");
}

/* The largest possible parameters do not overflow. */
static void test_largest_parameters(void **unused)
{
	static const char *const texts[] = {
		"metric=bw size=1g qps=1024 tx-depth=16384 rx-depth=16384 verify=1",
		"op=read metric=bw size=1g qps=1024 tx-depth=16384 rx-depth=16384 verify=1",
		"metric=bw size=1 qps=1024 tx-depth=16384 rx-depth=16384 inline=64k",
		"op=write-notify metric=bw qps=1024 tx-depth=16384 rx-depth=16384",
	};
	struct quota quota;

	init_quota(&quota);
	quota.memory = UINT64_MAX;
	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		struct quota_share taken = check_taken(&quota, texts[i]);

		/* 1024 queue pairs with at least 2 * 16384 entries of 64 bytes. */
		assert_true(taken.bytes >= 1024ULL * 2 * 16384 * 64);
		quota_give(&quota, &taken);
	}
	assert_int_equal(atomic_load(&quota.taken), 0);
}

static uint64_t estimate(const char *text)
{
	struct quota quota;

	init_quota(&quota);
	quota.memory = UINT64_MAX;
	return check_taken(&quota, text).bytes;
}

/* Returns by how much the estimate of one case exceeds that of another. */
static uint64_t more(const char *most, const char *less)
{
	uint64_t one = estimate(most);
	uint64_t other = estimate(less);

	assert_true(one >= other);
	return one - other;
}

static uint64_t huge_page(void)
{
	FILE *file = fopen("/proc/meminfo", "r");
	unsigned long long kib = 0;
	char line[128];

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		sscanf(line, "Hugepagesize: %llu kB", &kib);
	fclose(file);
	return kib << 10;
}

/* Estimates include at least the structures of verbs and the queues of a device. */
static void test_estimates(void **unused)
{
	const size_t requests = sizeof(struct ibv_send_wr) + sizeof(struct ibv_recv_wr);

	/* Memory is rounded up to a page. */
	assert_true(estimate("size=8") >= 4096);
	if (huge_page())
		assert_true(estimate("size=8 hugepages=1") >= huge_page());
	assert_true(estimate("size=8 server-memory=host:hugepages=1G") >= 1U << 30);
	assert_true(estimate("size=8 memory=host:hugepages=1G") < 1U << 30);
	assert_true(more("metric=bw tx-depth=1024 rx-depth=1024 sge=32 size=64",
			 "metric=bw tx-depth=1024 rx-depth=1024 size=64") >=
		    2ULL * 1024 * 28 * sizeof(struct ibv_sge));
	assert_true(more("metric=bw qps=16 tx-depth=256 post-list=64",
			 "metric=bw qps=16 tx-depth=256") >= 16ULL * 64 * requests);
	assert_true(more("metric=bw threads=4", "metric=bw") >= 3 * sizeof(struct rate_windows));
	/* The side that accepts connections needs an additional queue pair. */
	assert_true(more("op=connect rx-depth=16384", "op=create-qp rx-depth=16384") >=
		    16384ULL * sizeof(struct ibv_sge));
	/* Queues are rounded up to a power of two. */
	assert_true(estimate("metric=bw tx-depth=1025 rx-depth=1025") >= 2ULL * 2048 * 64);
	assert_true(estimate("metric=load rate=1000 tx-depth=16384") >= 16384ULL * 2 * 8);
}

/* Checks that a case is rejected as busy, and that nothing stays counted. */
static void check_busy(struct quota *quota, const char *text, const char *sentence)
{
	const struct protocol_case wanted = made_case(text);
	const uint64_t before = atomic_load(&quota->taken);
	struct quota_share taken = {0};
	struct error error = {0};

	assert_int_equal(quota_take(quota, &wanted, &taken, &error), -EBUSY);
	assert_string_equal(error.text, sentence);
	assert_int_equal(atomic_load(&quota->taken), before);
}

static void test_giving_memory_back(void **unused)
{
	const struct protocol_case wanted = made_case("size=1m");
	struct error error = {0};
	struct quota quota;
	struct quota_share first;
	struct quota_share second = {0};

	init_quota(&quota);
	quota.memory = 5 * MIB;
	first = check_taken(&quota, "size=1m");
	/* A send and a receive buffer. */
	assert_in_range(first.bytes, 2 * MIB, 3 * MIB);
	assert_int_equal(atomic_load(&quota.taken), first.bytes);
	quota.memory = 2 * first.bytes - 1;
	assert_int_equal(quota_take(&quota, &wanted, &second, &error), -EBUSY);
	assert_contains(error.text, "retry later");
	assert_int_equal(second.bytes, 0);
	quota.memory++;
	second = check_taken(&quota, "size=1m");
	quota_give(&quota, &first);
	assert_int_equal(atomic_load(&quota.taken), second.bytes);
	quota_give(&quota, &second);
	/* Giving back twice has no effect. */
	quota_give(&quota, &second);
	assert_int_equal(atomic_load(&quota.taken), 0);
	/* No more can be kept than was taken. */
	first = check_taken(&quota, "size=1m");
	quota_keep(&quota, &first, 2 * first.bytes);
	assert_int_equal(atomic_load(&quota.taken), first.bytes);
	quota_keep(&quota, &first, MIB);
	assert_int_equal(first.bytes, MIB);
	assert_int_equal(atomic_load(&quota.taken), MIB);
}

/* A client's buffer is kept for its next case, which may be larger or smaller. */
static void test_kept_buffer(void **unused)
{
	const struct protocol_case wanted = made_case("size=2m");
	struct error error = {0};
	struct quota quota;
	struct quota_share first;
	struct quota_share other;
	uint64_t most = estimate("size=2m");

	init_quota(&quota);
	quota.memory = most;
	first = check_taken(&quota, "size=1m");
	quota_keep(&quota, &first, 2 * MIB);
	/* If a larger case is rejected, the client still has the buffer. */
	other = check_taken(&quota, "size=64");
	assert_int_equal(quota_take(&quota, &wanted, &first, &error), -EBUSY);
	assert_contains(error.text, "other clients leave only 4m of this server's memory");
	assert_int_equal(first.bytes, 2 * MIB);
	assert_int_equal(first.threads, 0);
	assert_int_equal(atomic_load(&quota.taken), 2 * MIB + other.bytes);
	quota_give(&quota, &other);
	/* The kept buffer counts towards the larger case. */
	assert_int_equal(quota_take(&quota, &wanted, &first, &error), 0);
	assert_int_equal(first.bytes, most);
	assert_int_equal(atomic_load(&quota.taken), most);
	quota_keep(&quota, &first, most - 1);
	error = (struct error){0};
	/* The buffer is also kept if threads are exhausted. */
	quota.threads = 0;
	assert_int_equal(quota_take(&quota, &wanted, &first, &error), -EOPNOTSUPP);
	assert_int_equal(first.bytes, most - 1);
	quota_give(&quota, &first);
	assert_int_equal(atomic_load(&quota.taken), 0);
}

/* A client in another thread that always has a buffer, from case to case. */
struct goer {
	struct quota quota;
	atomic_bool is_over;
};

static void *run_cases(void *argument)
{
	const struct protocol_case wanted = made_case("size=2m");
	struct goer *goer = argument;
	struct quota_share taken = {0};

	while (!atomic_load(&goer->is_over)) {
		if (quota_take(&goer->quota, &wanted, &taken, NULL))
			return argument;
		quota_keep(&goer->quota, &taken, 4 * MIB);
	}
	return NULL;
}

static void test_kept_buffer_always_counts(void **unused)
{
	struct goer goer = {0};
	pthread_t thread;
	uint64_t least = UINT64_MAX;
	void *failed;

	init_quota(&goer.quota);
	assert_int_equal(pthread_create(&thread, NULL, run_cases, &goer), 0);
	while (!atomic_load(&goer.quota.taken))
		;
	for (int i = 0; i < 200000; i++) {
		uint64_t taken = atomic_load(&goer.quota.taken);

		least = taken < least ? taken : least;
	}
	atomic_store(&goer.is_over, true);
	assert_int_equal(pthread_join(thread, &failed), 0);
	assert_null(failed);
	assert_true(least >= 4 * MIB);
}

/* Memory is limited to half of the machine's or of its control group's. */
static void test_memory_of_the_machine(void **unused)
{
	struct quota quota;
	struct made_up machine;

	made_up_open(&machine);
	quota_init(&quota, machine.root);
	assert_int_equal(quota.memory, 1 << 30);
	made_up_file(&machine, "/proc/meminfo", "MemTotal:       67108864 kB");
	quota_init(&quota, machine.root);
	assert_int_equal(quota.memory, 32ULL << 30);
	made_up_file(&machine, "/proc/self/cgroup", "0::/system.slice/verbmark.service");
	made_up_file(&machine, "/sys/fs/cgroup/system.slice/memory.max", "8589934592");
	made_up_file(&machine, "/sys/fs/cgroup/system.slice/verbmark.service/memory.max", "max");
	quota_init(&quota, machine.root);
	assert_int_equal(quota.memory, 4ULL << 30);
	made_up_close(&machine);
}

/* Some tasks are reserved for clients, for connections without a greeting, and for the server. */
static void test_tasks(void **unused)
{
	struct quota quota;
	struct made_up machine;
	uint64_t without;

	made_up_open(&machine);
	quota_init(&quota, machine.root);
	quota_find_threads(&quota, machine.root);
	without = quota.threads;
	made_up_file(&machine, "/proc/self/cgroup", "0::/system.slice/verbmark.service");
	made_up_file(&machine, "/sys/fs/cgroup/system.slice/verbmark.service/pids.max", "4352");
	made_up_file(&machine, "/sys/fs/cgroup/system.slice/verbmark.service/pids.current", "1");
	quota_find_threads(&quota, machine.root);
	/* 64 clients have two tasks of their own, and 128 have not greeted yet or are leaving. */
	if (without > 4352)
		assert_in_range(quota.threads, 64 * 64, 4351 - 64 - 128);
	made_up_file(&machine, "/sys/fs/cgroup/system.slice/pids.max", "1000");
	made_up_file(&machine, "/sys/fs/cgroup/system.slice/pids.current", "300");
	quota_find_threads(&quota, machine.root);
	if (without > 4352)
		assert_in_range(quota.threads, 700 - 64 - 128 - 64, 700 - 64 - 128);
	/* However few tasks there are, each client gets one. */
	made_up_file(&machine, "/sys/fs/cgroup/system.slice/pids.max", "302");
	quota.clients = 7;
	quota_find_threads(&quota, machine.root);
	assert_int_equal(quota.threads, 7);
	made_up_close(&machine);
}

/* All clients share descriptors and ports of queue pairs, and threads. */
static void test_shared_limits(void **unused)
{
	struct quota quota;
	struct quota_share first;
	struct quota_share others;

	init_quota(&quota);
	quota.connected = 8;
	quota.threads = 4;
	check_refused(&quota, "metric=bw qps=9", -EOPNOTSUPP,
		      "9 queue pairs exceed the 8 that this server's descriptors and ports allow: "
		      "use fewer, or --connect qp, or raise LimitNOFILE and ip_local_port_range on "
		      "the server");
	check_refused(
		&quota, "metric=bw threads=5", -EOPNOTSUPP,
		"5 threads exceed this server's limit of 4: use fewer, or raise LimitNPROC and "
		"TasksMax on the server");
	first = check_taken(&quota, "metric=bw qps=2 threads=3");
	check_busy(
		&quota, "metric=bw qps=3",
		"other clients leave descriptors and ports for only 2 queue pairs on this server: "
		"retry later, or raise LimitNOFILE and ip_local_port_range there");
	check_busy(&quota, "metric=bw threads=2",
		   "other clients leave only 1 threads on this server: retry later, or raise "
		   "LimitNPROC and TasksMax there");
	/* Queue pairs without rdma_cm need neither. */
	others = check_taken(&quota, "metric=bw qps=64 connect=qp");
	quota_give(&quota, &others);
	/* A kept buffer needs neither. */
	quota_keep(&quota, &first, 4096);
	assert_int_equal(atomic_load(&quota.n_connected), 0);
	assert_int_equal(atomic_load(&quota.n_threads), 0);
	others = check_taken(&quota, "metric=bw qps=2 threads=4");
	quota_give(&quota, &others);
	quota_give(&quota, &first);
	assert_int_equal(atomic_load(&quota.taken), 0);
}

/* Takes and gives concurrently; returns non-null if more is taken than there is. */
static void *take_and_give(void *argument)
{
	const struct protocol_case wanted = made_case("size=1m");
	struct quota *quota = argument;

	for (int i = 0; i < 20000; i++) {
		struct quota_share taken = {0};

		if (!quota_take(quota, &wanted, &taken, NULL))
			quota_give(quota, &taken);
		if (atomic_load(&quota->taken) > quota->memory)
			return argument;
	}
	return NULL;
}

static void test_concurrent_clients(void **unused)
{
	struct quota quota;
	pthread_t threads[4];
	void *wrong;

	init_quota(&quota);
	quota.memory = 6 * MIB;
	for (size_t i = 0; i < ARRAY_LENGTH(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, take_and_give, &quota), 0);
	for (size_t i = 0; i < ARRAY_LENGTH(threads); i++) {
		assert_int_equal(pthread_join(threads[i], &wrong), 0);
		assert_null(wrong);
	}
	assert_int_equal(atomic_load(&quota.taken), 0);
}

static void test_options(void **unused)
{
	static const char *const nonsense[] = {"", "0", "-1", "x", "1x", "18446744073709551616"};
	uint64_t wide = 0;
	unsigned int narrow = 0;

	for (size_t i = 0; i < ARRAY_LENGTH(nonsense); i++) {
		assert_non_null(quota_parse_clients(nonsense[i], &narrow));
		assert_non_null(quota_parse_queue_pairs(nonsense[i], &wide));
		assert_non_null(quota_parse_size(nonsense[i], &wide));
		assert_non_null(quota_parse_time(nonsense[i], &narrow));
	}
	assert_non_null(quota_parse_clients("4097", &narrow));
	assert_non_null(quota_parse_size("17179869184g", &wide));
	assert_null(quota_parse_clients("4096", &narrow));
	assert_int_equal(narrow, 4096);
	assert_null(quota_parse_size("64g", &wide));
	assert_int_equal(wide, 68719476736);
	assert_null(quota_parse_time("60m", &narrow));
	assert_int_equal(narrow, 3600000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits_of_a_client),
		cmocka_unit_test(test_largest_parameters),
		cmocka_unit_test(test_estimates),
		cmocka_unit_test(test_giving_memory_back),
		cmocka_unit_test(test_kept_buffer),
		cmocka_unit_test(test_kept_buffer_always_counts),
		cmocka_unit_test(test_memory_of_the_machine),
		cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_shared_limits),
		cmocka_unit_test(test_concurrent_clients),
		cmocka_unit_test(test_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
