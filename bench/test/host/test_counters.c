/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <time.h>

#include "bench/host/counters.h"
#include "bench/server/receive_misses.h"
#include "bench/test/unit.d/made_up_json.h"
#include "core/base/clock.h"
#include "core/test/lib/made_up.h"

#define PORT "/sys/class/infiniband/mlx5_0/ports/1"

/* The time for which nanosleep(), replaced below, was called. */
static uint64_t slept_ns;

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
	slept_ns += (uint64_t)wanted->tv_sec * NS_PER_S + (uint64_t)wanted->tv_nsec;
	return 0;
}

/* The last lines are another port's counter and files that are no counters. */
static const char files[] = "/sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data 1000\n"
			    "/sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error 7\n"
			    "/sys/class/infiniband/mlx5_0/ports/1/counters/link_downed 2\n"
			    "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence 100\n"
			    "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/rnr_nak_retry_err 3\n"
			    "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/rx_write_requests 5\n"
			    "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/link_downed 4\n"
			    "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/lifespan 12\n"
			    "/sys/class/infiniband/mlx5_0/hw_counters/active_qps 9\n"
			    "/sys/class/infiniband/mlx5_0/hw_counters/rx_write_requests 50\n"
			    "/sys/class/infiniband/mlx5_0/ports/2/counters/port_rcv_data 1\n"
			    "/sys/class/infiniband/mlx5_0/ports/1/counters/text N/A (no PMA)\n"
			    "/sys/class/infiniband/mlx5_0/ports/1/counters/negative -1\n"
			    "/sys/class/infiniband/mlx5_0/ports/1/lid 0x1\n";

static void read_all(const struct made_up *machine, struct counters *counters,
		     const struct counters *previous)
{
	struct error error = {0};

	assert_int_equal(counters_open(counters, machine->root, "mlx5_0", 1, previous, &error), 0);
}

static void test_reading(void **unused)
{
	static const struct {
		const char *name;
		uint64_t value;
	} wanted[] = {
		{"link_downed",                     2   },
		{"port_xmit_data",                  1000},
		{"symbol_error",                    7   },
		{"ports/1/hw_counters/link_downed", 4   },
		{"out_of_sequence",                 100 },
		{"rnr_nak_retry_err",               3   },
		{"rx_write_requests",               5   },
		{"active_qps",                      9   },
		{"hw_counters/rx_write_requests",   50  },
	};
	struct made_up machine;
	struct counters counters;

	made_up_open(&machine);
	made_up_files(&machine, files, NULL, 0);
	read_all(&machine, &counters, NULL);
	assert_int_equal(counters.count, ARRAY_LENGTH(wanted));
	for (size_t i = 0; i < ARRAY_LENGTH(wanted); i++) {
		assert_string_equal(counters.rows[i].name, wanted[i].name);
		assert_int_equal(counters.rows[i].value, wanted[i].value);
	}
	assert_int_equal(counters.lifespan_ms, 12);
	counters_close(&counters);
	made_up_close(&machine);
}

static void test_moved_counters(void **unused)
{
	static const char later[] =
		"/sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data 1500\n"
		"/sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error 8\n"
		"/sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence 99\n"
		"/sys/class/infiniband/mlx5_0/ports/1/hw_counters/appeared 1\n";
	struct made_up machine;
	struct counters before;
	struct counters after;
	json_t *moved;

	made_up_open(&machine);
	made_up_files(&machine, files, NULL, 0);
	read_all(&machine, &before, NULL);
	made_up_files(&machine, later, NULL, 0);
	read_all(&machine, &after, NULL);
	moved = counters_moved(&before, &after);
	assert_json(moved, "{'port_xmit_data':500, 'symbol_error':1, 'link_downed':0,"
			   " 'ports/1/hw_counters/link_downed':0, 'rnr_nak_retry_err':0}");
	json_decref(moved);
	counters_close(&before);
	counters_close(&after);
	made_up_close(&machine);
}

static void test_device_without_counters(void **unused)
{
	struct made_up machine;
	struct counters before;
	struct counters after;
	json_t *moved;

	made_up_open(&machine);
	slept_ns = 0;
	read_all(&machine, &before, NULL);
	read_all(&machine, &after, &before);
	assert_int_equal(after.count, 0);
	assert_int_equal(slept_ns, 0);
	moved = counters_moved(&before, &after);
	assert_json(moved, "{}");
	json_decref(moved);
	counters_close(&before);
	counters_close(&after);
	made_up_close(&machine);
}

/* Waits only while the kernel would return cached values. */
static void test_waiting(void **unused)
{
	struct made_up machine;
	struct counters before;
	struct counters after;

	made_up_open(&machine);
	made_up_files(&machine, files, NULL, 0);
	made_up_file(&machine, PORT "/hw_counters/lifespan", "5000");
	slept_ns = 0;
	read_all(&machine, &before, NULL);
	assert_int_equal(slept_ns, 0);
	before.read_ns = clock_now_ns() - 2 * NS_PER_S;
	read_all(&machine, &after, &before);
	/* The rest of the lifespan and a tick of the kernel at most, less the time of a slow test. */
	assert_true(slept_ns <= 3010 * NS_PER_MS);
	assert_true(slept_ns >= 1000 * NS_PER_MS);
	counters_close(&after);
	slept_ns = 0;
	before.read_ns = clock_now_ns() - 6 * NS_PER_S;
	read_all(&machine, &after, &before);
	assert_int_equal(slept_ns, 0);
	counters_close(&after);
	counters_close(&before);
	/* The lifespan is limited to what the kernel allows. */
	made_up_file(&machine, PORT "/hw_counters/lifespan", "99999999999");
	read_all(&machine, &before, NULL);
	assert_int_equal(before.lifespan_ms, 10000);
	counters_close(&before);
	made_up_close(&machine);
}

static void test_kinds(void **unused)
{
	assert_int_equal(counters_kind("out_of_sequence"), COUNTER_LOSS);
	assert_int_equal(counters_kind("out_of_seq_request"), COUNTER_LOSS);
	assert_int_equal(counters_kind("hw_counters/out_of_sequence"), COUNTER_LOSS);
	assert_int_equal(counters_kind("rnr_nak_retry_err"), COUNTER_NOT_READY);
	assert_int_equal(counters_kind("symbol_error"), COUNTER_LINK);
	assert_int_equal(counters_kind("rp_cnp_handled"), COUNTER_CONGESTION);
	assert_int_equal(counters_kind("port_xmit_data"), COUNTER_OTHER);
	assert_int_equal(counters_kind(""), COUNTER_OTHER);
}

static void check_missed(const struct receive_misses *missed, const struct made_up *machine,
			 const char *wanted)
{
	char text[64];

	receive_misses_tell(missed, machine->root, "mlx5_0", text, sizeof(text));
	assert_string_equal(text, wanted);
}

/* Misses of both ports are reported, and no other counters. */
static void test_receive_misses(void **unused)
{
	struct made_up machine;
	struct receive_misses missed;

	made_up_open(&machine);
	receive_misses_open(&missed, machine.root, "mlx5_0", 2);
	check_missed(&missed, &machine, "the device does not count it");
	receive_misses_close(&missed);

	made_up_files(&machine, files, NULL, 0);
	made_up_file(&machine, PORT "/hw_counters/out_of_buffer", "20");
	made_up_file(&machine, "/sys/class/infiniband/mlx5_0/ports/2/hw_counters/out_of_buffer",
		     "1");
	receive_misses_open(&missed, machine.root, "mlx5_0", 2);
	made_up_file(&machine, PORT "/hw_counters/out_of_sequence", "101");
	check_missed(&missed, &machine, "never");
	made_up_file(&machine, PORT "/hw_counters/out_of_buffer", "37");
	check_missed(&missed, &machine, "out_of_buffer 17");
	made_up_file(&machine, "/sys/class/infiniband/mlx5_0/ports/2/hw_counters/out_of_buffer",
		     "3");
	check_missed(&missed, &machine, "out_of_buffer 17, out_of_buffer 2");
	receive_misses_close(&missed);
	made_up_close(&machine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reading),
		cmocka_unit_test(test_moved_counters),
		cmocka_unit_test(test_device_without_counters),
		cmocka_unit_test(test_waiting),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_receive_misses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
