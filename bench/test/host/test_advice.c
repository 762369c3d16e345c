/* SPDX-License-Identifier: MIT */
#include "bench/test/unit.d/advise.h"

static void check_pair(const char *local, const char *remote, const char *wanted)
{
	const struct known ends[] = {{.facts = local}, {.facts = remote}};
	json_t *findings = advise(&ends[0], &ends[1]);

	for (size_t i = 0; i < json_array_size(findings); i++) {
		json_object_del(json_array_get(findings, i), "why");
		json_object_del(json_array_get(findings, i), "mend");
	}
	assert_json(findings, wanted);
	json_decref(findings);
}

static void test_pairs(void **unused)
{
	check_pair("{'host':'a', 'port':{'active_mtu':1024}}",
		   "{'host':'b', 'port':{'active_mtu':4096}}",
		   "[{'code':'mtu', 'spoils':true, 'host':'a',"
		   " 'what':'MTU 1024, but 4096 on b'}]");
	check_pair("{'host':'a', 'port':{'active_mtu':4096}}",
		   "{'host':'b', 'port':{'active_mtu':1024}}",
		   "[{'code':'mtu', 'spoils':true, 'host':'a',"
		   " 'what':'MTU 4096, but 1024 on b'}]");
	check_pair("{'host':'a', 'port':{'active_mtu':1024}}",
		   "{'host':'b', 'port':{'active_mtu':1024}}", "[]");
	check_pair("{'host':'a', 'port':{'active_mtu':1024}}", "{'host':'b'}", "[]");
	check_pair("{'host':'a', 'port':{'active_mtu':2048, 'link_layer':'InfiniBand'}}",
		   "{'host':'b', 'port':{'active_mtu':4096, 'link_layer':'InfiniBand'}}",
		   "[{'code':'mtu', 'spoils':false, 'host':'a',"
		   " 'what':'MTU 2048, but 4096 on b'}]");
	check_pair("{'host':'a', 'port':{'active_mtu':1024, 'link_layer':'iWARP'}}",
		   "{'host':'b', 'port':{'active_mtu':4096, 'link_layer':'iWARP'}}", "[]");
	check_pair("{'host':'a', 'port':{'rate':'100 Gb/sec (4X EDR)'}}",
		   "{'host':'b', 'port':{'rate':'100 Gb/sec (2X HDR)'}}", "[]");
	check_pair("{'host':'a', 'port':{'rate':'2.5 Gb/sec (1X SDR)'}}",
		   "{'host':'b', 'port':{'rate':'2 Gb/sec (1X SDR)'}}",
		   "[{'code':'rate', 'spoils':false, 'host':'a',"
		   " 'what':'rate 2.5 Gb/sec (1X SDR), but 2 Gb/sec (1X SDR) on b'}]");
	check_pair("{'host':'a', 'port':{'link_layer':'Ethernet'}}",
		   "{'host':'b', 'port':{'link_layer':'iWARP'}}",
		   "[{'code':'link-layer', 'spoils':true, 'host':'a',"
		   " 'what':'link layer Ethernet, but iWARP on b'}]");
	check_pair("{'host':'a', 'port':{'gid_types':['IB/RoCE v1']}}",
		   "{'port':{'gid_types':['RoCE v2']}}",
		   "[{'code':'gid-type', 'spoils':true, 'host':'a',"
		   " 'what':'GIDs of IB/RoCE v1, but of RoCE v2 on the server'}]");
	check_pair("{'host':'a', 'port':{'gid_types':['IB/RoCE v1']}}",
		   "{'host':'b', 'port':{'gid_types':['RoCE v2', 'IB/RoCE v1']}}", "[]");
	check_pair("{'host':'a', 'tool':{'version':'0.4'}, 'port':{'rate':'100 Gb/sec'}}",
		   "{'host':'b', 'tool':{'version':'0.6'}, 'port':{'rate':'25 Gb/sec'}}",
		   "[{'code':'rate', 'spoils':false, 'host':'a',"
		   " 'what':'rate 100 Gb/sec, but 25 Gb/sec on b'},"
		   " {'code':'version', 'spoils':false, 'host':'a',"
		   " 'what':'verbmark 0.4 here, but 0.6 on b'}]");
}

/* On one machine, client and server count the same events, up to slightly different times. */
static void test_one_machine(void **unused)
{
	struct known ends[] = {
		{.facts = "{'host':'a'}",
		 .before = "{'steal_ticks':0, 'total_ticks':0, 'nr_throttled':0}",
		 .after = "{'steal_ticks':10, 'total_ticks':1000, 'nr_throttled':1}"},
		{.facts = "{'host':'a'}",
		 .before = "{'steal_ticks':0, 'total_ticks':0, 'nr_throttled':0}",
		 .after = "{'steal_ticks':12, 'total_ticks':1010, 'nr_throttled':2}"},
	};
	json_t *findings = advise(&ends[0], &ends[1]);

	/* Control groups may differ between client and server. */
	assert_int_equal(json_array_size(findings), 3);
	assert_string_equal(text(json_array_get(findings, 0), "what"),
			    "steal time: 1.00 % of the CPU time");
	assert_string_equal(text(json_array_get(findings, 1), "code"), "throttled");
	assert_string_equal(text(json_array_get(findings, 2), "code"), "throttled");
	json_decref(findings);
	ends[1].facts = "{'host':'b'}";
	findings = advise(&ends[0], &ends[1]);
	assert_int_equal(json_array_size(findings), 4);
	json_decref(findings);
}

/* Ports that are not connected to each other may differ. */
static void test_no_pair(void **unused)
{
	static const char local[] =
		"{'host':'a', 'tool':{'version':'0.4'}, 'port':{'active_mtu':1024,"
		" 'link_layer':'Ethernet', 'rate':'100 Gb/sec', 'gid_types':['RoCE v2']}}";
	static const char remote[] =
		"{'host':'b', 'tool':{'version':'0.6'}, 'port':{'active_mtu':4096,"
		" 'link_layer':'InfiniBand', 'rate':'25 Gb/sec', 'gid_types':['IB/RoCE v1']}}";
	json_t *findings = advise(&(struct known){.facts = local},
				  &(struct known){.facts = remote, .is_lone = true});

	assert_int_equal(json_array_size(findings), 1);
	assert_string_equal(text(json_array_get(findings, 0), "code"), "version");
	json_decref(findings);
	findings = advise(&(struct known){.facts = local}, &(struct known){.facts = remote});
	assert_int_equal(json_array_size(findings), 5);
	json_decref(findings);
}

static void test_both_hosts(void **unused)
{
	/* Each host has its own findings. */
	check_pair("{'host':'a', 'frequency':{'governor':'powersave'}}",
		   "{'host':'b', 'frequency':{'governor':'ondemand'}}",
		   "[{'code':'governor', 'spoils':true, 'host':'a',"
		   " 'what':'CPU governor is powersave'},"
		   " {'code':'governor', 'spoils':true, 'host':'b',"
		   " 'what':'CPU governor is ondemand'}]");
	/* Client and server on one host. */
	check_pair("{'host':'a', 'frequency':{'governor':'powersave'}}",
		   "{'host':'a', 'frequency':{'governor':'powersave'}}",
		   "[{'code':'governor', 'spoils':true, 'host':'a',"
		   " 'what':'CPU governor is powersave'}]");
}

/* A virtual machine has no cpufreq and no idle states, one node, and root may lock memory. */
static void test_machine_without_faults(void **unused)
{
	const struct known known = {
		.facts = "{'host':'vm', 'device':{'name':'rxe0', 'node_type':'CA',"
			 " 'software':false}, 'port':{'number':1, 'state':'ACTIVE',"
			 " 'link_layer':'Ethernet', 'active_mtu':4096, 'max_mtu':4096,"
			 " 'rate':'10 Gb/sec (1X FDR10)', 'gid_types':['RoCE v2']},"
			 " 'idle':{'driver':'none', 'cpu_dma_latency_us':2000000000},"
			 " 'numa':{'nodes':1, 'distances':[[10]], 'balancing':0},"
			 " 'cpu':{'count':2, 'smt':false, 'allowed':'0-1'},"
			 " 'pcie':{'numa_node':-1, 'local_cpulist':'0-1'},"
			 " 'clock':{'source':'tsc', 'constant_tsc':false},"
			 " 'limits':{'memlock':8388608, 'memlock_exempt':true},"
			 " 'cgroup':{'cpu_max':'max 100000', 'nr_throttled':30},"
			 " 'virtualization':{'hypervisor':true}}",
		.before = "{'steal_ticks':7, 'total_ticks':100, 'loadavg':[0.1, 0.2, 0.3]}",
		.after = "{'steal_ticks':7, 'total_ticks':200, 'loadavg':[0.1, 0.2, 0.3]}",
		.counters = "{'sent_pkts':500, 'rcvd_seq_err':0}",
	};
	json_t *findings = advise(&known, NULL);

	assert_json(findings, "[]");
	json_decref(findings);
	findings = advise(&(struct known){0}, NULL);
	assert_json(findings, "[]");
	json_decref(findings);
}

/* The sections and keys that rules read. */
static const char *const sections[] = {
	"device", "port", "netdev",    "flow",   "pcie",        "iommu",
	"access", "cpu",  "frequency", "idle",   "numa",        "clock",
	"limits", "tool", "hugepages", "cgroup", "environment", "soft_roce"};
static const char *const keys[] = {"name",
				   "number",
				   "state",
				   "phys_state",
				   "link_layer",
				   "rate",
				   "active_mtu",
				   "max_mtu",
				   "gid_types",
				   "software",
				   "driver",
				   "fault",
				   "uverbs",
				   "rdma_cm",
				   "governor",
				   "turbo",
				   "deepest",
				   "nodes",
				   "balancing",
				   "source",
				   "memlock",
				   "sizes",
				   "cpu_max",
				   "softroce_accel",
				   "module",
				   "card",
				   "current_link_speed",
				   "current_link_width",
				   "max_link_speed",
				   "max_link_width",
				   "local_cpulist",
				   "allowed",
				   "type",
				   "pfc",
				   "pause_receive",
				   "pause_send",
				   "version",
				   "count",
				   "virtual_function",
				   "smt",
				   "node_type"};

static void check_findings(json_t *findings)
{
	for (size_t i = 0; i < json_array_size(findings); i++) {
		const char *what = text(json_array_get(findings, i), "what");

		assert_non_null(what);
		assert_null(strchr(what, '\033'));
		assert_null(strchr(text(json_array_get(findings, i), "host"), '\033'));
	}
	json_decref(findings);
}

/* Checks with that value in each key of each section, and in place of each section. */
static void check_value(const char *of_any_type)
{
	json_t *value = made_up_json(of_any_type);
	json_t *section = json_object();
	json_t *facts = json_object();
	struct advice_end end = {
		.facts = facts, .before = section, .after = section, .counters = section};
	json_t *findings;

	for (size_t i = 0; i < ARRAY_LENGTH(keys); i++)
		json_object_set(section, keys[i], value);
	for (size_t i = 0; i < ARRAY_LENGTH(sections); i++)
		json_object_set(facts, sections[i], section);
	json_object_set(facts, "host", value);
	check_findings(advice_make(&end, &end));
	for (size_t i = 0; i < ARRAY_LENGTH(sections); i++)
		json_object_set(facts, sections[i], value);
	findings = advice_make(&end, &end);
	assert_non_null(findings);
	json_decref(findings);
	json_decref(facts);
	json_decref(section);
	json_decref(value);
}

/* Facts of another host may have any type. */
static void test_facts_of_any_type(void **unused)
{
	static const char *const values[] = {
		"null",  "true", "-1", "9223372036854775807", "-9223372036854775807",
		"1e300", "[]",   "{}", "'\\u001b[2J'",        "[{'free':[]}, 'x', 1, null]"};

	for (size_t i = 0; i < ARRAY_LENGTH(values); i++)
		check_value(values[i]);
}

static void test_counting(void **unused)
{
	json_t *findings = json_array();

	assert_int_equal(advice_count_spoiling(findings), 0);
	json_array_append_new(findings, advice_finding("a", false, "h", "x", "y", "z"));
	assert_int_equal(advice_count_spoiling(findings), 0);
	json_array_append_new(findings, advice_finding("b", true, "h", "x", "y", "z"));
	json_array_append_new(findings, advice_finding("c", true, "h\n", "x\033", "y", "z"));
	assert_int_equal(advice_count_spoiling(findings), 2);
	assert_json(json_array_get(findings, 2),
		    "{'code':'c', 'spoils':true, 'host':'h?', 'what':'x?', 'why':'y', 'mend':'z'}");
	json_decref(findings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_no_pair),
		cmocka_unit_test(test_both_hosts),
		cmocka_unit_test(test_one_machine),
		cmocka_unit_test(test_machine_without_faults),
		cmocka_unit_test(test_facts_of_any_type),
		cmocka_unit_test(test_counting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
