/* SPDX-License-Identifier: MIT */
/*
 * A process that holds locks of another one's, and does not go on: it is dead, or stopped, or
 * frozen by its cgroup, of either version.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/compiler.h"
#include "core/soft/peer/frozen.h"
#include "core/soft/peer/peer.h"
#include "core/soft/peer/process.h"
#include "core/test/soft/pair.h"

enum {
	TRIES = 5000,
};

/* Stays with all that it can hold of the other process. */
static void stay_holding(struct pair *pair)
{
	struct soft_peer *peer = soft_peer_find(soft_image_slot(pair->there.number));
	struct soft_image *image;

	if (!peer)
		_exit(1);
	image = peer->arena->image;
	atomic_store(&image->lanes[soft_process.registry.slot][5].key[3], pair->there.rkey);
	for (uint32_t i = 0; i < SOFT_ATOMICS; i++)
		soft_lock_take(&image->atomics[i].lock);
	soft_lock_take(&image->qp[soft_image_index(pair->there.number)].queue.lock);
	for (uint32_t i = 1; i < 10; i++)
		soft_lock_take(&image->cq[i].lock);
	pair_tell(pair->socket, "h", 1);
	pause();
}

/* Queues, atomics and deregistration go on when the holder of their locks is dead. */
static void go_on(struct pair *pair)
{
	/* From the second end to itself, where there is no peer. */
	stage_connect(pair->stage.end[1].qp, &pair->there.gid, pair->stage.end[1].qp->qp_num,
		      &(struct stage_ways){0});
	for (int i = 0; i < 2; i++) {
		struct ibv_sge sge = {(uintptr_t)pair->stage.buffer, 8, pair->stage.mr->lkey};
		struct ibv_send_wr wr = {
			.opcode = i ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED,
			.sg_list = &sge,
			.num_sge = 1,
		};
		struct ibv_send_wr *bad;

		wr.wr.atomic.remote_addr = (uintptr_t)pair->stage.end[1].buffer;
		wr.wr.atomic.rkey = pair->stage.mr->rkey;
		if (!i)
			stage_receive(&pair->stage, 64, 0);
		assert_int_equal(ibv_post_send(pair->stage.end[1].qp, &wr, &bad), 0);
		assert_int_equal(stage_await(pair->stage.end[1].cq).status, IBV_WC_SUCCESS);
	}
	assert_int_equal(stage_await(pair->stage.end[1].cq).status, IBV_WC_SUCCESS);
	/* Everything can be let go. */
	stage_close(&pair->stage);
}

static void begin_holding(struct pair *pair)
{
	char word;

	pair_set_up(pair, stay_holding, &(struct stage_ways){0});
	pair_hear(pair->socket, &word, 1);
}

static void end_holding(struct pair *pair)
{
	kill(pair->child, SIGKILL);
	waitpid(pair->child, NULL, 0);
	close(pair->socket);
}

static void test_locks_of_one_that_is_killed(void **unused)
{
	struct pair pair;

	begin_holding(&pair);
	kill(pair.child, SIGKILL);
	waitpid(pair.child, NULL, 0);
	go_on(&pair);
	close(pair.socket);
}

/* Whoever waits for it waits for a while only. */
static void test_locks_of_one_that_is_stopped(void **unused)
{
	struct pair pair;

	begin_holding(&pair);
	kill(pair.child, SIGSTOP);
	waitpid(pair.child, NULL, WUNTRACED);
	go_on(&pair);
	end_holding(&pair);
}

/* How a cgroup is frozen, and thawed, and which line says that it is. */
static const struct version {
	const char *hierarchy;
	const char *file;
	const char *freeze;
	const char *thaw;
	const char *said_by;
	const char *said;
} versions[] = {
	{"/sys/fs/cgroup/freezer", "freezer.state", "FROZEN", "THAWED", "freezer.state", "FROZEN"  },
	{"/sys/fs/cgroup/unified", "cgroup.freeze", "1",      "0",      "cgroup.events", "frozen 1"},
	{"/sys/fs/cgroup",         "cgroup.freeze", "1",      "0",      "cgroup.events", "frozen 1"},
};

static bool put(const char *folder, const char *name, const char *text)
{
	char path[256];
	ssize_t written = -1;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		written = write(fd, text, strlen(text));
		close(fd);
	}
	return written == (ssize_t)strlen(text);
}

static bool says(const char *folder, const char *name, const char *line)
{
	char text[256] = "";
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	return strstr(text, line);
}

/* The child into a new cgroup, which is frozen; false: here there is none to be had. */
static bool freeze(const struct version *version, pid_t child, char folder[static 128])
{
	char number[16];

	snprintf(folder, 128, "%s/soft-test-%d", version->hierarchy, (int)child);
	snprintf(number, sizeof(number), "%d", (int)child);
	if (mkdir(folder, 0700))
		return false;
	if (put(folder, "cgroup.procs", number) && put(folder, version->file, version->freeze))
		for (int i = 0; i < TRIES; i++) {
			if (says(folder, version->said_by, version->said))
				return true;
			usleep(1000);
		}
	put(folder, version->file, version->thaw);
	return false;
}

/* Empty it is soon. */
static void remove_cgroup(const char *folder)
{
	for (int i = 0; i < TRIES && rmdir(folder) && errno == EBUSY; i++)
		usleep(1000);
}

/* As by docker pause. */
static void test_locks_of_one_that_is_frozen(void **unused)
{
	unsigned int count = 0;

	for (size_t i = 0; i < ARRAY_LENGTH(versions); i++) {
		char folder[128];
		struct pair pair;
		bool is_frozen;

		begin_holding(&pair);
		is_frozen = freeze(&versions[i], pair.child, folder);
		count += is_frozen;
		if (is_frozen) {
			go_on(&pair);
			put(folder, versions[i].file, versions[i].thaw);
		}
		end_holding(&pair);
		if (!is_frozen)
			stage_close(&pair.stage);
		remove_cgroup(folder);
	}
	if (!count) {
		print_message("# this machine lets nobody freeze anybody\n");
		skip();
	}
}

static void make(const char *root, const char *folder, const char *name, const char *text)
{
	char path[256];
	size_t used = (size_t)snprintf(path, sizeof(path), "%s", root);
	FILE *file;

	for (const char *at = folder; *at; at++) {
		path[used++] = *at;
		path[used] = '\0';
		if (at[1] == '/' || !at[1])
			mkdir(path, 0700);
	}
	snprintf(path + used, sizeof(path) - used, "/%s", name);
	file = fopen(path, "we");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* What the files of both versions look like: cgroups(7), cgroup-v2.rst, freezer-subsystem.rst. */
static void test_files_of_cgroups(void **unused)
{
	const char *root = stage_directory();

	make(root, "/proc/11", "cgroup", "12:pids:/a\n6:freezer:/docker/b\n0::/\n");
	make(root, "/proc/12", "cgroup", "0::/system.slice/c\n");
	make(root, "/proc/13", "cgroup", "0::/system.slice/d\n");
	make(root, "/proc/14", "cgroup", "6:freezer:/docker/e\n0::/f\n");
	make(root, "/proc/15", "cgroup", "garbage\n0::\n");
	make(root, "/sys/fs/cgroup/freezer/docker/b", "freezer.state", "FROZEN\n");
	make(root, "/sys/fs/cgroup/freezer/docker/e", "freezer.state", "FREEZING\n");
	make(root, "/sys/fs/cgroup/system.slice/c", "cgroup.events", "populated 1\nfrozen 1\n");
	make(root, "/sys/fs/cgroup/system.slice/d", "cgroup.events", "populated 1\nfrozen 0\n");
	assert_true(soft_frozen(root, 11));
	assert_true(soft_frozen(root, 12));
	assert_false(soft_frozen(root, 13));
	assert_false(soft_frozen(root, 14));
	make(root, "/sys/fs/cgroup/unified/f", "cgroup.events", "populated 1\nfrozen 1\n");
	assert_true(soft_frozen(root, 14));
	assert_false(soft_frozen(root, 15));
	assert_false(soft_frozen(root, 16));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_locks_of_one_that_is_killed, pair_end_child),
		cmocka_unit_test_teardown(test_locks_of_one_that_is_stopped, pair_end_child),
		cmocka_unit_test_teardown(test_locks_of_one_that_is_frozen, pair_end_child),
		cmocka_unit_test(test_files_of_cgroups),
	};

	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
