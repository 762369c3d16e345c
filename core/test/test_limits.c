/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "core/limits.h"
#include "core/test/check.h"

static const struct ibv_device_attr device = {
	.max_qp_wr = 1024,
	.max_cqe = 1500,
	.max_sge = 30,
	.max_qp_rd_atom = 16,
	.max_qp_init_rd_atom = 128,
};
static const struct ibv_port_attr port = {.max_msg_sz = 8388608};
static const struct limits allowed = {
	.send_depth = 1024, .recv_depth = 476, .sge = 30, .reads = 16, .message_bytes = 8388608};

static void test_as_much_as_allowed(void **unused)
{
	struct error error = {0};

	assert_int_equal(limits_check(&allowed, &device, &port, &error), 0);
	assert_int_equal(limits_check(&(struct limits){0}, &device, &port, &error), 0);
	assert_int_equal(error.code, 0);
}

static void test_one_more_than_allowed(void **unused)
{
	static const struct {
		struct limits wanted;
		const char *text;
	} rows[] = {
		{{.send_depth = 1025},                                 "send queue depth 1025 exceeds the device's limit 1024"            },
		{{.recv_depth = 1025},                                 "receive queue depth 1025 exceeds the device's limit 1024"         },
		{{.send_depth = 1024, .recv_depth = 477},
		 "completion queue depth 1501 exceeds the device's limit 1500"                                                            },
		{{.sge = 31},					  "number of scatter-gather entries 31 exceeds the device's limit 30"},
		{{.reads = 17},					"number of outstanding reads 17 exceeds the device's limit 16"     },
		{{.message_bytes = 8388609},
		 "message size 8388609 exceeds the device's limit 8388608"                                                                },
		{{.message_bytes = UINT64_MAX},
		 "message size 18446744073709551615 exceeds the device's limit 8388608"                                                   },
		{{.send_depth = UINT32_MAX, .recv_depth = UINT32_MAX},
		 "send queue depth 4294967295 exceeds the device's limit 1024"                                                            },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct error error = {0};

		assert_int_equal(limits_check(&rows[i].wanted, &device, &port, &error), -EINVAL);
		assert_string_equal(error.text, rows[i].text);
	}
}

/* Fields of the transport's own header, as wide as its specification has them. */
static void test_narrow_fields(void **unused)
{
	const struct limits most = {
		.ack_timeout = 31, .retries = 7, .rnr_retries = 7, .rnr_timer = 31};
	const struct limits beyond[] = {
		{.ack_timeout = 32}, {.retries = 8}, {.rnr_retries = 8}, {.rnr_timer = 32}};
	static const char *const texts[] = {
		"acknowledgement timeout 32 exceeds the device's limit 31",
		"retry count 8 exceeds the device's limit 7",
		"RNR retry count 8 exceeds the device's limit 7",
		"RNR timer 32 exceeds the device's limit 31",
	};

	assert_int_equal(limits_check(&most, &device, &port, &(struct error){0}), 0);
	for (size_t i = 0; i < ARRAY_LENGTH(beyond); i++) {
		struct error error = {0};

		assert_int_equal(limits_check(&beyond[i], &device, &port, &error), -EINVAL);
		assert_string_equal(error.text, texts[i]);
	}
}

static void test_the_smaller_of_both_directions(void **unused)
{
	struct ibv_device_attr other = device;
	struct error error = {0};

	other.max_qp_rd_atom = 128;
	other.max_qp_init_rd_atom = 4;
	assert_int_equal(limits_check(&(struct limits){.reads = 5}, &other, &port, &error),
			 -EINVAL);
	assert_contains(error.text, "limit 4");
}

static void test_a_device_that_tells_nonsense(void **unused)
{
	struct ibv_device_attr other = device;
	struct error error = {0};

	other.max_sge = -1;
	assert_int_equal(limits_check(&(struct limits){.sge = 1}, &other, &port, &error), -EINVAL);
	assert_contains(error.text, "limit 0");
}

/* A made-up device: it takes so much inline and grants it in steps. */
static struct {
	uint32_t limit;
	uint32_t step;
	int queues;
	int pairs;
} inline_device;

static struct ibv_cq made_up_cq;
static struct ibv_qp made_up_qp;

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
			     struct ibv_comp_channel *channel, int vector)
{
	inline_device.queues++;
	return &made_up_cq;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	inline_device.queues--;
	return 0;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	uint32_t *bytes = &attr->cap.max_inline_data;

	if (*bytes > inline_device.limit) {
		errno = EINVAL;
		return NULL;
	}
	*bytes = (*bytes + inline_device.step - 1) / inline_device.step * inline_device.step;
	inline_device.pairs++;
	return &made_up_qp;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	inline_device.pairs--;
	return 0;
}

static void test_inline_is_found(void **unused)
{
	static const uint32_t limits[] = {0, 1, 28, 60, 64, 100, 220, 255, 256, 512, 1000};
	static const uint32_t steps[] = {1, 4, 64};
	static const uint32_t wants[] = {0, 1, 63, 64, 256, 512, 100000};
	struct ibv_context context = {0};
	struct ibv_pd pd = {.context = &context};

	for (size_t i = 0; i < ARRAY_LENGTH(limits) * ARRAY_LENGTH(steps); i++) {
		inline_device.limit = limits[i % ARRAY_LENGTH(limits)];
		inline_device.step = steps[i / ARRAY_LENGTH(limits)];
		for (size_t j = 0; j < ARRAY_LENGTH(wants); j++) {
			uint32_t limit = inline_device.limit;

			const struct ibv_qp_cap cap = {.max_inline_data = wants[j]};

			assert_int_equal(limits_inline(&pd, &cap),
					 wants[j] < limit ? wants[j] : limit);
			assert_int_equal(inline_device.queues, 0);
			assert_int_equal(inline_device.pairs, 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_much_as_allowed),
		cmocka_unit_test(test_one_more_than_allowed),
		cmocka_unit_test(test_narrow_fields),
		cmocka_unit_test(test_the_smaller_of_both_directions),
		cmocka_unit_test(test_a_device_that_tells_nonsense),
		cmocka_unit_test(test_inline_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
