/* SPDX-License-Identifier: MIT */
#include "core/base/compiler.h"
#include "reports/table/cells.h"
#include "reports/test/lib/sample.h"

static struct result sample;

static int open_sample(void **unused)
{
	sample_init(&sample);
	return 0;
}

static int close_sample(void **unused)
{
	result_finish(&sample);
	return 0;
}

static void check_head(const char *wanted)
{
	char text[CELLS_HEAD];

	cells_head(text, &sample);
	assert_int_equal(strncmp(text, "n01 mlx5_0/1 -> n02 mlx5_1/2  ", 30), 0);
	assert_string_equal(text + 30, wanted);
}

/* The heading has the settings that all cases have in common, except for skipped cases. */
static void test_head(void **unused)
{
	static const char *const types[][2] = {
		{"[\"RoCE v2\"]",                 "RoCEv2"  },
		{"[\"IB/RoCE v1\"]",              "RoCEv1"  },
		{"[\"IB/RoCE v1\", \"RoCE v2\"]", "RoCE"    },
		{"[]",			    "Ethernet"},
	};

	check_head("Ethernet 2.5 Gb/s MTU 1024 RC");
	for (size_t i = 0; i < SAMPLE_CASES; i++) {
		json_decref(sample.cases[i].parameters);
		sample.cases[i].parameters = sample_json("{\"qps\": 4}");
	}
	for (size_t i = 0; i < ARRAY_LENGTH(types); i++) {
		char facts[128];
		char wanted[64];

		snprintf(facts, sizeof(facts), "{\"port\": {\"gid_types\": %s}}", types[i][0]);
		snprintf(wanted, sizeof(wanted), "%s 2.5 Gb/s MTU 1024 RC 4 QPs", types[i][1]);
		sample.client.facts = sample_json(facts);
		check_head(wanted);
		json_decref(sample.client.facts);
		sample.client.facts = NULL;
	}
	sample.cases[SAMPLE_FAILED].transport = "UC";
	check_head("Ethernet 2.5 Gb/s MTU 1024 4 QPs");
	/* A rate of 0 is unknown. */
	sample.server.rate_mbps = 0;
	check_head("Ethernet MTU 1024 4 QPs");
	sample.server.rate_mbps = 2500;
	sample.cases[SAMPLE_FAILED].status = RESULT_SKIPPED;
	check_head("Ethernet 2.5 Gb/s MTU 1024 RC 4 QPs");
}

/* The MTU is the smaller of both ports', or the requested one; no MTU if cases differ. */
static void test_mtu(void **unused)
{
	for (size_t i = 0; i < SAMPLE_CASES; i++) {
		json_decref(sample.cases[i].parameters);
		sample.cases[i].parameters = sample_json("{\"mtu\": 512}");
	}
	check_head("Ethernet 2.5 Gb/s MTU 512 RC");
	json_object_set_new(sample.cases[1].parameters, "mtu", json_integer(2048));
	check_head("Ethernet 2.5 Gb/s RC");
}

static void set_access(size_t number, const char *access)
{
	json_object_set_new(sample.cases[number].parameters, "access", json_string(access));
}

/* The access pattern of all cases, or of each metric whose cases have the same. */
static void test_access(void **unused)
{
	for (size_t i = 0; i < SAMPLE_CASES; i++) {
		json_decref(sample.cases[i].parameters);
		sample.cases[i].parameters = json_object();
		set_access(i, "stride=4k");
	}
	check_head("Ethernet 2.5 Gb/s MTU 1024 RC access stride=4k");
	set_access(SAMPLE_BANDWIDTH, "random");
	check_head("Ethernet 2.5 Gb/s MTU 1024 RC access lat stride=4k, bw random");
	set_access(SAMPLE_FAILED, "same");
	check_head("Ethernet 2.5 Gb/s MTU 1024 RC access bw random");
	sample.cases[SAMPLE_BANDWIDTH].metric = "load";
	check_head("Ethernet 2.5 Gb/s MTU 1024 RC access load random");
}

#define on_sample(test) cmocka_unit_test_setup_teardown(test, open_sample, close_sample)

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_sample(test_head),
		on_sample(test_mtu),
		on_sample(test_access),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
