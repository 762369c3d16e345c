/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sys/mman.h>

#include "bench/op/op.h"
#include "bench/op/timed_call.h"

/* Gives the pages back to the kernel, so that registration must fault them in. */
static int forget_pages(struct timed_call *calling, struct error *error)
{
	const struct memory *memory = &calling->lane->other;

	if (calling->lane->settings.parameters->pages == PAGES_TOUCHED ||
	    !madvise(memory->cpu, memory->size, MADV_DONTNEED))
		return 0;
	return error_set_errno(
		error, -errno,
		"cannot return pages to the kernel; huge pages need Linux 5.18 or later");
}

static int latency(struct lane *lane, const struct loop_run *run, struct error *error)
{
	static const struct call_kind kind = {
		.before = forget_pages, .timed = calling_register, .after = calling_deregister};

	return timed_call_run(lane, run, &kind, error);
}

const struct op_loops op_register = {
	.latency = latency,
};
