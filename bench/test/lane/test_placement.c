/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "bench/lane/placement.h"
#include "core/test/lib/made_up.h"

static struct made_up machine;

static struct cpulist cpus(const char *text)
{
	struct cpulist list = {0};

	assert_true(!*text || cpulist_parse(&list, text));
	return list;
}

static const char *text_of(const struct cpulist *list)
{
	static char text[64];

	cpulist_print(list, text, sizeof(text));
	return text;
}

static void test_cpu_lists_round_trip(void **unused)
{
	static const char *const texts[] = {
		"", "0", "8191", "0-3", "0-3,8", "1,3,5,7", "62-65,127-128,8190-8191",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		struct cpulist list = cpus(texts[i]);

		assert_string_equal(text_of(&list), texts[i]);
	}
}

/* Long lists are cut between two members and end in "...", within the given size. */
static void test_long_cpu_lists_are_cut(void **unused)
{
	struct cpulist list = cpus("0-3,10,20-29,100");

	for (size_t size = 5; size <= 17; size++) {
		char *text = test_malloc(size);

		cpulist_print(&list, text, size);
		assert_true(strlen(text) < size);
		if (strlen(text) < 16)
			assert_string_equal(text + strlen(text) - 3, "...");
		test_free(text);
	}
	list = cpulist_of(CPULIST_MAX);
	assert_int_equal(cpulist_count(&list), 0);
}

static int open_machine(void **unused)
{
	made_up_open(&machine);
	made_up_file(&machine, "/sys/devices/system/node/node0/cpulist", "0-3");
	made_up_file(&machine, "/sys/devices/system/node/node1/cpulist", "4-7");
	made_up_file(&machine, "/sys/devices/system/node/node2/cpulist", "");
	return 0;
}

static int close_machine(void **unused)
{
	made_up_close(&machine);
	return 0;
}

#define OFF  PARAMETER_OFF
#define AUTO PARAMETER_AUTO

static void test_default_cpus(void **unused)
{
	static const struct {
		int device_node;
		uint64_t pin;
		const char *allowed;
		const char *chosen;
	} rows[] = {
		{1,  AUTO, "0-7",   "4-7"  },
		{0,  AUTO, "0-7",   "0-3"  },
		{1,  AUTO, "2-5",   "4-5"  },
		{1,  OFF,  "2-5",   "2-5"  },
		{1,  2,    "0-7",   "2"    },
		{-1, 5,    "0-7",   "5"    },
 /* The near CPUs are unknown or not allowed. */
		{-1, AUTO, "0-7",   "0-7"  },
		{1,  AUTO, "0-3",   "0-3"  },
		{2,  AUTO, "0-3",   "0-3"  },
		{3,  AUTO, "1,6-7", "1,6-7"},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		const struct placement_wish wish = {.root = machine.root,
						    .prefix = "",
						    .device_node = rows[i].device_node,
						    .pin = rows[i].pin};
		struct cpulist allowed = cpus(rows[i].allowed);
		struct error error = {0};
		struct cpulist chosen;

		assert_int_equal(placement_choose(&wish, &allowed, &chosen, &error), 0);
		assert_string_equal(text_of(&chosen), rows[i].chosen);
	}
}

/* Cores with two hyperthreads each: 0 and 4, 1 and 5, and so on. */
static void make_siblings(void)
{
	for (unsigned int cpu = 0; cpu < 8; cpu++) {
		char path[128];
		char text[32];

		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list", cpu);
		snprintf(text, sizeof(text), "%u,%u", cpu % 4, cpu % 4 + 4);
		made_up_file(&machine, path, text);
	}
}

/* Checks the CPUs of several threads. */
static void check_threads(struct placement_wish wish, const char *allowed, const char *wanted)
{
	struct cpulist list = cpus(allowed);
	char found[512] = "";

	wish.root = machine.root;
	wish.prefix = "";
	for (unsigned int i = 0; i < wish.threads; i++) {
		struct cpulist chosen;
		size_t used = strlen(found);

		wish.number = i;
		assert_int_equal(placement_choose(&wish, &list, &chosen, &(struct error){0}), 0);
		snprintf(found + used, sizeof(found) - used, "%s%s", i ? " " : "",
			 text_of(&chosen));
	}
	assert_string_equal(found, wanted);
}

#define THREADS(...) ((struct placement_wish){__VA_ARGS__})

static void test_each_thread_gets_a_cpu(void **unused)
{
	check_threads(THREADS(.threads = 3, .pin = AUTO, .device_node = -1), "0-7", "0 1 2");
	check_threads(THREADS(.threads = 3, .is_server = true, .pin = AUTO, .device_node = -1),
		      "0-7", "7 6 5");
	/* First the CPUs near the device, then the others, then from the start. */
	check_threads(THREADS(.threads = 6, .device_node = 1, .pin = AUTO), "2-7", "4 5 6 7 2 3");
	check_threads(THREADS(.threads = 5, .pin = AUTO, .device_node = -1), "1,6", "1 6 1 6 1");
	check_threads(THREADS(.threads = 2, .pin = OFF, .device_node = -1), "0-3", "0-3 0-3");
	make_siblings();
	check_threads(THREADS(.threads = 8, .pin = AUTO, .device_node = -1), "0-7",
		      "0 1 2 3 4 5 6 7");
	check_threads(THREADS(.threads = 4, .pin = AUTO, .device_node = -1), "0,1,4,5", "0 1 4 5");
	check_threads(THREADS(.threads = 4, .is_server = true, .pin = AUTO, .device_node = -1),
		      "0,1,4,5", "1 0 5 4");
	/* The first hyperthread of a core is the first allowed one. */
	check_threads(THREADS(.threads = 4, .pin = AUTO, .device_node = -1), "2,4-6", "2 4 5 6");
}

/* With both sides on one machine, each gets half of the cores, and none is in both halves. */
static void test_sides_on_one_machine_split_cpus(void **unused)
{
	static const struct {
		int device_node;
		const char *allowed;
		const char *client;
		const char *server;
	} rows[] = {
  /* Cores: 0 and 4, 1 and 5, 2 and 6, 3 and 7. */
		{-1, "0-7", "0-1,4-5", "2-3,6-7"},
		{-1, "0-3", "0-1",     "2-3"    },
		{-1, "0-2", "0",       "1-2"    },
		{-1, "0,4", "0",       "4"      },
		{0,  "0-7", "0-1",     "2-3"    },
		{1,  "0-4", "0-1,4",   "2-3"    }, /* a single near CPU is too few */
		{-1, "6",   "6",       "6"      },
	};

	make_siblings();
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct placement_wish wish = {.threads = 1,
					      .device_node = rows[i].device_node,
					      .pin = AUTO,
					      .other_pin = AUTO,
					      .is_shared = true};

		check_threads(wish, rows[i].allowed, rows[i].client);
		wish.is_server = true;
		check_threads(wish, rows[i].allowed, rows[i].server);
	}
	check_threads(THREADS(.threads = 1, .device_node = -1, .pin = OFF, .is_shared = true),
		      "0-7", "0-7");
}

/* If the peer is pinned to a CPU, this side gets the others. */
static void test_avoids_the_pinned_cpu_of_the_peer(void **unused)
{
	struct placement_wish wish = {
		.threads = 1, .device_node = -1, .pin = AUTO, .is_shared = true, .other_pin = 1};

	check_threads(wish, "0-1", "0");
	check_threads(wish, "0-7", "0,2-7");
	check_threads(wish, "1", "1");
	wish.other_pin = 0;
	check_threads(wish, "0-1", "1");
	wish.other_pin = OFF;
	check_threads(wish, "0-1", "0-1");
	wish.is_shared = false;
	wish.other_pin = 1;
	check_threads(wish, "0-1", "0-1");
}

static uint64_t pins(const char *text)
{
	uint64_t value;

	assert_null(parameter_parse(parameter_find("pin"), text, &value));
	return value;
}

static void test_pinned_threads(void **unused)
{
	check_threads(THREADS(.threads = 3, .pin = pins("2"), .device_node = -1), "0-7", "2 2 2");
	check_threads(THREADS(.threads = 3, .pin = pins("2-4"), .device_node = -1), "0-7", "2 3 4");
	check_threads(THREADS(.threads = 4, .pin = pins("1-5+2"), .device_node = -1), "0-7",
		      "1 3 5 1");
	check_threads(THREADS(.threads = 4, .pin = pins("1-6+2"), .device_node = -1), "0-7",
		      "1 3 5 1");
	check_threads(THREADS(.threads = 2, .pin = pins("0-7"), .device_node = -1), "0-1", "0 1");
}

static void test_rejects_unavailable_cpu(void **unused)
{
	struct placement_wish wish = {.root = machine.root, .prefix = "", .pin = 4};
	struct cpulist allowed = cpus("0-3,8");
	struct error error = {0};
	struct cpulist chosen;

	assert_int_equal(placement_choose(&wish, &allowed, &chosen, &error), -EINVAL);
	assert_string_equal(error.text, "--pin: CPU 4 is not available; available CPUs: 0-3,8");
	error = (struct error){0};
	wish.prefix = "server-";
	wish.pin = 8191;
	assert_int_equal(placement_choose(&wish, &allowed, &chosen, &error), -EINVAL);
	assert_string_equal(error.text,
			    "--server-pin: CPU 8191 is not available; available CPUs: 0-3,8");
}

static void test_rejects_missing_node(void **unused)
{
	static const struct {
		uint64_t numa;
		int node;
		const char *refusal;
	} rows[] = {
		{AUTO, -1,               NULL							       },
		{OFF,  ENDPOINT_NO_NODE, NULL							       },
		{0,    0,                NULL							       },
		{3,    3,                NULL							       },
		{2,    2,                "--server-numa: no NUMA node 2 with memory; available nodes: 0-1,3"},
		{1023, 1023,
		 "--server-numa: no NUMA node 1023 with memory; available nodes: 0-1,3"                     },
	};

	made_up_file(&machine, "/sys/devices/system/node/online", "0-3");
	made_up_file(&machine, "/sys/devices/system/node/has_memory", "0-1,3");
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		const struct placement_wish wish = {
			.root = machine.root, .prefix = "server-", .numa = rows[i].numa};
		struct error error = {0};
		int node;

		assert_int_equal(placement_node(&wish, &node, &error),
				 rows[i].refusal ? -EINVAL : 0);
		assert_int_equal(node, rows[i].node);
		assert_string_equal(error.text, rows[i].refusal ? rows[i].refusal : "");
	}
}

static void test_rejects_node_on_kernel_without_numa(void **unused)
{
	struct placement_wish wish = {.root = machine.root, .prefix = "", .numa = 0};
	struct error error = {0};
	int node;

	assert_int_equal(placement_node(&wish, &node, &error), -EINVAL);
	assert_string_equal(error.text, "--numa: the kernel does not list the NUMA nodes");
	made_up_file(&machine, "/sys/devices/system/node/online", "0");
	assert_int_equal(placement_node(&wish, &node, &(struct error){0}), 0);
}

/* Uses a buffer of this machine, wherever the kernel has placed it. */
static void test_rejects_buffer_on_other_node(void **unused)
{
	struct placement_wish wish = {.root = "", .prefix = "", .numa = OFF};
	struct placement placement = {.node = -1};
	struct error error = {0};
	struct memory buffer;

	assert_int_equal(memory_open(&buffer, &memory_host,
				     &(struct memory_request){.size = 3 << 20,
							      .numa_node = ENDPOINT_NO_NODE},
				     &error),
			 0);
	assert_int_equal(placement_check(&placement, &wish, &buffer, &error), 0);
	assert_int_equal(placement.node, memory_node(&buffer));
	assert_int_equal(placement_result(&placement).numa_node, placement.node);
	if (placement.node >= 0) {
		wish.numa = (uint64_t)placement.node;
		assert_int_equal(placement_check(&placement, &wish, &buffer, &error), 0);
	}
	wish.numa = 1000;
	assert_int_equal(placement_check(&placement, &wish, &buffer, &error), -ENOMEM);
	assert_contains(error.text, "--numa: the buffer is ");
	memory_close(&buffer);
	assert_int_equal(memory_node(&buffer), -1);
}

static struct cpulist own(void)
{
	struct cpulist list = {0};

	assert_int_equal(sched_getaffinity(0, sizeof(list), (cpu_set_t *)(void *)list.words), 0);
	return list;
}

static unsigned int first(const struct cpulist *list)
{
	for (unsigned int cpu = 0; cpu < CPULIST_MAX; cpu++) {
		struct cpulist one = cpulist_of(cpu);

		if (cpulist_common(list, &one))
			return cpu;
	}
	return CPULIST_MAX;
}

/* Moves the thread and restores its affinity. */
static void *move_and_back(void *argument)
{
	struct cpulist before = own();
	const struct placement_wish wish = {
		.root = "", .prefix = "", .device_node = -1, .pin = first(&before)};
	struct cpulist wanted = cpulist_of((unsigned int)wish.pin);
	struct cpulist *of_others = argument;
	struct placement placement;
	struct error error = {0};
	struct cpulist now;

	assert_int_equal(placement_open(&placement, &wish, &error), 0);
	now = own();
	assert_memory_equal(&now, &wanted, sizeof(now));
	assert_string_equal(placement_result(&placement).cpus, text_of(&wanted));
	sched_getaffinity(getpid(), sizeof(*of_others), (cpu_set_t *)(void *)of_others->words);
	placement_close(&placement);
	now = own();
	assert_memory_equal(&now, &before, sizeof(now));
	placement_close(&placement);
	return NULL;
}

static void test_moves_only_the_thread(void **unused)
{
	struct cpulist before = own();
	struct cpulist meanwhile = {0};
	struct cpulist after;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, move_and_back, &meanwhile), 0);
	pthread_join(thread, NULL);
	after = own();
	assert_memory_equal(&meanwhile, &before, sizeof(before));
	assert_memory_equal(&after, &before, sizeof(before));
}

/* If moving fails, the thread's affinity is unchanged. */
static void test_failure_leaves_affinity(void **unused)
{
	const struct placement_wish wish = {
		.root = "", .prefix = "", .device_node = -1, .pin = CPULIST_MAX - 1};
	struct cpulist before = own();
	struct placement placement;
	struct error error = {0};
	struct cpulist after;

	assert_int_equal(placement_open(&placement, &wish, &error), -EINVAL);
	assert_contains(error.text, "--pin: CPU 8191 is not available; available CPUs: ");
	placement_close(&placement);
	after = own();
	assert_memory_equal(&after, &before, sizeof(before));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpu_lists_round_trip),
		cmocka_unit_test(test_long_cpu_lists_are_cut),
		cmocka_unit_test_setup_teardown(test_default_cpus, open_machine, close_machine),
		cmocka_unit_test_setup_teardown(test_each_thread_gets_a_cpu, open_machine,
						close_machine),
		cmocka_unit_test_setup_teardown(test_sides_on_one_machine_split_cpus, open_machine,
						close_machine),
		cmocka_unit_test_setup_teardown(test_avoids_the_pinned_cpu_of_the_peer,
						open_machine, close_machine),
		cmocka_unit_test_setup_teardown(test_pinned_threads, open_machine, close_machine),
		cmocka_unit_test(test_rejects_unavailable_cpu),
		cmocka_unit_test_setup_teardown(test_rejects_missing_node, open_machine,
						close_machine),
		cmocka_unit_test_setup_teardown(test_rejects_node_on_kernel_without_numa,
						open_machine, close_machine),
		cmocka_unit_test(test_rejects_buffer_on_other_node),
		cmocka_unit_test(test_moves_only_the_thread),
		cmocka_unit_test(test_failure_leaves_affinity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
