/* SPDX-License-Identifier: MIT */
#include "bench/plan/pattern.h"
#include "core/base/compiler.h"
#include "core/test/lib/check.h"

#define THREADS 4
#define QPS     3

static struct parameters parameters;

static void make(uint64_t pattern, uint64_t threads, uint64_t qps)
{
	parameters = parameters_default();
	parameters.pattern = pattern;
	parameters.threads = threads;
	parameters.qps = qps;
}

static void test_counts(void **unused)
{
	static const struct {
		uint64_t pattern;
		unsigned int lanes[2]; /* of client and server */
		unsigned int pairs[2];
		unsigned int all;
		unsigned int rounds;
	} rows[] = {
		{PARAMETER_AUTO,      {4, 4}, {3, 3},   12, 1},
		{PATTERN_ONE_TO_ONE,  {4, 4}, {3, 3},   12, 1},
		{PATTERN_MANY_TO_ONE, {4, 1}, {3, 12},  12, 1},
		{PATTERN_ONE_TO_MANY, {1, 4}, {12, 3},  12, 1},
		{PATTERN_ALL_TO_ALL,  {4, 4}, {12, 12}, 48, 4},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		make(rows[i].pattern, THREADS, QPS);
		for (int server = 0; server < 2; server++) {
			assert_int_equal(pattern_lanes(&parameters, server), rows[i].lanes[server]);
			assert_int_equal(pattern_lane_pairs(&parameters, server),
					 rows[i].pairs[server]);
		}
		assert_int_equal(pattern_pairs(&parameters), rows[i].all);
		assert_int_equal(pattern_rounds(&parameters), rows[i].rounds);
		assert_int_equal(pattern_most_pairs(&parameters),
				 rows[i].pairs[0] > rows[i].pairs[1] ? rows[i].pairs[0]
								     : rows[i].pairs[1]);
	}
}

/* The client has one queue pair, and the server one for each receiver. */
static void test_multicast(void **unused)
{
	make(PARAMETER_AUTO, 1, QPS);
	assert_int_equal(pattern_receivers(&parameters), 1);
	parameters.multicast = 0xe0000001;
	assert_int_equal(pattern_receivers(&parameters), QPS);
	assert_int_equal(pattern_lane_pairs(&parameters, false), 1);
	assert_int_equal(pattern_lane_pairs(&parameters, true), QPS);
	assert_int_equal(pattern_pairs(&parameters), QPS);
	for (unsigned int i = 0; i < QPS; i++)
		assert_int_equal(pattern_number(&parameters, true, 0, i), i);
}

/* A queue pair of one side. */
struct place {
	unsigned int lane;
	unsigned int pair;
	unsigned int far;
};

static void find_all(bool is_server, struct place *places)
{
	unsigned int count = pattern_lane_pairs(&parameters, is_server);
	bool is_seen[THREADS * THREADS * QPS] = {false};

	for (unsigned int lane = 0; lane < pattern_lanes(&parameters, is_server); lane++)
		for (unsigned int pair = 0; pair < count; pair++) {
			unsigned int number = pattern_number(&parameters, is_server, lane, pair);

			assert_true(number < pattern_pairs(&parameters));
			assert_false(is_seen[number]);
			is_seen[number] = true;
			places[number] = (struct place){
				lane, pair, pattern_peer_pair(&parameters, is_server, lane, pair)};
		}
}

/* Queue pairs with the same number on both sides refer to each other and to the right lane. */
static void test_both_ends_agree(void **unused)
{
	for (uint64_t pattern = 0; pattern <= PATTERN_ALL_TO_ALL; pattern++) {
		struct place near[THREADS * THREADS * QPS];
		struct place far[THREADS * THREADS * QPS];
		bool has_met[THREADS][THREADS] = {{false}};

		make(pattern, THREADS, QPS);
		find_all(false, near);
		find_all(true, far);
		for (unsigned int i = 0; i < pattern_pairs(&parameters); i++) {
			assert_int_equal(near[i].far, far[i].pair);
			assert_int_equal(far[i].far, near[i].pair);
			has_met[near[i].lane][far[i].lane] = true;
			if (pattern == PATTERN_ONE_TO_ONE)
				assert_int_equal(near[i].lane, far[i].lane);
		}
		for (unsigned int lane = 0; lane < THREADS && pattern == PATTERN_ALL_TO_ALL; lane++)
			for (unsigned int other = 0; other < THREADS; other++)
				assert_true(has_met[lane][other]);
	}
}

/* The server accepts lane by lane, round by round, in the order of the client's connections. */
static void test_order(void **unused)
{
	for (uint64_t pattern = 0; pattern <= PATTERN_ALL_TO_ALL; pattern++) {
		unsigned int next = 0;
		unsigned int count;

		make(pattern, THREADS, QPS);
		count = pattern_lane_pairs(&parameters, true) / pattern_rounds(&parameters);
		for (unsigned int round = 0; round < pattern_rounds(&parameters); round++)
			for (unsigned int lane = 0; lane < pattern_lanes(&parameters, true); lane++)
				for (unsigned int i = 0; i < count; i++)
					assert_int_equal(pattern_number(&parameters, true, lane,
									round * count + i),
							 next++);
		assert_int_equal(next, pattern_pairs(&parameters));
	}
}

static void check_flow(const struct flow_share *flow, const char *from, const char *to,
		       uint64_t messages, uint64_t duration_ns)
{
	assert_string_equal(flow->from, from);
	assert_string_equal(flow->to, to);
	assert_int_equal(flow->messages, messages);
	assert_int_equal(flow->duration_ns, duration_ns);
}

/* Two threads with two queue pairs per flow: 1, 2, 4, ... messages. */
static void test_flows(void **unused)
{
	struct shares shares = {0};
	struct flows flows = {0};
	struct error error = {0};

	make(PATTERN_ALL_TO_ALL, 2, 2);
	assert_int_equal(shares_open(&shares, 2, 4, &error), 0);
	for (unsigned int i = 0; i < 8; i++)
		shares.messages[i] = 1U << i;
	shares.duration_ns[0] = 10;
	shares.duration_ns[1] = 20;
	assert_int_equal(pattern_flows(&parameters, &shares, &flows, &error), 0);
	assert_int_equal(flows.count, 4);
	check_flow(&flows.flow[0], "client 0", "server 0", 3, 10);
	check_flow(&flows.flow[1], "client 0", "server 1", 12, 10);
	check_flow(&flows.flow[2], "client 1", "server 0", 48, 20);
	check_flow(&flows.flow[3], "client 1", "server 1", 192, 20);
	flows_close(&flows);

	assert_int_equal(shares_open(&shares, 1, 4, &error), 0);
	make(PATTERN_ONE_TO_MANY, 2, 2);
	shares.duration_ns[0] = 5;
	for (unsigned int i = 0; i < 4; i++)
		shares.messages[i] = 1U << i;
	assert_int_equal(pattern_flows(&parameters, &shares, &flows, &error), 0);
	assert_int_equal(flows.count, 2);
	check_flow(&flows.flow[0], "client 0", "server 0", 3, 5);
	check_flow(&flows.flow[1], "client 0", "server 1", 12, 5);
	flows_close(&flows);

	assert_int_equal(shares_open(&shares, 2, 1, &error), 0);
	make(PATTERN_MANY_TO_ONE, 2, 1);
	shares.messages[0] = 7;
	shares.messages[1] = 8;
	assert_int_equal(pattern_flows(&parameters, &shares, &flows, &error), 0);
	assert_int_equal(flows.count, 2);
	check_flow(&flows.flow[0], "client 0", "server 0", 7, 0);
	check_flow(&flows.flow[1], "client 1", "server 0", 8, 0);
	flows_close(&flows);

	make(PARAMETER_AUTO, 2, 1);
	assert_int_equal(pattern_flows(&parameters, &shares, &flows, &error), 0);
	assert_int_equal(flows.count, 0);
	shares_close(&shares);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),          cmocka_unit_test(test_multicast),
		cmocka_unit_test(test_both_ends_agree), cmocka_unit_test(test_order),
		cmocka_unit_test(test_flows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
