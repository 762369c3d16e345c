/* SPDX-License-Identifier: MIT */
/* Tests the connection settings derived from a case's parameters. */
#include "bench/lane/lane.h"
#include "core/test/lib/check.h"

static struct rdma_settings settings_of(const struct parameters *parameters)
{
	const struct lane lane = {
		.settings = {.parameters = parameters, .shape = &operations[parameters->op].shape}
        };

	return lane_context_settings(&lane);
}

static void test_parameters_become_settings(void **unused)
{
	struct parameters parameters = parameters_default();
	struct rdma_settings settings;

	parameters.tx_depth = 33;
	parameters.rx_depth = 44;
	parameters.cq_mod = 1;
	parameters.timeout = 21;
	parameters.retries = 3;
	parameters.outstanding = 9;
	parameters.sge = 5;
	parameters.size = 1000;
	settings = settings_of(&parameters);
	assert_int_equal(settings.send_depth, 33);
	assert_int_equal(settings.recv_depth, 44);
	assert_int_equal(settings.ack_timeout, 21);
	assert_int_equal(settings.retry_count, 3);
	assert_int_equal(settings.outstanding_reads, 9);
	assert_int_equal(settings.max_sge, 5);
	assert_int_equal(settings.max_message, 1000);
	parameters.outstanding = PARAMETER_AUTO;
	assert_int_equal(settings_of(&parameters).outstanding_reads, 0);
}

/* A zero in struct rdma_settings means the default, so real zeros need other values. */
static void test_zero_is_not_the_default(void **unused)
{
	static const struct {
		uint64_t size;
		uint32_t setting;
	} inline_sizes[] = {
		{0,              RDMA_NO_INLINE},
		{1,              1             },
		{200,            200           },
		{PARAMETER_AUTO, 0             },
	};
	struct parameters parameters = parameters_default();

	parameters.retries = 0;
	assert_int_equal(settings_of(&parameters).retry_count, RDMA_NONE);
	for (size_t i = 0; i < ARRAY_LENGTH(inline_sizes); i++) {
		parameters.inline_size = inline_sizes[i].size;
		assert_int_equal(settings_of(&parameters).max_inline, inline_sizes[i].setting);
	}
}

/* If the receiver posts receives, the sender retries forever (7). */
static void test_rnr_retry(void **unused)
{
	struct parameters parameters = parameters_default();

	parameters.metric = METRIC_LAT;
	assert_int_equal(settings_of(&parameters).rnr_retry, 0);
	parameters.metric = METRIC_BW;
	assert_int_equal(settings_of(&parameters).rnr_retry, 7);
	parameters.metric = METRIC_LOAD;
	assert_int_equal(settings_of(&parameters).rnr_retry, 7);
	parameters.receives = RECEIVES_NONE;
	assert_int_equal(settings_of(&parameters).rnr_retry, 0);
}

/* A completion queue is as deep as requested, but never overflows. */
static void test_cq_depth(void **unused)
{
	struct parameters parameters = parameters_default();
	const struct operation_shape *shape = &operations[parameters.op].shape;
	uint64_t least;

	parameters.tx_depth = 33;
	parameters.rx_depth = 44;
	parameters.cq_mod = 1;
	least = lane_limits(&parameters, shape, false).cq_depth;
	assert_int_equal(least, 33 + 44);
	parameters.cq_depth = 5000;
	assert_int_equal(lane_limits(&parameters, shape, false).cq_depth, 5000);
	parameters.cq_depth = 1;
	assert_int_equal(lane_limits(&parameters, shape, false).cq_depth, least);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parameters_become_settings),
		cmocka_unit_test(test_zero_is_not_the_default),
		cmocka_unit_test(test_rnr_retry),
		cmocka_unit_test(test_cq_depth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
