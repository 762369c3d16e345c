/* SPDX-License-Identifier: MIT */
#include "bench/cli/progress.h"

#include <unistd.h>

#include "core/base/clock.h"

/* The elapsed time is used to correct the estimate once it is this long. */
#define BELIEVABLE_NS (2 * NS_PER_S)

void progress_init(struct progress *progress, FILE *out, bool is_forced, bool is_quiet,
		   uint64_t estimate_ns)
{
	bool is_shown = is_forced || (!is_quiet && isatty(fileno(out)));

	*progress = (struct progress){.out = is_shown ? out : NULL,
				      .start_ns = clock_now_ns(),
				      .estimate_ns = estimate_ns};
}

/* Returns the remaining time: the plan's estimate, scaled by the time that the run took so far. */
static uint64_t left_ns(const struct progress *progress, uint64_t elapsed_ns, uint64_t done_ns)
{
	uint64_t left = progress->estimate_ns - done_ns;

	if (elapsed_ns < BELIEVABLE_NS || !done_ns)
		return left;
	return (uint64_t)((double)left * (double)elapsed_ns / (double)done_ns);
}

void progress_show(const struct progress *progress, size_t number, size_t n_cases, const char *id,
		   uint64_t done_ns)
{
	uint64_t elapsed_ns = clock_now_ns() - progress->start_ns;

	if (!progress->out)
		return;
	fprintf(progress->out, "\r\033[K%zu/%zu %s  %.0f s, %.0f s left", number, n_cases, id,
		(double)elapsed_ns / (double)NS_PER_S,
		(double)left_ns(progress, elapsed_ns, done_ns) / (double)NS_PER_S);
	fflush(progress->out);
}

void progress_wipe(const struct progress *progress)
{
	if (!progress->out)
		return;
	fputs("\r\033[K", progress->out);
	fflush(progress->out);
}
