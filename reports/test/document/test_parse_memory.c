/* SPDX-License-Identifier: MIT */
#include "reports/test/lib/loading.h"

static struct result result;
static struct error error;

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

static json_t *make(const char *id, const char *client, const char *server)
{
	json_t *document = loading_document();

	loading_change(document, "cases/0/id", id);
	loading_change(document, "cases/0/memory", client);
	loading_change(document, "cases/0/server_memory", server);
	return document;
}

static const char *parameter(const char *option)
{
	return json_string_value(json_object_get(result.cases[0].parameters, option));
}

/* Results of older versions continue their series, however the kind was spelled. */
static void test_spellings(void **unused)
{
	json_t *document = make("\"send/lat/64/poll/memory-dmabuf/server-memory-odp:Warm\"",
				"\"dmabuf\"", "\"odp:Warm\"");

	loading_change(document, "cases/0/beside",
		       "{\"case\": \"send/lat/64/event/memory-dmabuf/server-memory-odp:Warm\", "
		       "\"by\": \"interleaved\"}");
	assert_int_equal(loading_load(&result, document, &error), 0);
	assert_string_equal(result.cases[0].id,
			    "send/lat/64/poll/memory-dmabuf:udmabuf/server-memory-odp:warm");
	assert_string_equal(result.cases[0].beside,
			    "send/lat/64/event/memory-dmabuf:udmabuf/server-memory-odp:warm");
	assert_string_equal(parameter("memory"), "dmabuf:udmabuf");
	assert_string_equal(parameter("server-memory"), "odp:warm");
}

/* Paths and unknown kinds are kept, also where a path looks like a kind. */
static void test_kept(void **unused)
{
	json_t *document =
		make("\"send/lat/64/poll/memory-file:/memory-odp:Warm/server-memory-new:A\"",
		     "\"file:/memory-odp:Warm\"", "\"new:A\"");

	assert_int_equal(loading_load(&result, document, &error), 0);
	assert_string_equal(result.cases[0].id,
			    "send/lat/64/poll/memory-file:/memory-odp:Warm/server-memory-new:A");
	assert_string_equal(parameter("memory"), "file:/memory-odp:Warm");
	assert_string_equal(parameter("server-memory"), "new:A");
}

/* An id that has no room for the longer spelling remains as it is. */
static void test_no_room(void **unused)
{
	char id[CASE_ID + 2];
	const char end[] = "/memory-dmabuf/verify1\"";

	memset(id, 'a', sizeof(id));
	id[0] = '"';
	memcpy(id + sizeof(id) - sizeof(end), end, sizeof(end));
	assert_int_equal(loading_load(&result, make(id, "\"dmabuf\"", "\"host\""), &error), 0);
	assert_int_equal(strlen(result.cases[0].id), CASE_ID - 1);
	assert_memory_equal(result.cases[0].id, id + 1, CASE_ID - 1);
	assert_string_equal(parameter("memory"), "dmabuf:udmabuf");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_spellings, reset, drop),
		cmocka_unit_test_setup_teardown(test_kept, reset, drop),
		cmocka_unit_test_setup_teardown(test_no_room, reset, drop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
