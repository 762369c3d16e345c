/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/document/redact.h"
#include "reports/test/lib/loading.h"

/* Redacts a text, as the error of a failed case. */
static void check(const char *told, const char *wanted)
{
	json_t *document = loading_document();
	json_t *line = json_array_get(json_object_get(document, "cases"), SAMPLE_FAILED);
	struct error error = {0};

	json_object_set_new(line, "error", json_string(told));
	assert_int_equal(redact_document(document, NULL, NULL, 0, &error), 0);
	assert_string_equal(json_string_value(json_object_get(line, "error")), wanted);
	json_decref(document);
}

static void test_texts(void **unused)
{
	static const char *const rows[][2] = {
		{"no completion for 5 s",                        "no completion for 5 s"           },
		{"n01 (192.0.2.1/24) is gone",                   "client (redacted/24) is gone"    },
		{"N02: nothing came from n02",                   "server: nothing came from server"},
 /* Words that only begin or end like a name. */
		{"n010, xn01 and n01x",                          "n010, xn01 and n01x"             },
		{"198.51.100.7:7471 refused.",                   "redacted:7471 refused."          },
		{"from 10.0.0.1.",                               "from redacted."                  },
		{"fe80::1%eth0: no route",                       "redacted%eth0: no route"         },
		{"GID fe80:0000:0000:0000:0211:22ff:fe33:4455",  "GID redacted"                    },
		{"::ffff:192.0.2.1",                             "redacted"                        },
		{"GUID 0002:c903:0012:3456, 0x506b4b0300abcdef", "GUID redacted, 0xredacted"       },
		{"02:00:5e:10:00:00 and 00:00:5E:00:53:af",      "redacted and redacted"           },
		{"enx001122334455, ibp3s0x506b4b0300abcdef",     "enxredacted, ibp3s0xredacted"    },
		{"UUID=1b4e28ba-2fa1-11d2-883f-0016d3cca427",    "UUID=redacted"                   },
 /* Words that are neither addresses nor serial numbers. */
		{"at 04:05:06 on 0000:01:00.0",                  "at 04:05:06 on 0000:01:00.0"     },
		{"mlx5_0/1, 22.31.1014",                         "mlx5_0/1, 22.31.1014"            },
		{"137438953472 bytes",                           "137438953472 bytes"              },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		check(rows[i][0], rows[i][1]);
}

#define FACTS                                                                                     \
	"{\"host\": \"n01.example\", \"device\": {\"name\": \"mlx5_0\", \"fw_ver\": \"2.1.0.9\"," \
	" \"node_guid\": \"0002:c903:0012:3456\", \"serial\": \"MT2019X01\"},"                    \
	" \"netdev\": {\"name\": \"enx001122334455\", \"mtu\": 4200},"                            \
	" \"rdma_core\": {\"library\": \"libibverbs.so.1.14.44.0\"},"                             \
	" \"tool\": {\"revision\": \"55207f22e6c4-dirty\"},"                                      \
	" \"kernel\": {\"release\": \"6.1.0\", \"cmdline\": \"BOOT_IMAGE=/vmlinuz root=UUID=1b4e" \
	" ip=192.0.2.1 isolcpus=2-5 quiet mitigations=off\"}}"
#define FACTS_LEFT                                                                            \
	"{\"host\": \"client\", \"device\": {\"name\": \"mlx5_0\", \"fw_ver\": \"2.1.0.9\"}," \
	" \"netdev\": {\"name\": \"enxredacted\", \"mtu\": 4200},"                            \
	" \"rdma_core\": {\"library\": \"libibverbs.so.1.14.44.0\"},"                         \
	" \"tool\": {\"revision\": \"55207f22e6c4-dirty\"},"                                  \
	" \"kernel\": {\"release\": \"6.1.0\", \"cmdline\": \"isolcpus=2-5 mitigations=off\"}}"

static void check_member(json_t *document, const char *path, const char *wanted)
{
	char last[64];
	json_t *parent = loading_parent(document, path, last);
	json_t *golden = json_loads(wanted, JSON_DECODE_ANY, NULL);

	assert_non_null(golden);
	loading_check_equal(json_object_get(parent, last), golden);
	json_decref(golden);
}

static void test_a_document(void **unused)
{
	static const char *const words[] = {"ssh root@bastion %h", "n02-mgmt"};
	json_t *document = loading_document();
	struct error error = {0};
	struct result result;
	json_t *again;

	loading_change(document, "hosts/client/facts", FACTS);
	loading_change(document, "hosts/client/host", "\"n01.example\"");
	loading_change(document, "warnings",
		       "[{\"code\": \"n02\", \"spoils\": true, \"host\": \"n01.example\","
		       " \"what\": \"MTU 1024 here, and 4096 on n02\", \"why\": \"\","
		       " \"mend\": \"on n01: ip link set enx001122334455\"}]");
	loading_change(document, "run/command",
		       "[\"verbmark\", \"run\", \"--launch=ssh root@bastion %h\", \"n02-mgmt\","
		       " \"-s\", \"64\", \"n02\", \"--op\", \"send\"]");
	assert_int_equal(redact_document(document, "n02-mgmt", words, ARRAY_LENGTH(words), &error),
			 0);
	check_member(document, "hosts/client/host", "\"client\"");
	check_member(document, "hosts/server/host", "\"server\"");
	check_member(document, "hosts/client/address", "\"redacted\"");
	check_member(document, "hosts/client/device", "\"mlx5_0\"");
	check_member(document, "hosts/client/link_layer", "\"Ethernet\"");
	check_member(document, "hosts/client/facts", FACTS_LEFT);
	check_member(document, "hosts/client/hard_fingerprint", "\"0123456789abcdef\"");
	check_member(document, "run/command",
		     "[\"verbmark\", \"run\", \"--launch=redacted\", \"redacted\", \"-s\", \"64\","
		     " \"server\", \"--op\", \"send\"]");
	check_member(document, "warnings",
		     "[{\"code\": \"n02\", \"spoils\": true, \"host\": \"client\","
		     " \"what\": \"MTU 1024 here, and 4096 on server\", \"why\": \"\","
		     " \"mend\": \"on client: ip link set enxredacted\"}]");
	/* The redacted document can still be loaded. */
	assert_int_equal(parse_document(&result, document, &error), 0);
	again = document_make(&result);
	loading_check_equal(again, document);
	result_finish(&result);
	json_decref(again);
	json_decref(document);
}

/* The part of an address before its first dot is not a name, and neither are paths. */
static void test_address_as_host(void **unused)
{
	static const char *const words[] = {"10.88.0.1", "-", "out.json"};
	json_t *document = loading_document();
	struct error error = {0};

	loading_change(
		document, "run/command",
		"[\"verbmark\", \"run\", \"10.88.0.1\", \"--json\", \"-\", \"--plan=out.json\"]");
	loading_change(document, "warnings",
		       "[{\"code\": \"a\", \"what\": \"10 of 5000 to 10.88.0.1 timed out\","
		       " \"why\": \"kernel 5.10.0-28-amd64\", \"mend\": \"sysctl --system\"}]");
	assert_int_equal(redact_document(document, "10.88.0.1", words, ARRAY_LENGTH(words), &error),
			 0);
	check_member(document, "run/command",
		     "[\"verbmark\", \"run\", \"redacted\", \"--json\", \"redacted\","
		     " \"--plan=redacted\"]");
	check_member(document, "warnings",
		     "[{\"code\": \"a\", \"what\": \"10 of 5000 to redacted timed out\","
		     " \"why\": \"kernel 5.10.0-28-amd64\", \"mend\": \"sysctl --system\"}]");
	json_decref(document);
}

/* Names given by the user are redacted in messages, whole and up to the first dot. */
static void test_name_as_host(void **unused)
{
	json_t *document = loading_document();
	struct error error = {0};

	loading_change(document, "warnings",
		       "[{\"code\": \"a\", \"what\": \"node7.lab and node7, not node70\"}]");
	assert_int_equal(redact_document(document, "node7.lab", NULL, 0, &error), 0);
	check_member(document, "warnings",
		     "[{\"code\": \"a\", \"what\": \"redacted and redacted, not node70\"}]");
	json_decref(document);
}

/* A host name that is also a word of the schema. */
static void test_name_in_schema(void **unused)
{
	json_t *document = loading_document();
	struct error error = {0};
	json_t *cases;

	loading_change(document, "hosts/client/host", "\"send\"");
	loading_change(document, "hosts/server/host", "\"Ethernet\"");
	cases = json_deep_copy(json_object_get(document, "cases"));
	assert_int_equal(redact_document(document, NULL, NULL, 0, &error), 0);
	loading_check_equal(json_object_get(document, "cases"), cases);
	check_member(document, "hosts/server/link_layer", "\"Ethernet\"");
	json_decref(cases);
	json_decref(document);
}

/* Redacting twice changes nothing more, even without host names. */
static void test_again(void **unused)
{
	json_t *document = loading_document();
	struct error error = {0};
	json_t *once;

	loading_change(document, "hosts/client/host", "\"\"");
	assert_int_equal(redact_document(document, NULL, NULL, 0, &error), 0);
	once = json_deep_copy(document);
	assert_int_equal(redact_document(document, NULL, NULL, 0, &error), 0);
	loading_check_equal(document, once);
	json_decref(once);
	json_decref(document);
}

/* The ends of flows are threads; anything else may be a name. */
static void test_flows(void **unused)
{
	json_t *document = loading_document();
	struct error error = {0};

	loading_change(document, "cases/0/flows",
		       "{\"flows\": [{\"from\": \"client 0\", \"to\": \"stranger.lab\"},"
		       " {\"from\": \"hostess\", \"to\": \"server 1\"}]}");
	assert_int_equal(redact_document(document, NULL, NULL, 0, &error), 0);
	check_member(document, "cases/0/flows",
		     "{\"flows\": [{\"from\": \"client 0\", \"to\": \"redacted\"},"
		     " {\"from\": \"redacted\", \"to\": \"server 1\"}]}");
	json_decref(document);
}

/*
 * Puts GIDs everywhere a document can have them: facts, as members and within text, addresses,
 * names, errors, warnings, flows, missing cases and the command line. All of them have the same
 * last bytes, which occur nowhere else in the document.
 */
static void test_gids(void **unused)
{
	static const char facts[] =
		"{\"gid\": \"fe80:0000:0000:0000:0211:22ff:feab:cdef\","
		" \"gids\": [\"fe80::211:22ff:feab:cdef\"],"
		" \"port\": {\"gid\": \"index 1 of abcdef\", \"gids\": [\"of abcdef\"],"
		"  \"port_guid\": \"of abcdef\", \"note\": \"::ffff:abcd:cdef\"},"
		" \"device\": {\"node_guid\": \"of abcdef\", \"guid\": \"of abcdef\","
		"  \"sys_image_guid\": \"of abcdef\", \"serial\": \"of abcdef\"},"
		" \"netdev\": {\"mac\": \"of abcdef\","
		"  \"addresses\": [\"fe80::211:22ff:feab:cdef%eth0\", \"10.0.0.1\"]}}";
	static const struct {
		const char *path;
		const char *text;
	} places[] = {
		{"hosts/client/facts",   facts								   },
		{"hosts/server/facts",   facts								   },
		{"hosts/client/address", "\"fe80::211:22ff:feab:cdef\""                                          },
		{"hosts/server/address", "\"fe80::211:22ff:feab:cdef\""                                          },
		{"hosts/server/device",  "\"rocepfe8000000000000002112233feabcdef\""                             },
		{"cases/2/error",        "\"no route to GID fe80::211:22ff:feab:cdef.\""                         },
		{"cases/0/flows",        "{\"flows\": [{\"from\": \"fe80::211:22ff:feab:cdef\","
				  "  \"to\": \"fe80:0000:0000:0000:0211:22ff:feab:cdef\"}],"
				  " \"note\": \"GID fe80::211:22ff:feab:cdef\"}"},
		{"warnings",
		 "[{\"code\": \"gid-type\", \"what\": \"GID 0xfe800000000000000211223344abcdef\","
		 "  \"why\": \"(fe80::211:22ff:feab:cdef)\","
		 "  \"mend\": \"ip addr add fe80::211:22ff:feab:cdef/64\"}]"                                     },
		{"turns",                "[{\"missing\": [\"to fe80::211:22ff:feab:cdef\"]}]"                    },
		{"run/command",          "[\"verbmark\", \"run\", \"fe80::211:22ff:feab:cdef\","
				" \"--bind=fe80::211:22ff:feab:cdef\"]"           },
	};
	static const char *const left[] = {"abcdef", "abcd:cdef", "feab",
					   "cdef\"", "7471",      "10.0.0.1"};
	json_t *document = loading_document();
	struct error error = {0};
	char *text;

	for (size_t i = 0; i < ARRAY_LENGTH(places); i++)
		loading_change(document, places[i].path, places[i].text);
	assert_int_equal(redact_document(document, NULL, NULL, 0, &error), 0);
	/* The fingerprint is a hash of hardware facts, and the sample's has the same digits. */
	loading_change(document, "hosts/client/hard_fingerprint", NULL);
	text = json_dumps(document, JSON_SORT_KEYS);
	assert_non_null(text);
	for (size_t i = 0; i < ARRAY_LENGTH(left); i++)
		if (strstr(text, left[i]))
			fail_msg("%s was not redacted: %s", left[i], text);
	free(text);
	json_decref(document);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gids),           cmocka_unit_test(test_texts),
		cmocka_unit_test(test_flows),          cmocka_unit_test(test_name_as_host),
		cmocka_unit_test(test_a_document),     cmocka_unit_test(test_address_as_host),
		cmocka_unit_test(test_name_in_schema), cmocka_unit_test(test_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
