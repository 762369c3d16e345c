/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "reports/test/lib/failing.h"
#include "reports/test/lib/loading.h"

static struct result result;
static struct error error;

void *__real_realloc(void *block, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_realloc(void *block, size_t size)
{
	return fails() ? NULL : __real_realloc(block, size);
}

static int reset(void **unused)
{
	error = (struct error){0};
	return 0;
}

static int drop(void **unused)
{
	result_finish(&result);
	return 0;
}

static void check_again(const json_t *document)
{
	json_t *again = document_make(&result);

	loading_check_equal(again, document);
	json_decref(again);
}

static void test_again(void **unused)
{
	json_t *document = loading_document();

	assert_int_equal(parse_document(&result, document, &error), 0);
	check_again(document);
	json_decref(document);
}

/* The values of sample.h: 61 samples, 20 x 3720 + 2^37; six trials of 100k, 200k and 10. */
static void test_what_is_loaded(void **unused)
{
	const struct result_case *line;

	assert_int_equal(loading_load(&result, loading_document(), &error), 0);
	assert_string_equal(result.version, "1.2.3");
	assert_string_equal(result.started, "2001-02-03T04:05:06Z");
	assert_string_equal(result.finished, "2001-02-03T04:05:07Z");
	assert_int_equal(result.status, RESULT_INTERRUPTED);
	assert_string_equal(result.clock, "tsc");
	assert_int_equal(result.clock_hz, 2500000000);
	assert_true(result.clock_drift_ppm == -1.5);
	assert_string_equal(result.client.device, "mlx5_0");
	assert_int_equal(result.server.port, 2);
	assert_int_equal(result.server.rate_mbps, 2500);
	assert_string_equal(result.server.link_layer, "Ethernet");
	assert_int_equal(result.n_cases, SAMPLE_CASES);

	line = &result.cases[SAMPLE_LATENCY];
	assert_string_equal(line->id, "send/lat/64/poll");
	assert_string_equal(line->op, "send");
	assert_string_equal(line->transport, "RC");
	assert_int_equal(line->size, 64);
	assert_int_equal(line->kind, RESULT_HALF);
	assert_int_equal(line->status, RESULT_COMPLETE);
	assert_int_equal(line->n_trials, 3);
	assert_int_equal(line->messages, 61);
	assert_int_equal(line->duration_ns, 150003);
	assert_int_equal(line->client.completions, 66);
	assert_int_equal(line->server.messages, 366);
	assert_int_equal(line->latency->count, 61);
	assert_int_equal(line->latency->over, 1);
	assert_int_equal(line->latency->sum, 74400 + (1ULL << 37));
	assert_int_equal(line->latency->bins[1250], 20);
	assert_null(line->windows);
	assert_int_equal(line->trials[2].warmup.messages, 102);
	assert_true(line->trials[2].warmup.has_converged);
	assert_true(line->trials[1].latency[0] == 1250);
	/* 20 samples are too few for a 99th percentile. */
	assert_true(isnan(line->trials[1].latency[5]));

	line = &result.cases[SAMPLE_BANDWIDTH];
	assert_null(line->latency);
	assert_int_equal(line->messages, 6360);
	assert_int_equal(line->windows->count, 12);
	assert_int_equal(line->windows->messages[11], 1200);
	assert_int_equal(line->windows->rest, 60);
	assert_true(line->trials[5].bytes_per_s == 72400000);

	line = &result.cases[SAMPLE_FAILED];
	assert_int_equal(line->status, RESULT_FAILED);
	assert_string_equal(line->error, "no completion for 5 s");
	assert_int_equal(line->n_trials, 0);
}

static void test_losses(void **unused)
{
	json_t *document = loading_document();

	loading_change(document, "cases/0/trials/0/loss", "{\"sent\": 30, \"lost\": 4}");
	loading_change(document, "cases/0/trials/1/loss", "{\"sent\": 50, \"lost\": 7}");
	assert_int_equal(loading_load(&result, document, &error), 0);
	assert_int_equal(result.cases[0].trials[0].sent, 30);
	assert_int_equal(result.cases[0].trials[0].lost, 4);
	assert_int_equal(result.cases[0].trials[1].lost, 7);
	assert_int_equal(result.cases[0].sent, 80);
	assert_int_equal(result.cases[0].lost, 11);
}

/* Parameters have the names of options, without members that are parsed elsewhere. */
static void test_parameters(void **unused)
{
	json_t *wanted = sample_json(
		"{\"op\": \"write\", \"metric\": \"bw\", \"size\": 1000, \"cq\": \"event\","
		" \"server-cq\": \"poll\", \"tx-depth\": 16, \"pin\": \"off\","
		" \"duration_ns\": 25000000}");

	assert_int_equal(loading_load(&result, loading_document(), &error), 0);
	loading_check_equal(result.cases[SAMPLE_BANDWIDTH].parameters, wanted);
	json_decref(wanted);
}

/* Members from later versions are ignored. */
static void test_more_members(void **unused)
{
	static const char *const paths[] = {
		"later",
		"tool/later",
		"run/later",
		"run/clock/later",
		"hosts/later",
		"hosts/client/later",
		"cases/0/chosen/later",
		"cases/0/chosen/client/later",
		"cases/0/latency_ns/later",
		"cases/0/latency_ns/histogram/later",
		"cases/0/trials/0/later",
		"cases/1/bandwidth/later",
	};
	json_t *document = loading_document();
	json_t *wanted;

	loading_change(document, "cases/0/queue_pairs", "4");
	loading_change(document, "cases/0/warnings", "[{\"text\": \"governor powersave\"}]");
	wanted = json_deep_copy(document);
	for (size_t i = 0; i < ARRAY_LENGTH(paths); i++)
		loading_change(document, paths[i], "{\"a\": [1, 2]}");
	assert_int_equal(loading_load(&result, document, &error), 0);
	assert_int_equal(
		json_integer_value(json_object_get(result.cases[0].parameters, "queue-pairs")), 4);
	check_again(wanted);
	json_decref(wanted);
}

static void test_no_plan(void **unused)
{
	json_t *document = loading_document();

	loading_change(document, "run/plan", NULL);
	assert_int_equal(parse_document(&result, document, &error), 0);
	check_again(document);
	json_decref(document);
}

/* A value at a path of the sample; NULL: removed. sentence: the error; NULL: none. */
struct change {
	const char *path;
	const char *value;
	const char *sentence;
};

static void check_changes(const struct change *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		json_t *document = loading_document();

		error = (struct error){0};
		loading_change(document, rows[i].path, rows[i].value);
		if (!rows[i].sentence) {
			assert_int_equal(loading_load(&result, document, &error), 0);
			result_finish(&result);
			continue;
		}
		assert_int_equal(loading_load(&result, document, &error), -EINVAL);
		assert_contains(error.text, rows[i].sentence);
		assert_null(result.cases);
		assert_null(result.texts);
	}
}

static void test_refusals(void **unused)
{
	static const struct change rows[] = {
		{"warnings",                           "7",				      "\"warnings\" is not an array"                    },
		{"warnings",                           "[{\"host\": \"\\u001b[31m\"}]",
		 "warnings: \"host\" is not printable"											     },
		{"warnings",                           "[{}, 7]",                                "warnings: an element is not an object"           },
		{"schema",			     NULL,
		 "JSON, but not a verbmark result: \"schema\" is not \"verbmark.result/1\""                                                        },
		{"schema",			     "1",
		 "JSON, but not a verbmark result: \"schema\" is not \"verbmark.result/1\""                                                        },
		{"schema",			     "\"fio\"",
		 "JSON, but not a verbmark result: \"schema\" is not \"verbmark.result/1\""                                                        },
		{"schema",			     "\"verbmark.result\"",
		 "JSON, but not a verbmark result: \"schema\" is not \"verbmark.result/1\""                                                        },
		{"schema",			     "\"verbmark.result/\\u001b[2J\"",         "\"schema\" is not printable"                     },
		{"tool",			       "7",				      "\"tool\" is not an object"                       },
		{"tool/version",                       NULL,                                     "\"version\" is missing"                          },
		{"run",				"[]",				     "\"run\" is not an object"                        },
		{"run/status",                         "\"good\"",                               "run: \"status\" is not a known status"           },
		{"run/started",                        "3",				      "run: \"started\" is not a string"                },
		{"run/started",                        "\"0123456789012345678901234567890\\n\"", "longer than 31 bytes"                            },
		{"run/command",                        "\"verbmark\"",                           "run: \"command\" is not an array"                },
		{"run/clock/hz",                       "-1",                                     "run: \"hz\" is not a count"                      },
		{"run/clock/drift_ppm",                "null",                                   "run: \"drift_ppm\" is not a number"              },
		{"run/clock/resolution_ns",            "-1",                                     "run: \"resolution_ns\" is negative"              },
		{"run/clock/cost_ns",                  "0.5",                                    "run: \"cost_ns\" is not a count"                 },
		{"run/clock/cost_ns",                  NULL,                                     NULL                                              },
		{"hosts/client",                       NULL,                                     "hosts: \"client\" is missing"                    },
		{"hosts/client/host",                  "\"\\u009b2J\"",                          "\"host\" is not printable"                       },
		{"hosts/client/host",                  "\"a\\u007f\"",                           "\"host\" is not printable"                       },
		{"hosts/client/hard_fingerprint",      "\"0123456789abcdef0\"",                  "longer than 16 bytes"                            },
		{"hosts/client/hard_fingerprint",      NULL,                                     NULL                                              },
		{"hosts/client/kind",                  "7",                                      "hosts: \"kind\" is not a string"                 },
		{"hosts/client/kind",                  NULL,                                     NULL                                              },
		{"hosts/server/port",                  "2147483648",                             "\"port\" is above 2147483647"                    },
		{"hosts/server/mtu",                   "1024.0",                                 "\"mtu\" is not a count"                          },
		{"cases",			      "{}",				     "\"cases\" is not an array"                       },
		{"cases/1",			    "{}",				     "case 2: \"id\" is missing"                       },
		{"cases/1",			    "null",                                   "case 2: \"id\" is missing"                       },
		{"cases/0/id",                         "[]",				     "case 1: \"id\" is not a string"                  },
		{"cases/0/id",                         "\"=x/lat/64/poll\"",
		 "'=x/lat/64/poll' does not begin with a letter"										   },
		{"tool/version",                       "\"=1+1\"",                               "\"version\" does not begin with a letter"        },
		{"cases/0/op",                         "\"=x\"",                                 "\"op\" does not begin with a letter"             },
		{"cases/0/metric",                     "\"+x\"",                                 "\"metric\" does not begin with a letter"         },
		{"cases/0/cq",                         "\"@x\"",                                 "\"cq\" does not begin with a letter"             },
		{"cases/0/server_cq",                  "\"\"",                                   "\"server_cq\" does not begin with a letter"      },
		{"cases/0/transport",                  "\"-x\"",                                 "\"transport\" does not begin with a letter"      },
		{"cases/0/op",                         NULL,				     "send/lat/64/poll: \"op\" is missing"             },
		{"cases/0/size",                       "\"64\"",                                 "send/lat/64/poll: \"size\" is not a count"       },
		{"cases/0/status",                     "1",                                      "\"status\" is not a string"                      },
		{"cases/2/status",                     "\"complete\"",
		 "status is complete, but the case has no figures"										 },
		{"cases/0/status",                     "\"failed\"",
		 "send/lat/64/poll: status is failed, but the case has figures"                                                                    },
		{"cases/0/placement",                  "[]",                                     "send/lat/64/poll: \"placement\" is not an object"},
		{"cases/0/placement/client",           "7",                                      "placement: \"client\" is not an object"          },
		{"cases/0/placement/client/cpus",      "\"\\n\"",
		 "placement: \"cpus\" is not printable"											    },
		{"cases/0/placement/server/numa_node", "-1",
		 "placement: \"numa_node\" is not a count"											 },
		{"cases/0/placement/server",           NULL,                                     NULL                                              },
		{"cases/0/chosen",                     "[]",                                     "send/lat/64/poll: \"chosen\" is not an object"   },
		{"cases/0/chosen/client",              "7",                                      "chosen: \"client\" is not an object"             },
		{"cases/0/chosen/server/spin_ns",      "-1",                                     "chosen: \"spin_ns\" is not a count"              },
		{"cases/0/chosen/client",              NULL,                                     NULL                                              },
		{"cases/2/cpu",                        "{}",                                     NULL					      },
		{"cases/2/error",                      "\"a\\nb\"",                              "\"error\" is not printable"                      },
	};

	check_changes(rows, ARRAY_LENGTH(rows));
}

static void test_refused_figures(void **unused)
{
	static const struct change rows[] = {
		{"cases/0/trials",                         NULL,                  "send/lat/64/poll: \"trials\" is missing"          },
		{"cases/0/trials",                         "[]",                  "figures without trials"                           },
		{"cases/0/latency_ns",                     NULL,                  "figures without trials, or trials without figures"},
		{"cases/0/trials/1",                       "3",                   "send/lat/64/poll: trial 2: \"warmup\" is missing" },
		{"cases/0/trials/1/warmup/converged",      "1",                   "\"converged\" is neither true nor"                },
		{"cases/0/trials/1/latency_ns",            NULL,                  "trial 2: \"latency_ns\" is missing"               },
		{"cases/0/trials/1/latency_ns/p50",        "1.7e308",             "trial 2: \"p50\" is above 2^63"                   },
		{"cases/0/trials/1/latency_ns/p50",        "-1250.0",             "trial 2: \"p50\" is negative"                     },
		{"cases/0/trials/1/latency_ns/p50",        "\"1250\"",            "trial 2: \"p50\" is not a number"                 },
		{"cases/1/trials/0/bandwidth/bytes_per_s", NULL,                  "\"bytes_per_s\" is missing"                       },
		{"cases/0/trials/0/cpu/server",            "[]",                  "trial 1: \"server\" is not an object"             },
		{"cases/0/trials/0/cpu/client/user_ns",    "42001",
		 "send/lat/64/poll: \"cpu\" is not the sum of the trials"                                                            },
		{"cases/0/cpu/server/messages",            "367",                 "\"cpu\" is not the sum of the trials"             },
		{"cases/0/latency_ns/kind",                "\"third\"",           "not half, full, completion or call"               },
		{"cases/0/latency_ns/count",               "62",
		 "send/lat/64/poll: latency_ns: count does not match the histogram"                                                  },
		{"cases/0/latency_ns/histogram/over",      "2",                   "do not add up to the count 61"                    },
		{"cases/0/latency_ns/histogram/bins/2",    "[1250, 1251, 19]",    "do not add up"                                    },
		{"cases/0/warmup_latency_ns",              "[]",                  "\"warmup_latency_ns\" is not an object"           },
		{"cases/0/warmup_latency_ns/count",        "21",
		 "warmup_latency_ns: count does not match the"								       },
		{"cases/0/warmup_latency_ns",              NULL,                  NULL                                               },
		{"cases/1/trials/0/messages",              "311",
		 "bandwidth: messages and duration do not match the trials"                                                          },
		{"cases/1/bandwidth/duration_ns",          "9",                   "messages and duration do not match"               },
		{"cases/1/bandwidth/bytes",                "6360001",
		 "6360 messages of 1000 bytes are not 6360001"								       },
		{"cases/1/size",                           "9223372036854775807", "are not 6360000 bytes"                            },
		{"cases/1/bandwidth/windows/0",            "10000001",
		 "window 0 is not a possible number of messages"								     },
	};

	check_changes(rows, ARRAY_LENGTH(rows));
}

static void test_another_schema(void **unused)
{
	json_t *document = loading_document();

	loading_change(document, "schema", "\"verbmark.result/2\"");
	assert_int_equal(loading_load(&result, document, &error), -EOPNOTSUPP);
	assert_string_equal(error.text,
			    "schema is verbmark.result/2, but only verbmark.result/1 is supported");
}

/* A duration of 0 would make the rate infinite. */
static void test_no_time(void **unused)
{
	json_t *document = loading_document();
	json_t *trial;
	size_t i;

	json_array_foreach(
		json_object_get(json_array_get(json_object_get(document, "cases"), 1), "trials"), i,
		trial) json_object_set_new(trial, "duration_ns", json_integer(0));
	loading_change(document, "cases/1/bandwidth/duration_ns", "0");
	assert_int_equal(loading_load(&result, document, &error), -EINVAL);
	assert_contains(error.text, "duration is 0");
}

/* A small text may ask for many histograms of 224 KiB: they are counted before any is made. */
static void test_too_many_histograms(void **unused)
{
	json_t *document = loading_document();
	json_t *cases = json_object_get(document, "cases");
	json_t *both = json_pack("{s:{}, s:{}}", "latency_ns", "warmup_latency_ns");

	json_array_clear(cases);
	while (json_array_size(cases) < PARSE_HISTOGRAMS_MOST / 2)
		json_array_append(cases, both);
	assert_int_equal(parse_document(&result, document, &error), -EINVAL);
	assert_contains(error.text, "case 1: \"id\" is missing");
	json_array_append_new(cases, json_pack("{s:{}}", "load"));
	error = (struct error){0};
	assert_int_equal(parse_document(&result, document, &error), -E2BIG);
	assert_string_equal(error.text, "10002 histograms exceed the maximum of 10000");
	json_decref(document);
	json_decref(both);
}

static void test_too_many_cases(void **unused)
{
	json_t *document = loading_document();
	json_t *cases = json_object_get(document, "cases");

	while (json_array_size(cases) <= PARSE_CASES_MOST) {
		json_t *json = json_copy(json_array_get(cases, SAMPLE_FAILED));

		json_object_set_new(json, "id", json_sprintf("id%zu", json_array_size(cases)));
		json_array_append_new(cases, json);
	}
	assert_int_equal(parse_document(&result, document, &error), -E2BIG);
	assert_string_equal(error.text, "10001 cases exceed the maximum of 10000");
	json_array_remove(cases, 0);
	error = (struct error){0};
	assert_int_equal(loading_load(&result, document, &error), 0);
	assert_int_equal(result.n_cases, 10000);
}

/* Tests an array of the maximum length, and one that is longer by one. */
static void check_too_many(const char *path, size_t most, const char *sentence)
{
	json_t *document = loading_document();
	char last[64];
	json_t *parent = loading_parent(document, path, last);
	json_t *list = json_array();
	json_t *one = json_object();

	while (json_array_size(list) <= most)
		json_array_append(list, one);
	json_object_set_new(parent, last, list);
	assert_int_equal(parse_document(&result, document, &error), -E2BIG);
	assert_string_equal(error.text, sentence);
	error = (struct error){0};
	json_array_remove(list, 0);
	assert_int_not_equal(parse_document(&result, document, &error), -E2BIG);
	result_finish(&result);
	error = (struct error){0};
	json_decref(document);
	json_decref(one);
}

static void test_too_many_of_others(void **unused)
{
	check_too_many("warnings", 4096, "warnings: 4097 exceed the maximum of 4096");
	check_too_many("cases/0/trials", 20000,
		       "send/lat/64/poll: 20001 trials exceed the maximum of 20000");
}

/* Ids must be unique, even if the two cases are not adjacent. */
static void test_twice(void **unused)
{
	json_t *document = loading_document();
	json_t *cases = json_object_get(document, "cases");

	json_array_append(cases, json_array_get(cases, SAMPLE_BANDWIDTH));
	assert_int_equal(loading_load(&result, document, &error), -EINVAL);
	assert_string_equal(
		error.text,
		"case 6 has the same id as another: write/bw/1000/event/server-poll/t16");
}

static void test_text(void **unused)
{
	static const struct {
		const char *text;
		const char *sentence;
	} rows[] = {
		{"",						   "line 1, column 0: '[' or '{' expected near end of file"                  },
		{"{\"schema\": \"verbmark.result/1\", \"schema\": 1}", "duplicate object key"                                                    },
		{"{\"a\": NaN}",				       "line 1, column 9: invalid token near 'NaN'"                              },
		{"{\"a\": 1e999}",				     "real number overflow"                                                    },
		{"{\"a\": 9223372036854775808}",                       "too big integer"                                                         },
		{"[] x",					       "end of file expected"						    },
		{"\x1b[2J",					    "expected near '?'"						       },
		{"{\"a\": \"\xff\"}",                                  "unable to decode byte 0xff"                                              },
		{"[]",						 "JSON, but not a verbmark result: \"schema\" is not \"verbmark.result/1\""},
		{"{}",						 "JSON, but not a verbmark result: \"schema\" is not \"verbmark.result/1\""},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		error = (struct error){0};
		assert_int_equal(parse_text(&result, rows[i].text, strlen(rows[i].text), &error),
				 -EINVAL);
		assert_contains(error.text, rows[i].sentence);
	}
}

/* Text that is truncated anywhere, or nested too deeply, is rejected. */
static void test_cut_off(void **unused)
{
	json_t *document = loading_document();
	char *text = json_dumps(document, JSON_COMPACT);
	size_t length = strlen(text);

	json_decref(document);
	for (size_t i = 0; i < length; i++) {
		error = (struct error){0};
		assert_int_equal(parse_text(&result, text, i, &error), -EINVAL);
		assert_contains(error.text, "line 1, column ");
	}
	error = (struct error){0};
	assert_int_equal(parse_text(&result, text, length, &error), 0);
	result_finish(&result);
	free(text);
	text = malloc(1000000);
	assert_non_null(text);
	memset(text, '[', 1000000);
	assert_int_equal(parse_text(&result, text, 1000000, &error), -EINVAL);
	assert_contains(error.text, "maximum parsing depth reached");
	free(text);
}

/* 63 MB of text would need 5 GB of memory. */
static void test_too_rich(void **unused)
{
	size_t length = 63000000;
	char *text = malloc(length);

	assert_non_null(text);
	for (size_t i = 0; i < length; i++)
		text[i] = "{},"[i % 3];
	text[0] = '[';
	assert_int_equal(parse_text(&result, text, length, &error), -E2BIG);
	assert_string_equal(error.text, "too many values for a result; the maximum is 3072 "
					"MiB of memory");
	free(text);
}

static void test_files(void **unused)
{
	char path[] = "/tmp/load.XXXXXX";
	int fd = mkstemp(path);
	json_t *document = loading_document();

	assert_true(fd >= 0);
	assert_int_equal(json_dumpfd(document, fd, JSON_INDENT(1)), 0);
	assert_int_equal(parse_file(&result, path, &error), 0);
	check_again(document);
	json_decref(document);
	result_finish(&result);
	assert_int_equal(ftruncate(fd, 100), 0);
	assert_int_equal(parse_file(&result, path, &error), -EINVAL);
	assert_contains(error.text, path);
	error = (struct error){0};
	assert_int_equal(ftruncate(fd, PARSE_BYTES_MOST + 1), 0);
	assert_int_equal(parse_file(&result, path, &error), -EFBIG);
	assert_contains(error.text, ": too long for a result; the maximum is 256 MiB");
	close(fd);
	unlink(path);
	error = (struct error){0};
	assert_int_equal(parse_file(&result, path, &error), -ENOENT);
	assert_contains(error.text, "cannot read /tmp/load.");
	error = (struct error){0};
	assert_int_equal(parse_file(&result, "/tmp", &error), -EISDIR);
	assert_string_equal(error.text, "/tmp: read failed: Is a directory");
}

static void check_no_memory(int code)
{
	assert_int_equal(error.code, code);
	assert_true(error.text[0]);
	assert_null(result.cases);
	assert_null(result.texts);
}

/* The n-th allocation fails, for every n. */
static void test_no_memory(void **unused)
{
	json_t *document = loading_document();
	int code = -ENOMEM;

	for (int n = 0; code; n++) {
		error = (struct error){0};
		allocations = n;
		json_set_alloc_funcs(__wrap_malloc, free);
		code = parse_document(&result, document, &error);
		json_set_alloc_funcs(malloc, free);
		allocations = -1;
		if (!code)
			break;
		assert_int_equal(code, -ENOMEM);
		check_no_memory(code);
	}
	json_decref(document);
}

/* jansson allocates memory for syntax errors as well. */
static void test_no_memory_for_json(void **unused)
{
	json_t *document = loading_document();
	char *text = json_dumps(document, JSON_COMPACT);
	int code = -ENOMEM;

	json_decref(document);
	for (int n = 0; code; n += 7) {
		error = (struct error){0};
		allocations = n;
		json_set_alloc_funcs(__wrap_malloc, free);
		code = parse_text(&result, text, strlen(text), &error);
		json_set_alloc_funcs(malloc, free);
		allocations = -1;
		if (code)
			check_no_memory(code);
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_again, reset, drop),
		cmocka_unit_test_setup_teardown(test_what_is_loaded, reset, drop),
		cmocka_unit_test_setup_teardown(test_losses, reset, drop),
		cmocka_unit_test_setup_teardown(test_parameters, reset, drop),
		cmocka_unit_test_setup_teardown(test_more_members, reset, drop),
		cmocka_unit_test_setup_teardown(test_no_plan, reset, drop),
		cmocka_unit_test_setup_teardown(test_refusals, reset, drop),
		cmocka_unit_test_setup_teardown(test_refused_figures, reset, drop),
		cmocka_unit_test_setup_teardown(test_another_schema, reset, drop),
		cmocka_unit_test_setup_teardown(test_no_time, reset, drop),
		cmocka_unit_test_setup_teardown(test_too_many_cases, reset, drop),
		cmocka_unit_test_setup_teardown(test_twice, reset, drop),
		cmocka_unit_test_setup_teardown(test_too_many_of_others, reset, drop),
		cmocka_unit_test_setup_teardown(test_text, reset, drop),
		cmocka_unit_test_setup_teardown(test_cut_off, reset, drop),
		cmocka_unit_test_setup_teardown(test_too_rich, reset, drop),
		cmocka_unit_test_setup_teardown(test_too_many_histograms, reset, drop),
		cmocka_unit_test_setup_teardown(test_files, reset, drop),
		cmocka_unit_test_setup_teardown(test_no_memory, reset, drop),
		cmocka_unit_test_setup_teardown(test_no_memory_for_json, reset, drop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
