/* SPDX-License-Identifier: MIT */
#include "bench/doctor/path_advice.h"
#include "bench/test/unit.d/advise.h"

#define RETRIES                                                                              \
	"post: transport retry counter exceeded: no acknowledgment; is the peer alive, and " \
	"does the path carry the MTU?"
#define UNANSWERED "192.0.2.2 port 45678: no answer within 5000 ms"
#define UNLOCKED   "the server: cannot register 136 KiB: memlock is 64 KiB"

/*
 * The outcomes of the four steps, and the findings that they lead to: "!code" is a problem,
 * "-code" is not.
 */
struct row {
	struct path_probe_outcome steps[PATH_STEPS];
	unsigned int mtu_tried;
	unsigned int mtu_passed;
	const char *lost;
	const char *codes;
	const char *what; /* part of the first finding */
	const char *mend;
};

#define PASSED(size)                  \
	{                             \
		PATH_PASSED, size, "" \
	}
#define UNTRIED                     \
	{                           \
		PATH_UNTRIED, 0, "" \
	}

// clang-format off
static const struct row rows[] = {
	{{PASSED(64), PASSED(64), PASSED(12288), PASSED(65536)}, 0, 0, "", "-path",
	 "messages of 64, 12k and 64k bytes reach n02 and come back, with an MTU of 2048; "
	 "connected with rdma_cm and --connect qp", ""},
	{{UNTRIED, PASSED(64), PASSED(12288), PASSED(65536)}, 0, 0, "", "-path",
	 "connected with rdma_cm", ""},
	/* The ports have no addresses. */
	{{PASSED(64), UNTRIED, PASSED(12288), PASSED(65536)}, 0, 0, "", "-path",
	 "messages of 64, 12k and 64k bytes reach n02 and come back, with an MTU of 2048; "
	 "connected with --connect qp", ""},
	{{{PATH_SILENT, 64, RETRIES}, UNTRIED, UNTRIED, UNTRIED}, 0, 0, "",
	 "!path-blocked", "mlx5_0/1 receives no RDMA packet", ""},
	/* UDP port 4791 is blocked. */
	{{{PATH_SILENT, 64, RETRIES}, {PATH_SILENT, 64, UNANSWERED}, UNTRIED, UNTRIED}, 0, 0, "",
	 "!path-blocked", "mlx5_0/1 receives no RDMA packet from n02's mlx5_3/2",
	 "firewall-cmd --add-port=4791/udp"},
	{{{PATH_SILENT, 64, RETRIES}, {PATH_SILENT, 64, UNANSWERED}, UNTRIED, UNTRIED}, 0, 0, "",
	 "!path-blocked", "no RDMA packet", "iptables -I INPUT -p udp --dport 4791 -j ACCEPT"},
	{{{PATH_SILENT, 64, RETRIES}, {PATH_UNRESOLVED, 64, "cannot resolve the address"},
	  UNTRIED, UNTRIED}, 0, 0, "",
	 "!path-address", "no route from 192.0.2.1 to 192.0.2.2: cannot resolve the address",
	 "ping -I 192.0.2.1 192.0.2.2"},
	/* Only one way of connecting works. */
	{{PASSED(64), {PATH_SILENT, 64, UNANSWERED}, PASSED(6144), PASSED(65536)}, 0, 0, "",
	 "!connect-cm -path", "connecting with rdma_cm fails (--connect qp works): " UNANSWERED,
	 "until then use --connect qp"},
	{{PASSED(64), {PATH_UNRESOLVED, 64, "cannot resolve the route"}, PASSED(6144),
	  PASSED(65536)}, 0, 0, "",
	 "!connect-cm -path", "cannot resolve the route", "ping -I 192.0.2.1 192.0.2.2"},
	{{{PATH_SILENT, 64, RETRIES}, PASSED(64), PASSED(6144), PASSED(65536)}, 0, 0, "",
	 "!connect-qp -path", "connecting with --connect qp fails (rdma_cm works): post: ", "-x"},
	{{PASSED(64), {PATH_FAILED, 64, "rdma_cm is not there"}, PASSED(6144), PASSED(65536)}, 0, 0,
	 "", "!connect-cm -path", "rdma_cm is not there", "verbmark doctor on n02"},
	/* Neither works, for different reasons or for the same one. */
	{{{PATH_FAILED, 64, "no GID"}, {PATH_SILENT, 64, UNANSWERED}, UNTRIED, UNTRIED}, 0, 0, "",
	 "!connect-cm !connect-qp", "connecting with rdma_cm fails: " UNANSWERED, "ping"},
	{{{PATH_FAILED, 64, UNLOCKED}, {PATH_FAILED, 64, UNLOCKED}, UNTRIED, UNTRIED}, 0, 0, "",
	 "!path", "no message can be sent: " UNLOCKED, "verbmark doctor on n02"},
	/* The path does not carry the ports' MTU. */
	{{PASSED(64), PASSED(64), {PATH_SILENT, 6144, RETRIES}, UNTRIED}, 1024, 1024, "",
	 "!path-mtu", "messages of 6k bytes do not arrive, small ones do: the MTU is 4096 on "
	 "mlx5_0/1 and 2048 on n02's mlx5_3/2, and packets of 2048 bytes are lost, but not with -m 1024",
	 "jumbo frames in the switches (IP packets of 2128 bytes), or lower the MTU on both hosts"},
	{{PASSED(64), PASSED(64), {PATH_SILENT, 6144, RETRIES}, UNTRIED}, 1024, 1024, "",
	 "!path-mtu", "", "; or use -m 1024"},
	/* Only rdma_cm connects, which does not support --mtu. */
	{{{PATH_FAILED, 64, "no GID"}, PASSED(64), {PATH_SILENT, 6144, RETRIES}, UNTRIED}, 0, 0, "",
	 "!connect-qp !path-mtu", "no GID", "verbmark doctor on n02"},
	/* The MTU is not the cause. */
	{{PASSED(64), PASSED(64), {PATH_SILENT, 6144, RETRIES}, UNTRIED}, 256, 0, "",
	 "!path-loss", "messages of 6k bytes fail, smaller ones do not, at any MTU: post:",
	 "dcb pfc show"},
	{{PASSED(64), PASSED(64), PASSED(6144), {PATH_SILENT, 65536, RETRIES}}, 0, 0, "",
	 "!path-loss", "messages of 64k bytes fail, smaller ones do not: post: transport retry",
	 "dcb pfc show"},
	{{PASSED(64), PASSED(64), PASSED(6144), {PATH_FAILED, 65536, UNLOCKED}}, 0, 0, "",
	 "!path", "messages of 64k bytes fail, smaller ones do not: " UNLOCKED, "n02"},
	/* A lost server is reported, and earlier steps are ignored. */
	{{PASSED(64), {PATH_FAILED, 64, "gone"}, UNTRIED, UNTRIED}, 0, 0, "gone",
	 "!server", "the server was lost while messages were tested: gone",
	 "verbmark serve on n02"},
};
// clang-format on

static struct path_probe make_path(const struct row *row)
{
	struct path_probe path = {
		.near = {.host = "n01",
			 .device = "mlx5_0",
			 .port = 1,
			 .address = "192.0.2.1",
			 .link_layer = "Ethernet",
			 .mtu = 4096},
		.far = {.host = "n02",
			 .device = "mlx5_3",
			 .port = 2,
			 .address = "192.0.2.2",
			 .link_layer = "Ethernet",
			 .mtu = 2048},
		.mtu_tried = row->mtu_tried,
		.mtu_passed = row->mtu_passed,
	};

	memcpy(path.steps, row->steps, sizeof(path.steps));
	if (row->lost)
		snprintf(path.lost, sizeof(path.lost), "%s", row->lost);
	return path;
}

static json_t *advise_path(const struct path_probe *path)
{
	json_t *findings = json_array();

	assert_non_null(findings);
	path_advice(path, findings);
	return findings;
}

static void check_codes(const json_t *findings, const char *wanted)
{
	char codes[128] = "";
	size_t used = 0;

	for (size_t i = 0; i < json_array_size(findings); i++) {
		const json_t *finding = json_array_get(findings, i);
		bool spoils = json_is_true(json_object_get(finding, "spoils"));

		used += (size_t)snprintf(codes + used, sizeof(codes) - used, "%s%c%s",
					 used ? " " : "", spoils ? '!' : '-',
					 text(finding, "code"));
		assert_string_equal(text(finding, "host"), "n01");
		assert_true(strlen(text(finding, "why")) > 10);
		/* Only problems come with a fix. */
		assert_int_equal(spoils, *text(finding, "mend") != '\0');
	}
	assert_string_equal(codes, wanted);
}

static void test_findings(void **unused)
{
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct path_probe path = make_path(&rows[i]);
		json_t *findings = advise_path(&path);

		check_codes(findings, rows[i].codes);
		assert_contains(text(json_array_get(findings, 0), "what"), rows[i].what);
		assert_contains(text(json_array_get(findings, 0), "mend"), rows[i].mend);
		json_decref(findings);
	}
}

/* Only RoCE is blamed on UDP. */
static void test_fix_depends_on_link_layer(void **unused)
{
	static const char *const mends[][2] = {
		{"InfiniBand", "ibtracert"},
		{"iWARP",      "TCP"      },
		{"Ethernet",   "4791"     },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(mends); i++) {
		struct path_probe path = make_path(&rows[4]);
		json_t *findings;

		path.near.link_layer = mends[i][0];
		findings = advise_path(&path);
		assert_contains(text(json_array_get(findings, 0), "mend"), mends[i][1]);
		assert_true(i == 2 || !strstr(text(json_array_get(findings, 0), "mend"), "4791"));
		json_decref(findings);
	}
}

/* The longest names must not overflow the texts. */
static void test_long_names(void **unused)
{
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct path_probe path = make_path(&rows[i]);
		json_t *findings;

		memset(path.near.device, 'd', sizeof(path.near.device) - 1);
		memset(path.far.device, 'D', sizeof(path.far.device) - 1);
		memset(path.far.host, 'h', sizeof(path.far.host) - 1);
		for (size_t step = 0; step < PATH_STEPS; step++)
			if (path.steps[step].end > PATH_PASSED)
				memset(path.steps[step].reason, 'r',
				       sizeof(path.steps[step].reason) - 1);
		findings = advise_path(&path);
		check_codes(findings, rows[i].codes);
		json_decref(findings);
	}
}

static void test_mtu_is_the_smaller_one(void **unused)
{
	struct path_probe path = {.near = {.mtu = 4096}, .far = {.mtu = 1024}};

	assert_int_equal(path_probe_mtu(&path), 1024);
	path.far.mtu = 0;
	assert_int_equal(path_probe_mtu(&path), 4096);
	path.near.mtu = 0;
	path.far.mtu = 512;
	assert_int_equal(path_probe_mtu(&path), 512);
	/* The peer's value is capped at the largest MTU. */
	path.far.mtu = 1U << 31;
	assert_int_equal(path_probe_mtu(&path), 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_findings),
		cmocka_unit_test(test_fix_depends_on_link_layer),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_mtu_is_the_smaller_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
