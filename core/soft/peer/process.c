/* SPDX-License-Identifier: MIT */
#include "core/soft/peer/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "core/soft/cm/socket.h"
#include "core/soft/fault/fault.h"
#include "core/soft/link/progress.h"
#include "core/soft/op/cq.h"
#include "core/soft/op/event.h"
#include "core/soft/op/moderation.h"
#include "core/soft/op/qp.h"
#include "core/soft/op/receive_queue.h"
#include "core/soft/op/srq.h"
#include "core/soft/port.h"

struct soft_process soft_process = {
	.mutex = PTHREAD_MUTEX_INITIALIZER,
	.connect_mutex = PTHREAD_MUTEX_INITIALIZER,
	.lookup_mutex = PTHREAD_MUTEX_INITIALIZER,
	.contexts_mutex = PTHREAD_MUTEX_INITIALIZER,
	.gids_mutex = PTHREAD_MUTEX_INITIALIZER,
	.xrcds_mutex = PTHREAD_MUTEX_INITIALIZER,
	.windows_mutex = PTHREAD_MUTEX_INITIALIZER,
};

static bool is_alive(uint32_t holder)
{
	return soft_registry_is_alive(&soft_process.registry, holder & (SOFT_SLOTS - 1),
				      holder >> SOFT_SLOT_BITS);
}

static bool is_stopped(uint32_t holder)
{
	return soft_registry_is_stopped(&soft_process.registry, holder & (SOFT_SLOTS - 1),
					holder >> SOFT_SLOT_BITS);
}

static void finish(void)
{
	soft_service_close(&soft_process.service);
	soft_moderation_forget();
	soft_copy_server_close(&soft_process.copy_server);
	soft_cm_socket_close_all();
	soft_fault_end();
	soft_peer_leave_all();
	soft_door_close(&soft_process.door);
	soft_table_finish(&soft_process.qps);
	soft_table_finish(&soft_process.cqs);
	soft_table_finish(&soft_process.srqs);
	soft_table_finish(&soft_process.regions);
	soft_table_finish(&soft_process.channels);
	soft_arena_finish(&soft_process.arena);
	soft_registry_close(&soft_process.registry);
}

static int make_tables(void)
{
	const struct {
		struct soft_table *table;
		uint32_t first;
		uint32_t size;
	} tables[] = {
  /* Queue pair numbers 0 and 1 are special on every device. */
		{&soft_process.qps,      2, SOFT_QPS     },
		{&soft_process.cqs,      1, SOFT_CQS     },
		{&soft_process.srqs,     1, SOFT_SRQS    },
		{&soft_process.regions,  1, SOFT_REGIONS },
		{&soft_process.channels, 1, SOFT_CHANNELS},
	};
	int result = 0;

	for (size_t i = 0; i < ARRAY_LENGTH(tables) && !result; i++)
		result = soft_table_init(tables[i].table, tables[i].first, tables[i].size);
	return result;
}

/*
 * With Yama's ptrace scope 1, only ancestors may access a process's memory unless the process
 * permits others. This permits all processes of the user, as on systems without Yama.
 */
static void allow_ptrace(void)
{
	char scope = '0';
	int fd = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (read(fd, &scope, 1) == 1 && scope == '1')
		prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	close(fd);
}

/* Fills in the image once the process has its slot. */
static int init_image(void)
{
	struct soft_image *image = soft_process.arena.image;

	image->slot = soft_process.registry.slot;
	image->generation = soft_process.registry.generation;
	soft_lock_self = soft_registry_holder(image->slot, image->generation);
	soft_lock_is_alive = is_alive;
	soft_lock_is_stopped = is_stopped;
	soft_port_fill(image);
	allow_ptrace();
	soft_copy_server_open(&soft_process.copy_server);
	/* Do not soon reuse numbers of the slot's previous process. */
	soft_process.qps.next = 2 + image->generation * 64 % (SOFT_QPS - 64);
	return soft_service_open(&soft_process.service);
}

/* With an invalid link specification there is no device, so that the user notices. */
static int read_link(void)
{
	char why[SOFT_LINK_WHY] = "";
	int result = soft_link_parse(&soft_process.link, getenv(SOFT_LINK_VARIABLE), why);

	memset(&soft_process.lines, 0, sizeof(soft_process.lines));
	if (!result && soft_process.link.is_on && soft_fault_has_message_faults()) {
		snprintf(why, sizeof(why),
			 "a link model works only with faults of calls and events; "
			 "remove other faults from VERBMARK_SOFT_FAULTS");
		result = -EINVAL;
	}
	if (result)
		fprintf(stderr, "soft0: %s: %s\n", SOFT_LINK_VARIABLE, why);
	return result;
}

/* For comparisons with programs whose memory peers cannot map. */
static int read_copying(void)
{
	const char *text = getenv("VERBMARK_SOFT_COPY");

	soft_process.copies_by_kernel = text && !strcmp(text, "kernel");
	if (!text || !*text || soft_process.copies_by_kernel)
		return 0;
	fprintf(stderr, "soft0: VERBMARK_SOFT_COPY: unknown value '%.40s'; use 'kernel'\n", text);
	return -EINVAL;
}

static int soft_process_begin(void)
{
	int result = soft_fault_check();

	if (!result)
		result = read_link();
	if (!result)
		result = read_copying();
	if (result)
		return result;
	soft_progress_forget();
	result = soft_registry_open(&soft_process.registry);
	if (!result)
		result = soft_arena_create(&soft_process.arena);
	if (!result)
		result = make_tables();
	if (!result)
		result = init_image();
	if (!result) {
		soft_peer_init_self(&soft_process.self);
		atomic_store(&soft_process.peer[soft_process.registry.slot], &soft_process.self);
		result = soft_door_open(&soft_process.door);
	}
	if (!result)
		result = soft_fault_begin();
	if (!result)
		result = soft_service_start(&soft_process.service);
	if (result)
		finish();
	return result;
}

/* In a forked child, forgets the parent's state without touching it: the parent still uses it. */
static void forget_parent(void)
{
	memset(&soft_process, 0, sizeof(soft_process));
	pthread_mutex_init(&soft_process.mutex, NULL);
	pthread_mutex_init(&soft_process.connect_mutex, NULL);
	pthread_mutex_init(&soft_process.lookup_mutex, NULL);
	pthread_mutex_init(&soft_process.contexts_mutex, NULL);
	pthread_mutex_init(&soft_process.gids_mutex, NULL);
	pthread_mutex_init(&soft_process.xrcds_mutex, NULL);
	pthread_mutex_init(&soft_process.windows_mutex, NULL);
	soft_progress_forget();
	soft_moderation_forget();
	soft_cm_socket_forget_all();
}

int soft_process_enter(void)
{
	int result = 0;

	if (soft_process.users && soft_process.pid != getpid())
		forget_parent();
	pthread_mutex_lock(&soft_process.mutex);
	if (!soft_process.users) {
		soft_process.pid = getpid();
		result = soft_process_begin();
	}
	if (!result)
		soft_process.users++;
	pthread_mutex_unlock(&soft_process.mutex);
	return result;
}

void soft_process_leave(void)
{
	/* In a forked child the arena, copy server and socket belong to the parent. */
	if (soft_process.pid != getpid())
		return;
	pthread_mutex_lock(&soft_process.mutex);
	if (!--soft_process.users)
		finish();
	pthread_mutex_unlock(&soft_process.mutex);
}

/* In a forked child, objects that it inherited are not counted. */
void soft_process_count(enum soft_kind kind, int by)
{
	const struct soft_registry *registry = &soft_process.registry;

	if (registry->file && soft_process.pid == getpid())
		atomic_fetch_add(&registry->file->counts[registry->slot].of[kind], (uint32_t)by);
}

static void repair_srq(void *object)
{
	struct soft_queue *queue = &((struct soft_srq *)object)->image->queue;

	soft_queue_hold(queue);
	soft_lock_release(&queue->lock);
}

void soft_process_quiesce(void)
{
	soft_table_each(&soft_process.qps, soft_qp_pass);
	soft_table_each(&soft_process.cqs, soft_cq_pass);
}

void soft_process_repair(void)
{
	soft_table_each(&soft_process.cqs, soft_cq_repair);
	soft_table_each(&soft_process.srqs, repair_srq);
	soft_table_each(&soft_process.qps, soft_qp_repair);
	soft_event_distribute();
	soft_progress_failed();
}

/* Many programs exit without closing the device. */
__attribute__((destructor)) static void retire(void)
{
	if (soft_process.users && soft_process.pid == getpid())
		soft_registry_retire(&soft_process.registry);
}
