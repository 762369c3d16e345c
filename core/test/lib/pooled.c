/* SPDX-License-Identifier: MIT */
#include "core/test/lib/pooled.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/base/random.h"
#include "core/test/lib/check.h"

/* Events that the server has reported. */
struct reports {
	pthread_mutex_t lock;
	pthread_mutex_t gate; /* held to block the server in its next report */
	unsigned int events[POOL_EVENTS];
	uint32_t numbers[1024]; /* of the last doorbells, and their values */
	uint32_t values[1024];
	char reason[128]; /* of the last refusal */
};

static struct reports reports = {.lock = PTHREAD_MUTEX_INITIALIZER,
				 .gate = PTHREAD_MUTEX_INITIALIZER};
struct pool_server pooled_server;
static pthread_t thread;
static unsigned int n_opened; /* clients opened so far */
static bool is_closed;        /* the gate */

static void record(void *unused, const struct pool_report *report)
{
	pthread_mutex_lock(&reports.gate);
	pthread_mutex_unlock(&reports.gate);
	pthread_mutex_lock(&reports.lock);
	if (report->event == POOL_RUNG) {
		unsigned int i = reports.events[POOL_RUNG] % ARRAY_LENGTH(reports.numbers);

		reports.numbers[i] = report->number;
		reports.values[i] = report->value;
	}
	if (report->reason)
		snprintf(reports.reason, sizeof(reports.reason), "%s", report->reason);
	reports.events[report->event]++;
	pthread_mutex_unlock(&reports.lock);
}

unsigned int pooled_count(enum pool_event event)
{
	unsigned int found;

	pthread_mutex_lock(&reports.lock);
	found = reports.events[event];
	pthread_mutex_unlock(&reports.lock);
	return found;
}

void pooled_wait_for(enum pool_event event, unsigned int wanted)
{
	uint64_t deadline = clock_deadline(PATIENCE_MS);

	while (pooled_count(event) < wanted) {
		if (clock_now_ns() > deadline)
			fail_msg("%u events of kind %u, not %u; %s", pooled_count(event), event,
				 wanted, reports.reason);
		usleep(1000);
	}
}

static void *serve(void *unused)
{
	struct error error = {0};

	/* cmocka's assertions work only in the main thread. */
	return pool_serve(&pooled_server, &error) ? (void *)strdup(error.text) : NULL;
}

static const char *device(void)
{
	return getenv("SOFTROCE_DEVICE");
}

static const char *address(void)
{
	return getenv("SOFTROCE_ADDRESS");
}

void pooled_start(enum rdma_wait_mode wait, uint32_t receives, uint64_t share)
{
	const struct pool_settings settings = {
		.device = device(),
		.address = address(),
		.size = POOL_BYTES,
		.share = share,
		.receives = receives,
		.wait = wait,
		.tell = record,
	};
	struct error error = {0};

	memset(reports.events, 0, sizeof(reports.events));
	n_opened = 0;
	if (pool_open(&pooled_server, &settings, &error))
		fail_msg("%s", error.text);
	assert_int_equal(pthread_create(&thread, NULL, serve, NULL), 0);
}

void pooled_stop(void)
{
	void *failed;

	pooled_wait_for(POOL_WENT, n_opened);
	pool_end(&pooled_server);
	assert_int_equal(pthread_join(thread, &failed), 0);
	if (failed)
		fail_msg("%s", (const char *)failed);
	assert_int_equal(pooled_server.n_clients, 0);
	assert_int_equal(pooled_server.grants.count, 0);
	assert_int_equal(pooled_server.grants.chunks.used, 0);
	assert_int_equal(chunks_longest(&pooled_server.grants.chunks), POOL_BYTES / PAGE_BYTES);
	assert_int_equal(pool_close(&pooled_server), 0);
}

void pooled_hold(void)
{
	pthread_mutex_lock(&reports.gate);
	is_closed = true;
}

void pooled_let_go(void)
{
	is_closed = false;
	pthread_mutex_unlock(&reports.gate);
}

int pooled_end(void **unused)
{
	if (is_closed)
		pooled_let_go();
	if (pooled_server.listener) {
		pool_end(&pooled_server);
		pthread_join(thread, NULL);
		pool_close(&pooled_server);
	}
	return 0;
}

void pooled_client(struct pool_client *client)
{
	const struct pool_client_settings settings = {.host = address(),
						      .device = device(),
						      .port = pooled_server.port,
						      .own_size = 1 << 16,
						      .wait = RDMA_EVENT};
	struct error error = {0};

	if (pool_client_open(client, &settings, &error))
		fail_msg("%s", error.text);
	n_opened++;
}

void pooled_allocate(struct pool_client *client, uint64_t size, uint32_t every)
{
	struct error error = {0};

	if (pool_client_alloc(client, size, every, &error))
		fail_msg("%s", error.text);
	assert_int_equal(client->grant.size, size);
	assert_int_equal(client->grant.address % PAGE_BYTES, 0);
}

void pooled_refused(struct pool_client *client, uint64_t size, enum pool_status status)
{
	struct error error = {0};

	assert_int_equal(pool_client_alloc(client, size, 1, &error), -EACCES);
	assert_contains(error.text, pool_status_text(status));
}

void pooled_not_freed(struct pool_client *client, uint64_t place, enum pool_status status)
{
	struct error error = {0};

	assert_int_equal(pool_client_free(client, place, &error), -EACCES);
	assert_contains(error.text, pool_status_text(status));
}

void pooled_release(struct pool_client *client, uint64_t place)
{
	struct error error = {0};

	if (pool_client_free(client, place, &error))
		fail_msg("%s", error.text);
}

void pooled_ring(struct pool_client *client, unsigned int writes, uint64_t seed)
{
	uint32_t every = client->grant.every;
	unsigned int before = pooled_count(POOL_RUNG);
	uint32_t first = client->rung;
	struct error error = {0};
	uint64_t state = seed;

	for (unsigned int i = 0; i < writes; i++)
		if (pool_client_write(client, (uint32_t)random_next(&state), &error))
			fail_msg("write %u: %s", i, error.text);
	if (pool_client_sync(client, &error))
		fail_msg("%s", error.text);
	assert_int_equal(pooled_count(POOL_RUNG) - before, writes / every);
	state = seed;
	for (unsigned int i = 0; i < writes; i++) {
		uint32_t value = (uint32_t)random_next(&state);
		unsigned int at = (before + i / every) % ARRAY_LENGTH(reports.values);

		if ((i + 1) % every)
			continue;
		assert_int_equal(reports.values[at], value);
		assert_int_equal(reports.numbers[at], first + i / every + 1);
	}
}
