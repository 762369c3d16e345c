/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "reports/result/effective.h"
#include "reports/test/lib/loading.h"

/* All members in the form of the schema. */
#define ALL                                                                                       \
	"{\"post_call\": \"ibv_wr\", \"inline\": false, \"inline_limit_bytes\": 1,"               \
	" \"send_depth\": 2, \"receive_depth\": 3, \"shared_receive_depth\": 4, \"cq_depth\": 5," \
	" \"initiator_depth\": 6, \"responder_depth\": 7, \"path_mtu_bytes\": 8,"                 \
	" \"gid_index\": 9, \"gid_type\": \"RoCE v2\", \"pkey_index\": 20, \"sl\": 10,"           \
	" \"path_bits\": 21, \"traffic_class\": 11, \"flow_label\": 22, \"hop_limit\": 23,"       \
	" \"ack_timeout_ns\": 9223372036854775807, \"retries\": 13, \"rnr_retries\": 14,"         \
	" \"spin_ns\": 15, \"completion_vector\": 0, \"page_bytes\": 17, \"buffer_bytes\": 18, \"places\": 19}"

static void check(const struct effective *chosen, const char *wanted)
{
	json_t *golden = sample_json(wanted);
	json_t *found = effective_encode(chosen);

	loading_check_equal(found, golden);
	json_decref(found);
	json_decref(golden);
}

static int take(struct effective *chosen, const char *text, struct error *error)
{
	json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);
	int code = effective_decode(chosen, json, error);

	json_decref(json);
	return code;
}

static void test_round_trip(void **unused)
{
	struct error error = {0};
	struct effective chosen;

	assert_int_equal(take(&chosen, ALL, &error), 0);
	for (size_t i = 0; i < EFFECTIVE_MEMBERS; i++)
		assert_true(chosen.is_known[i]);
	assert_int_equal(chosen.value[EFFECTIVE_POST_CALL], EFFECTIVE_IBV_WR);
	assert_int_equal(chosen.value[EFFECTIVE_GID_TYPE], EFFECTIVE_GID_ROCE_V2);
	assert_int_equal(chosen.value[EFFECTIVE_BUFFER_BYTES], 18);
	check(&chosen, ALL);
}

static void test_words(void **unused)
{
	struct effective chosen = {0};

	effective_set(&chosen, EFFECTIVE_POST_CALL, EFFECTIVE_IBV_POST_SEND);
	effective_set(&chosen, EFFECTIVE_INLINE, true);
	effective_set(&chosen, EFFECTIVE_GID_TYPE, EFFECTIVE_GID_IB);
	check(&chosen,
	      "{\"post_call\": \"ibv_post_send\", \"inline\": true, \"gid_type\": \"IB\"}");
	effective_set(&chosen, EFFECTIVE_GID_TYPE, EFFECTIVE_GID_ROCE_V1);
	check(&chosen,
	      "{\"post_call\": \"ibv_post_send\", \"inline\": true, \"gid_type\": \"RoCE v1\"}");
}

static void test_texts(void **unused)
{
	static const char both[] = "{\"sl\": 1, \"memory_path\": \"ibv_reg_dm_mr\","
				   " \"memory_pcie\": \"0000:3b:00.0\"}";
	struct effective chosen;
	struct effective other;
	struct error error = {0};

	assert_int_equal(take(&chosen, both, &error), 0);
	check(&chosen, both);
	other = chosen;
	effective_set_text(&other, EFFECTIVE_MEMORY_PCIE, "0000:3c:00.0");
	effective_merge(&chosen, &other);
	check(&chosen, "{\"sl\": 1, \"memory_path\": \"ibv_reg_dm_mr\"}");
	assert_int_equal(take(&chosen, "{\"memory_owner\": 1, \"sl\": 2}", &error), -EINVAL);
	assert_string_equal(error.text, "\"memory_owner\" is not a text");
	check(&chosen, "{\"sl\": 2}");
}

static void test_no_members(void **unused)
{
	static const char *const texts[] = {"{}", "[]", "7", "{\"later\": [1]}"};

	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		struct error error = {0};
		struct effective chosen;

		assert_int_equal(take(&chosen, texts[i], &error), 0);
		assert_null(effective_encode(&chosen));
	}
}

/* Invalid members are reported and stay unknown; the others are set. */
static void test_invalid_members(void **unused)
{
	static const char *const rows[][2] = {
		{"{\"sl\": -1, \"retries\": 6}",                    "\"sl\" is not a count"               },
		{"{\"retries\": 6, \"inline\": 1}",                 "\"inline\" is neither true nor false"},
		{"{\"post_call\": \"ioctl\", \"retries\": 6}",
		 "\"post_call\" has an unknown value"						     },
 /* The first of two errors is reported. */
		{"{\"sl\": null, \"retries\": 6, \"gid_type\": 2}",
		 "\"gid_type\" has an unknown value"						      },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct error error = {0};
		struct effective chosen;

		assert_int_equal(take(&chosen, rows[i][0], &error), -EINVAL);
		assert_string_equal(error.text, rows[i][1]);
		check(&chosen, "{\"retries\": 6}");
	}
}

static void test_merge(void **unused)
{
	struct error error = {0};
	struct effective into;
	struct effective from;

	assert_int_equal(take(&into, ALL, &error), 0);
	from = into;
	effective_merge(&into, &from);
	check(&into, ALL);
	assert_int_equal(take(&from,
			      "{\"post_call\": \"ibv_post_send\", \"inline\": false,"
			      " \"path_mtu_bytes\": 8, \"completion_vector\": 1}",
			      &error),
			 0);
	effective_merge(&into, &from);
	check(&into, "{\"inline\": false, \"path_mtu_bytes\": 8}");
	/* A member that differed once stays unknown. */
	effective_merge(&into, &(struct effective){0});
	assert_null(effective_encode(&into));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),      cmocka_unit_test(test_words),
		cmocka_unit_test(test_texts),           cmocka_unit_test(test_no_members),
		cmocka_unit_test(test_invalid_members), cmocka_unit_test(test_merge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
