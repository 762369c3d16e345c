/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "core/test/lib/check.h"
#include "core/verbs/limits.h"

static const struct ibv_device_attr device = {
	.max_qp_wr = 1024,
	.max_qp = 5,
	.max_cq = 6,
	.max_mr = 7,
	.max_mr_size = 1 << 20,
	.max_srq = 1,
	.max_srq_wr = 2000,
	.max_srq_sge = 20,
	.max_cqe = 1500,
	.max_sge = 30,
	.max_sge_rd = 20,
	.max_qp_rd_atom = 16,
	.max_qp_init_rd_atom = 128,
};
static const struct ibv_port_attr port = {.max_msg_sz = 8388608, .active_mtu = IBV_MTU_1024};
static const struct limits allowed = {.send_depth = 1024,
				      .recv_depth = 476,
				      .cq_depth = 1500,
				      .sge = 30,
				      .queue_pairs = 5,
				      .completion_queues = 6,
				      .srqs = 1,
				      .regions = 7,
				      .memory_bytes = 1 << 20,
				      .reads = 16,
				      .message_bytes = 8388608};

static void test_accepts_the_limits(void **unused)
{
	struct error error = {0};

	assert_int_equal(limits_check(&allowed, &device, &port, &error), 0);
	assert_int_equal(limits_check(&(struct limits){0}, &device, &port, &error), 0);
	assert_int_equal(error.code, 0);
}

static void test_rejects_beyond_the_limits(void **unused)
{
	static const struct {
		struct limits wanted;
		const char *text;
	} rows[] = {
		{{.send_depth = 1025},                                 "send queue depth 1025 exceeds the device's limit 1024"            },
		{{.recv_depth = 1025},                                 "receive queue depth 1025 exceeds the device's limit 1024"         },
		{{.cq_depth = 1501},                                   "completion queue depth 1501 exceeds the device's limit 1500"      },
		{{.queue_pairs = 6},                                   "number of queue pairs 6 exceeds the device's limit 5"             },
		{{.completion_queues = 7},
		 "number of completion queues 7 exceeds the device's limit 6"                                                             },
		{{.regions = 8},				       "number of memory regions 8 exceeds the device's limit 7"          },
		{{.srqs = 2},					  "number of shared receive queues 2 exceeds the device's limit 1"   },
		{{.memory_bytes = (1 << 20) + 1},
		 "size of registered memory 1048577 exceeds the device's limit 1048576"                                                   },
		{{.sge = 31},					  "number of scatter/gather entries 31 exceeds the device's limit 30"},
		{{.read_sge = 21},
		 "number of scatter/gather entries of a read 21 exceeds the device's limit 20"                                            },
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

/* Header fields, limited by their width in the specification. */
static void test_narrow_fields(void **unused)
{
	const struct limits most = {
		.ack_timeout = 31, .retries = 7, .rnr_retries = 7, .rnr_timer = 31};
	const struct limits beyond[] = {
		{.ack_timeout = 32}, {.retries = 8}, {.rnr_retries = 8}, {.rnr_timer = 32}};
	static const char *const texts[] = {
		"acknowledgment timeout 32 exceeds the device's limit 31",
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

static void test_smaller_limit_of_both_directions(void **unused)
{
	struct ibv_device_attr other = device;
	struct error error = {0};

	other.max_qp_rd_atom = 128;
	other.max_qp_init_rd_atom = 4;
	assert_int_equal(limits_check(&(struct limits){.reads = 5}, &other, &port, &error),
			 -EINVAL);
	assert_contains(error.text, "limit 4");
}

static void test_negative_device_limit(void **unused)
{
	struct ibv_device_attr other = device;
	struct error error = {0};

	other.max_sge = -1;
	assert_int_equal(limits_check(&(struct limits){.sge = 1}, &other, &port, &error), -EINVAL);
	assert_contains(error.text, "limit 0");
}

/* A limit of zero means that the device does not report it. */
static void test_unreported_limits(void **unused)
{
	const struct limits wanted = {.queue_pairs = UINT32_MAX, .memory_bytes = UINT64_MAX};
	struct ibv_device_attr other = device;
	struct error error = {0};

	other.max_qp = 0;
	other.max_mr_size = 0;
	assert_int_equal(limits_check(&wanted, &other, &port, &error), 0);
}

static void test_devices_without_shared_receive_queues(void **unused)
{
	struct ibv_device_attr other = device;
	struct error error = {0};

	other.max_srq = 0;
	assert_int_equal(limits_check(&(struct limits){0}, &other, NULL, &error), 0);
	assert_int_equal(limits_check(&(struct limits){.srq_depth = 1}, &other, NULL, &error),
			 -EOPNOTSUPP);
	assert_string_equal(error.text, "the device does not support shared receive queues");
}

/* A shared receive queue has its own limits. */
static void test_shared_receive_queues(void **unused)
{
	struct error error = {0};

	assert_int_equal(
		limits_check(&(struct limits){.srq_depth = 2000, .sge = 20}, &device, NULL, &error),
		0);
	limits_check(&(struct limits){.srq_depth = 2001}, &device, NULL, &error);
	assert_string_equal(error.text,
			    "shared receive queue depth 2001 exceeds the device's limit 2000");
	error = (struct error){0};
	limits_check(&(struct limits){.srq_depth = 1, .sge = 21}, &device, NULL, &error);
	assert_string_equal(error.text,
			    "number of scatter/gather entries 21 exceeds the device's limit 20");
}

/* A datagram fits in one packet. Paths have other limits, too. */
static void test_paths(void **unused)
{
	static const struct {
		struct limits wanted;
		const char *text; /* NULL: allowed */
	} rows[] = {
		{{.transport = TRANSPORT_UD, .message_bytes = 1024},                     NULL                                            },
		{{.transport = TRANSPORT_UD, .message_bytes = 1025},
		 "message size 1025 exceeds the MTU 1024, the limit of a datagram"                                                       },
		{{.transport = TRANSPORT_UD, .message_bytes = 257, .mtu = IBV_MTU_256},
		 "message size 257 exceeds the MTU 256, the limit of a datagram"                                                         },
		{{.transport = TRANSPORT_UC, .message_bytes = 1025, .mtu = IBV_MTU_256}, NULL                                            },
		{{.mtu = IBV_MTU_1024},						  NULL					    },
		{{.mtu = IBV_MTU_2048},						  "MTU 2048 exceeds the port's MTU 1024"          },
		{{.service_level = 15},						  NULL					    },
		{{.service_level = 16},						  "service level 16 exceeds the device's limit 15"},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct error error = {0};

		limits_check(&rows[i].wanted, &device, &port, &error);
		assert_string_equal(error.text, rows[i].text ? rows[i].text : "");
	}
}

static void test_operations(void **unused)
{
	static const struct {
		enum post_operation operation;
		const char *texts[6]; /* on RC, UC, UD, XRC, DC, SRD; NULL: supported */
	} rows[] = {
		{POST_SEND,         {NULL, NULL, NULL}					      },
		{POST_SEND_IMM,     {NULL, NULL, NULL}                                              },
		{POST_WRITE,        {NULL, NULL, "UD does not support writes"}                      },
		{POST_WRITE_IMM,    {NULL, NULL, "UD does not support writes"}                      },
		{POST_READ,         {NULL, "UC does not support reads", "UD does not support reads"}},
		{POST_FETCH_ADD,
		 {NULL, "UC does not support atomics", "UD does not support atomics", NULL, NULL,
		  "SRD does not support atomics"}						   },
		{POST_SEND_INV,
		 {NULL, "UC does not support sends with invalidate",
		  "UD does not support sends with invalidate",
		  "XRC does not support sends with invalidate",
		  "DC does not support sends with invalidate",
		  "SRD does not support sends with invalidate"}                                     },
		{POST_BIND_MW,
		 {NULL, "UC does not support memory windows of type 2",
		  "UD does not support memory windows of type 2",
		  "XRC does not support memory windows of type 2",
		  "DC does not support memory windows of type 2",
		  "SRD does not support memory windows of type 2"}                                  },
		{POST_COMPARE_SWAP,
		 {NULL, "UC does not support atomics", "UD does not support atomics", NULL, NULL,
		  "SRD does not support atomics"}						   },
	};
	const struct ibv_device_attr atomic = {
		.atomic_cap = IBV_ATOMIC_HCA,
		.device_cap_flags = IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_MGT_EXTENSIONS |
				    IBV_DEVICE_MEM_WINDOW_TYPE_2A,
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		for (size_t j = 0; j < ARRAY_LENGTH(rows[i].texts); j++) {
			const char *text = rows[i].texts[j];
			struct error error = {0};
			int code = limits_operation((enum transport)j, rows[i].operation, &atomic,
						    &error);

			assert_int_equal(code, text ? -EOPNOTSUPP : 0);
			assert_string_equal(error.text, text ? text : "");
		}
	}
}

static void test_devices_without_atomics(void **unused)
{
	struct error error = {0};

	assert_int_equal(limits_operation(TRANSPORT_RC, POST_READ, &device, &error), 0);
	assert_int_equal(limits_operation(TRANSPORT_RC, POST_FETCH_ADD, &device, &error),
			 -EOPNOTSUPP);
	assert_string_equal(error.text, "the device does not support atomics");
}

static void test_devices_without_windows(void **unused)
{
	static const struct {
		enum post_operation operation;
		const char *lacks;
	} rows[] = {
		{POST_SEND_INV,  "sends with invalidate"   },
		{POST_BIND_MW,   "memory windows of type 2"},
		{POST_BIND_MW_1, "memory windows of type 1"},
		{POST_LOCAL_INV, "invalidation"            },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct error error = {0};

		assert_int_equal(limits_operation(TRANSPORT_RC, rows[i].operation, &device, &error),
				 -EOPNOTSUPP);
		assert_contains(error.text, rows[i].lacks);
	}
}

static void test_mtus(void **unused)
{
	static const unsigned int bytes[] = {256, 512, 1024, 2048, 4096};
	static const unsigned int none[] = {0, 1, 255, 1500, 8192};

	for (unsigned int i = 0; i < ARRAY_LENGTH(bytes); i++) {
		assert_int_equal(limits_mtu(bytes[i]), IBV_MTU_256 + i);
		assert_int_equal(limits_mtu_bytes(limits_mtu(bytes[i])), bytes[i]);
		assert_int_equal(limits_mtu(none[i]), 0);
	}
	assert_int_equal(limits_mtu_bytes((enum ibv_mtu)0), 0);
	assert_int_equal(limits_mtu_bytes((enum ibv_mtu)6), 0);
}

/* A fake device with an inline limit, granted in steps. It lacks one type of queue pair. */
static struct {
	uint32_t limit;
	uint32_t extended_limit; /* of queue pairs with the extended interface */
	uint32_t step;
	int queues;
	int pairs;
	enum ibv_qp_type missing;
	int error;           /* if the type is missing or the size too large; 0: EINVAL */
	struct ibv_srq *srq; /* of the last queue pair */
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

static struct ibv_qp *make(enum ibv_qp_type type, uint32_t *bytes, uint32_t limit)
{
	if (*bytes > limit || type == inline_device.missing) {
		errno = inline_device.error ? inline_device.error : EINVAL;
		return NULL;
	}
	*bytes = (*bytes + inline_device.step - 1) / inline_device.step * inline_device.step;
	inline_device.pairs++;
	return &made_up_qp;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	inline_device.srq = attr->srq;
	return make(attr->qp_type, &attr->cap.max_inline_data, inline_device.limit);
}

static struct ibv_qp *create_extended(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	assert_int_equal(attr->send_ops_flags, IBV_QP_EX_WITH_SEND);
	inline_device.srq = attr->srq;
	return make(attr->qp_type, &attr->cap.max_inline_data, inline_device.extended_limit);
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	inline_device.pairs--;
	return 0;
}

static void check_inline(struct ibv_context *context, uint32_t wanted, uint32_t found)
{
	struct ibv_pd pd = {.context = context};
	struct ibv_srq srq = {0};
	const struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RC,
		.srq = &srq,
		.cap = {.max_inline_data = wanted},
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = &pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND,
	};

	inline_device.srq = NULL;
	assert_int_equal(limits_inline(TRANSPORT_RC, &attr), found);
	if (wanted)
		assert_ptr_equal(inline_device.srq, &srq);
	assert_int_equal(inline_device.queues, 0);
	assert_int_equal(inline_device.pairs, 0);
}

static void test_inline_limit(void **unused)
{
	static const uint32_t limits[] = {0, 1, 28, 60, 64, 100, 220, 255, 256, 512, 1000};
	static const uint32_t steps[] = {1, 4, 64};
	static const uint32_t wants[] = {0, 1, 63, 64, 256, 512, 100000};
	struct ibv_context context = {0};

	for (size_t i = 0; i < ARRAY_LENGTH(limits) * ARRAY_LENGTH(steps); i++) {
		inline_device.limit = limits[i % ARRAY_LENGTH(limits)];
		inline_device.step = steps[i / ARRAY_LENGTH(limits)];
		for (size_t j = 0; j < ARRAY_LENGTH(wants); j++) {
			uint32_t limit = inline_device.limit;

			check_inline(&context, wants[j], wants[j] < limit ? wants[j] : limit);
		}
	}
}

/*
 * The inline limit of a queue pair depends on its operations. The extended interface
 * specifies them; without it, a device may assume more operations, as mlx5 does, or fewer.
 */
static void test_inline_depends_on_the_interface(void **unused)
{
	struct verbs_context extended = {
		.context = {.abi_compat = __VERBS_ABI_IS_EXTENDED},
		.create_qp_ex = create_extended,
		.sz = sizeof(extended),
	};

	inline_device.step = 1;
	inline_device.limit = 0;
	inline_device.extended_limit = 76;
	check_inline(&extended.context, 256, 76);
	check_inline(&extended.context, 64, 64);
	inline_device.limit = 60;
	inline_device.extended_limit = 28;
	inline_device.error = ENOMEM;
	check_inline(&extended.context, 256, 28);
	inline_device.error = 0;
}

static void test_has_transport(void **unused)
{
	struct ibv_context context = {0};
	struct ibv_pd pd = {.context = &context};

	inline_device.limit = 0;
	inline_device.missing = IBV_QPT_UC;
	assert_true(limits_has_transport(&pd, TRANSPORT_RC));
	assert_false(limits_has_transport(&pd, TRANSPORT_UC));
	assert_true(limits_has_transport(&pd, TRANSPORT_UD));
	inline_device.error = ENOMEM;
	assert_int_equal(limits_has_transport(&pd, TRANSPORT_UC), -ENOMEM);
	inline_device.error = EOPNOTSUPP;
	assert_int_equal(limits_has_transport(&pd, TRANSPORT_UC), 0);
	inline_device.error = 0;
	assert_int_equal(inline_device.queues, 0);
	assert_int_equal(inline_device.pairs, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accepts_the_limits),
		cmocka_unit_test(test_rejects_beyond_the_limits),
		cmocka_unit_test(test_narrow_fields),
		cmocka_unit_test(test_smaller_limit_of_both_directions),
		cmocka_unit_test(test_negative_device_limit),
		cmocka_unit_test(test_unreported_limits),
		cmocka_unit_test(test_devices_without_shared_receive_queues),
		cmocka_unit_test(test_shared_receive_queues),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_operations),
		cmocka_unit_test(test_devices_without_atomics),
		cmocka_unit_test(test_devices_without_windows),
		cmocka_unit_test(test_mtus),
		cmocka_unit_test(test_inline_limit),
		cmocka_unit_test(test_inline_depends_on_the_interface),
		cmocka_unit_test(test_has_transport),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
