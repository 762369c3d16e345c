/* SPDX-License-Identifier: MIT */
#include "core/test/lib/progress.h"

#include <sys/mman.h>
#include <unistd.h>

atomic_size_t *progress;

int progress_share(void **unused)
{
	progress = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return progress == MAP_FAILED;
}

void progress_await(struct agent *one, struct agent *other, size_t steps)
{
	uint64_t deadline = clock_deadline(PATIENCE_MS);

	while (atomic_load(progress) < steps && clock_left_ms(deadline) && !agent_has_ended(one) &&
	       !agent_has_ended(other))
		usleep(100);
	if (agent_has_ended(one))
		fail_msg("an agent ended: %s", agent_end(one).reason);
	if (agent_has_ended(other))
		fail_msg("an agent ended: %s", agent_end(other).reason);
	assert_true(atomic_load(progress) >= steps);
}

static int run_loop(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	int result = 0;

	while (!result) {
		switch ((enum looping)task->a) {
		case LOOPING_NOT:
			return 0;
		case LOOPING_SEND:
			result = rdma_send(ctx, 64);
			break;
		case LOOPING_RECV:
			result = rdma_recv(ctx, NULL);
			break;
		case LOOPING_WRITE:
			result = rdma_write(ctx, 0, 0, 1000);
			break;
		case LOOPING_READ:
			result = rdma_read(ctx, 0, 0, 1000);
			break;
		}
		atomic_fetch_add(progress, 1);
	}
	return result;
}

struct task task_loop(enum looping looping)
{
	return (struct task){.run = run_loop, .a = looping};
}
