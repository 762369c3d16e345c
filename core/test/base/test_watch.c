/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/watch.h"
#include "core/test/lib/check.h"

#define PATIENCE_MS 10000
#define TICK_MS     50

struct probe {
	struct watch watch;
	atomic_int called;
	atomic_int ticks;
	atomic_int visited;
};

static void ready(struct watch *watch)
{
	struct probe *probe = CONTAINER_OF(watch, struct probe, watch);
	uint64_t count;

	if (read(watch->fd, &count, sizeof(count)) == sizeof(count))
		atomic_fetch_add(&probe->called, (int)count);
}

static uint64_t tick(struct watch *watch, uint64_t now_ns)
{
	atomic_fetch_add(&CONTAINER_OF(watch, struct probe, watch)->ticks, 1);
	return now_ns + TICK_MS * NS_PER_MS;
}

/* Ticks only once during the test. */
static uint64_t tick_once(struct watch *watch, uint64_t now_ns)
{
	tick(watch, now_ns);
	return UINT64_MAX;
}

static void probe_add(struct probe *probe, void (*callback)(struct watch *watch))
{
	struct error error = {0};

	*probe = (struct probe){
		.watch = {.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), .ready = callback}
        };
	assert_true(probe->watch.fd >= 0);
	assert_int_equal(watch_add(&probe->watch, &error), 0);
}

static void probe_remove(struct probe *probe, int fd)
{
	watch_remove(&probe->watch);
	close(fd);
}

static void ring(int fd)
{
	uint64_t one = 1;

	assert_int_equal(write(fd, &one, sizeof(one)), sizeof(one));
}

static int entries(const char *path)
{
	DIR *folder = opendir(path);
	int count = 0;

	assert_non_null(folder);
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

static void wait_for(atomic_int *value, int wanted)
{
	uint64_t deadline = clock_deadline(PATIENCE_MS);

	while (atomic_load(value) != wanted && clock_left_ms(deadline))
		usleep(100);
	assert_int_equal(atomic_load(value), wanted);
}

/* A joined thread disappears from /proc with a delay. */
static void wait_for_entries(const char *path, int wanted)
{
	uint64_t deadline = clock_deadline(PATIENCE_MS);

	while (entries(path) != wanted && clock_left_ms(deadline))
		usleep(100);
	assert_int_equal(entries(path), wanted);
}

static void test_callbacks_match_descriptors(void **unused)
{
	static struct probe probes[3];

	for (size_t i = 0; i < ARRAY_LENGTH(probes); i++)
		probe_add(&probes[i], ready);
	for (int round = 1; round <= 20; round++) {
		ring(probes[1].watch.fd);
		wait_for(&probes[1].called, round);
	}
	ring(probes[2].watch.fd);
	wait_for(&probes[2].called, 1);
	assert_int_equal(atomic_load(&probes[0].called), 0);
	assert_int_equal(atomic_load(&probes[1].called), 20);
	for (size_t i = 0; i < ARRAY_LENGTH(probes); i++)
		probe_remove(&probes[i], probes[i].watch.fd);
}

static void test_thread_and_descriptors_go_away(void **unused)
{
	int threads = entries("/proc/self/task");
	int descriptors = entries("/proc/self/fd");
	static struct probe probes[2];

	for (int round = 0; round < 20; round++) {
		probe_add(&probes[0], ready);
		wait_for_entries("/proc/self/task", threads + 1);
		probe_add(&probes[1], ready);
		assert_int_equal(entries("/proc/self/task"), threads + 1);
		ring(probes[1].watch.fd);
		wait_for(&probes[1].called, 1);
		probe_remove(&probes[round % 2], probes[round % 2].watch.fd);
		ring(probes[1 - round % 2].watch.fd);
		wait_for(&probes[1 - round % 2].called, round % 2 ? 1 : 2);
		probe_remove(&probes[1 - round % 2], probes[1 - round % 2].watch.fd);
		wait_for_entries("/proc/self/task", threads);
		assert_int_equal(entries("/proc/self/fd"), descriptors);
	}
}

static void test_removing_an_unadded_watch(void **unused)
{
	struct watch watch = {0};

	watch_remove(&watch);
	watch_remove(&watch);
	assert_null(watch.link);
}

static void test_many(void **unused)
{
	static struct probe probes[200];

	for (size_t i = 0; i < ARRAY_LENGTH(probes); i++)
		probe_add(&probes[i], ready);
	for (size_t i = 0; i < ARRAY_LENGTH(probes); i++)
		ring(probes[i].watch.fd);
	for (size_t i = 0; i < ARRAY_LENGTH(probes); i++)
		wait_for(&probes[i].called, 1);
	/* Every third one, from within the list, then the rest. */
	for (size_t i = 0; i < ARRAY_LENGTH(probes); i += 3)
		probe_remove(&probes[i], probes[i].watch.fd);
	for (size_t i = 0; i < ARRAY_LENGTH(probes); i++) {
		if (i % 3 == 0)
			continue;
		ring(probes[i].watch.fd);
		wait_for(&probes[i].called, 2);
		probe_remove(&probes[i], probes[i].watch.fd);
	}
}

static void add_ticking(struct probe *probe, uint64_t (*callback)(struct watch *, uint64_t))
{
	struct error error = {0};

	*probe = (struct probe){
		.watch = {.fd = -1, .ready = ready, .tick = callback}
        };
	assert_int_equal(watch_add(&probe->watch, &error), 0);
}

static void test_ticks(void **unused)
{
	static struct probe once;
	static struct probe often;
	uint64_t start = clock_now_ns();
	uint64_t deadline = clock_deadline(PATIENCE_MS);

	add_ticking(&once, tick_once);
	wait_for(&once.ticks, 1);
	usleep(3 * TICK_MS * 1000);
	assert_int_equal(atomic_load(&once.ticks), 1);
	/* The watcher is now in a wait without a timeout, or about to be. */
	add_ticking(&often, tick);
	while (atomic_load(&often.ticks) < 5 && clock_left_ms(deadline))
		usleep(100);
	assert_true(atomic_load(&often.ticks) >= 5);
	/* Nothing else wakes the watcher. */
	assert_true(clock_now_ns() - start >= (3 + 4) * TICK_MS * NS_PER_MS);
	watch_remove(&often.watch);
	watch_remove(&once.watch);
}

static void ready_and_stop(struct watch *watch)
{
	/* Left unread: otherwise it would be called forever. */
	atomic_fetch_add(&CONTAINER_OF(watch, struct probe, watch)->called, 1);
	watch->fd = -1;
}

static void test_callback_stops_watching(void **unused)
{
	static struct probe ended;
	static struct probe other;
	int fd;

	probe_add(&ended, ready_and_stop);
	fd = ended.watch.fd;
	probe_add(&other, ready);
	ring(fd);
	wait_for(&ended.called, 1);
	for (int round = 1; round <= 20; round++) {
		ring(other.watch.fd);
		wait_for(&other.called, round);
	}
	assert_int_equal(atomic_load(&ended.called), 1);
	probe_remove(&ended, fd);
	probe_remove(&other, other.watch.fd);
}

static void connection(struct watch *watch, void *argument)
{
	atomic_fetch_add(&CONTAINER_OF(watch, struct probe, watch)->visited, *(int *)argument);
}

static void ready_and_visit(struct watch *watch)
{
	int amount = 5;

	ready(watch);
	watch_visit(watch, connection, &amount);
}

/* One watch reads for all on its descriptor; others are not visited. */
static void test_visit(void **unused)
{
	static struct probe probes[4];
	struct error error = {0};

	probe_add(&probes[0], ready_and_visit);
	probes[1] = (struct probe){
		.watch = {.fd = probes[0].watch.fd, .ready = ready_and_visit}
        };
	assert_int_equal(watch_add(&probes[1].watch, &error), 0);
	probe_add(&probes[2], ready_and_visit);
	probes[3] = (struct probe){
		.watch = {.fd = -1, .ready = ready}
        };
	assert_int_equal(watch_add(&probes[3].watch, &error), 0);
	ring(probes[0].watch.fd);
	wait_for(&probes[0].visited, 10);
	wait_for(&probes[1].visited, 10);
	assert_int_equal(atomic_load(&probes[2].visited), 0);
	assert_int_equal(atomic_load(&probes[3].visited), 0);
	watch_remove(&probes[3].watch);
	watch_remove(&probes[1].watch);
	probe_remove(&probes[0], probes[0].watch.fd);
	probe_remove(&probes[2], probes[2].watch.fd);
}

static sem_t entered;
static sem_t may_leave;
static atomic_bool has_left;

static void ready_slowly(struct watch *watch)
{
	uint64_t count;

	if (read(watch->fd, &count, sizeof(count)) != sizeof(count))
		return;
	sem_post(&entered);
	sem_wait(&may_leave);
	atomic_store(&has_left, true);
}

struct remover {
	struct probe *probe;
	atomic_int tid;
	bool had_left;
};

static void *remove_it(void *argument)
{
	struct remover *remover = argument;

	atomic_store(&remover->tid, (int)syscall(SYS_gettid));
	watch_remove(&remover->probe->watch);
	remover->had_left = atomic_load(&has_left);
	return NULL;
}

static bool sleeps(int tid)
{
	char path[64];
	char line[256] = "";
	FILE *file;
	const char *state;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	file = fopen(path, "re");
	if (!file)
		return false;
	state = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	fclose(file);
	return state && state[1] == ' ' && state[2] == 'S';
}

/* watch_remove waits for a running callback to return. */
static void test_removal_waits_for_the_callback(void **unused)
{
	static struct probe probe;
	struct remover remover = {.probe = &probe};
	uint64_t deadline = clock_deadline(PATIENCE_MS);
	pthread_t thread;

	sem_init(&entered, 0, 0);
	sem_init(&may_leave, 0, 0);
	probe_add(&probe, ready_slowly);
	ring(probe.watch.fd);
	sem_wait(&entered);
	assert_int_equal(pthread_create(&thread, NULL, remove_it, &remover), 0);
	while (!(atomic_load(&remover.tid) && sleeps(atomic_load(&remover.tid))) &&
	       clock_left_ms(deadline))
		usleep(100);
	assert_true(sleeps(atomic_load(&remover.tid)));
	sem_post(&may_leave);
	pthread_join(thread, NULL);
	assert_true(remover.had_left);
	close(probe.watch.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_callbacks_match_descriptors),
		cmocka_unit_test(test_thread_and_descriptors_go_away),
		cmocka_unit_test(test_removing_an_unadded_watch),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_ticks),
		cmocka_unit_test(test_callback_stops_watching),
		cmocka_unit_test(test_visit),
		cmocka_unit_test(test_removal_waits_for_the_callback),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
