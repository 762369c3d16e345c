/* SPDX-License-Identifier: MIT */
#include "core/soft/fault/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/soft/time.h"

enum {
	PLAN_MAX = 16384,
	REPORT_MAX = 32768,
};

bool soft_fault_is_planned;

static struct soft_fault_plan plan;
static uint64_t loaded_ns;
static _Atomic uint64_t calls[SOFT_CALLS];
static _Atomic uint64_t events[RDMA_CM_EVENT_TIMEWAIT_EXIT + 1];
static _Atomic uint64_t others[SOFT_FAULT_DEVICE + 1];

static _Atomic uint64_t *counter(enum soft_fault_kind kind, uint32_t which)
{
	if (kind == SOFT_FAULT_CALL)
		return &calls[which];
	return kind == SOFT_FAULT_CM ? &events[which] : &others[kind];
}

static bool is_met(const struct soft_fault *fault, enum soft_fault_kind kind, uint32_t which,
		   uint64_t n)
{
	if (fault->kind != kind || fault->which != which)
		return false;
	return n == fault->n || (fault->is_lasting && n > fault->n);
}

const struct soft_fault *soft_fault_next(enum soft_fault_kind kind, uint32_t which)
{
	uint64_t n = atomic_fetch_add(counter(kind, which), 1) + 1;

	for (uint32_t i = 0; i < plan.count; i++) {
		struct soft_fault *fault = &plan.fault[i];

		if (is_met(fault, kind, which, n)) {
			atomic_fetch_add(&fault->fired, 1);
			return fault;
		}
	}
	return NULL;
}

static void sleep_for(uint64_t time_ns)
{
	struct timespec left = soft_time_split(time_ns);

	while (nanosleep(&left, &left) && errno == EINTR)
		continue;
}

/*
 * Returns whether the call creates an object or needs the kernel, and so fails on a removed device.
 */
static bool needs_device(enum soft_call call)
{
	static const char *const beginnings[] = {
		"ibv_alloc",       "ibv_attach_mcast",    "ibv_create",
		"ibv_modify",      "ibv_open_device",     "ibv_query",
		"ibv_reg",         "ibv_resize",          "rdma_create_qp",
		"rdma_create_srq", "rdma_join_multicast", "mlx5dv_create",
		"efadv_create",
	};
	const char *name = soft_fault_call_name(call);

	for (size_t i = 0; i < ARRAY_LENGTH(beginnings); i++)
		if (!strncmp(name, beginnings[i], strlen(beginnings[i])))
			return true;
	return false;
}

int soft_fault_call(enum soft_call call)
{
	const struct soft_fault *fault = soft_fault_next(SOFT_FAULT_CALL, call);

	if (fault && fault->act == SOFT_FAULT_STALL)
		sleep_for(fault->value);
	else if (fault)
		return (int)fault->value;
	return soft_fault_is_removed() && needs_device(call) ? EIO : 0;
}

int soft_fault_check(void)
{
	static atomic_flag is_reported = ATOMIC_FLAG_INIT;

	if (likely(!*plan.wrong))
		return 0;
	if (!atomic_flag_test_and_set(&is_reported))
		fprintf(stderr, "soft0: VERBMARK_SOFT_FAULTS: %s\n", plan.wrong);
	return -EINVAL;
}

bool soft_fault_has_message_faults(void)
{
	for (uint32_t i = 0; i < plan.count; i++)
		if (plan.fault[i].kind != SOFT_FAULT_CALL && plan.fault[i].kind != SOFT_FAULT_CM)
			return true;
	return false;
}

uint64_t soft_fault_fired(const char *text)
{
	uint64_t fired = 0;

	for (uint32_t i = 0; i < plan.count; i++)
		if (!strcmp(plan.fault[i].text, text))
			fired += atomic_load(&plan.fault[i].fired);
	return fired;
}

uint64_t soft_fault_clock(uint64_t now_ns)
{
	uint64_t earliest = UINT64_MAX;

	for (uint32_t i = 0; i < plan.count; i++) {
		struct soft_fault *fault = &plan.fault[i];
		uint64_t due_ns = loaded_ns + fault->after_ns;

		if (fault->kind != SOFT_FAULT_DEVICE || fault->n || atomic_load(&fault->fired))
			continue;
		if (due_ns <= now_ns) {
			atomic_store(&fault->fired, 1);
			soft_fault_remove();
		} else if (due_ns < earliest) {
			earliest = due_ns;
		}
	}
	return earliest;
}

void soft_fault_load(const char *text)
{
	memset(calls, 0, sizeof(calls));
	memset(events, 0, sizeof(events));
	memset(others, 0, sizeof(others));
	soft_fault_plan_parse(&plan, text ? text : "");
	soft_fault_reset();
	loaded_ns = soft_time_ns();
	soft_fault_is_planned = text != NULL;
}

static char *read_plan(const char *path)
{
	char *text = calloc(1, PLAN_MAX);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 || !text ? -1 : read(fd, text, PLAN_MAX - 1);

	if (fd >= 0)
		close(fd);
	if (length >= 0)
		return text;
	snprintf(plan.wrong, sizeof(plan.wrong), "cannot read %.100s: %s", path, strerror(errno));
	free(text);
	return NULL;
}

__attribute__((constructor)) static void load(void)
{
	const char *text = getenv("VERBMARK_SOFT_FAULTS");
	char *file;

	if (!text || !*text)
		return;
	if (*text != '@') {
		soft_fault_load(text);
		return;
	}
	file = read_plan(text + 1);
	soft_fault_is_planned = true;
	if (file)
		soft_fault_load(file);
	free(file);
}

struct report {
	size_t length;
	char text[REPORT_MAX];
};

__attribute__((format(printf, 2, 3))) static void print_line(struct report *report,
							     const char *format, ...)
{
	char *at = report->text + report->length;
	size_t room = sizeof(report->text) - report->length;
	int head = snprintf(at, room, "soft0: %s[%d]: ", program_invocation_short_name, getpid());
	va_list list;
	int body;

	if (head < 0 || (size_t)head >= room)
		return;
	va_start(list, format);
	body = vsnprintf(at + head, room - (size_t)head, format, list);
	va_end(list);
	if (body >= 0 && (size_t)(head + body) + 1 < room) {
		report->length += (size_t)(head + body) + 1;
		at[head + body] = '\n';
	}
}

static void print_faults(struct report *report)
{
	for (uint32_t i = 0; i < plan.count; i++) {
		const struct soft_fault *fault = &plan.fault[i];
		unsigned long long fired = atomic_load(&fault->fired);

		if (fired)
			print_line(report, "fired %llu: %s", fired, fault->text);
		else
			print_line(report, "never fired: %s", fault->text);
	}
}

static void print_count(struct report *report, uint64_t count, const char *what, const char *name)
{
	if (count)
		print_line(report, "count %llu: %s%s", (unsigned long long)count, what, name);
}

static void print_counts(struct report *report)
{
	static const struct {
		enum soft_fault_kind kind;
		const char *name;
	} kinds[] = {
		{SOFT_FAULT_MESSAGE,    "message"   },
		{SOFT_FAULT_SEND,       "send"      },
		{SOFT_FAULT_RECEIVE,    "receive"   },
		{SOFT_FAULT_COMPLETION, "completion"},
	};

	for (uint32_t i = 0; i < SOFT_CALLS; i++)
		print_count(report, calls[i], "", soft_fault_call_name(i));
	for (uint32_t i = 0; i < ARRAY_LENGTH(events); i++)
		print_count(report, events[i], "cm:", soft_fault_event_name(i));
	for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++)
		print_count(report, others[kinds[i].kind], "", kinds[i].name);
}

/* Writes the report in one piece, because processes may share the file. */
__attribute__((destructor)) static void report_all(void)
{
	static struct report report;
	int fd = STDERR_FILENO;
	ssize_t written;

	if (!plan.reports)
		return;
	print_faults(&report);
	if (plan.counts)
		print_counts(&report);
	if (*plan.report)
		fd = open(plan.report, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	written = fd < 0 ? -1 : write(fd, report.text, report.length);
	if (written < 0)
		fprintf(stderr, "soft0: cannot write the fault report to %s: %s\n", plan.report,
			strerror(errno));
	if (fd > STDERR_FILENO)
		close(fd);
}
