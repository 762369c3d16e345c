/* SPDX-License-Identifier: MIT */
#include "core/soft/peer/lock.h"

#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	SPINS = 200,
	YIELDS = 200,
	NAP_NS = 50000,
	NAPS_OF_ONE_STOPPED = 8000, /* half a second to a second */
};

uint32_t soft_lock_self = UINT32_MAX;
bool (*soft_lock_is_alive)(uint32_t holder);
bool (*soft_lock_is_stopped)(uint32_t holder);

static bool is_dead(uint32_t holder)
{
	return holder && holder != soft_lock_self && soft_lock_is_alive &&
	       !soft_lock_is_alive(holder);
}

static bool is_stopped(uint32_t holder, unsigned int naps)
{
	return naps && naps % NAPS_OF_ONE_STOPPED == 0 && holder && holder != soft_lock_self &&
	       soft_lock_is_stopped && soft_lock_is_stopped(holder);
}

bool soft_lock_wait(struct soft_lock *lock)
{
	static const struct timespec nap = {.tv_nsec = NAP_NS};

	for (unsigned int round = 0;; round++) {
		uint32_t holder = atomic_load_explicit(&lock->holder, memory_order_relaxed);

		if (!holder && soft_lock_try(lock))
			return false;
		if (round < SPINS) {
			cpu_relax();
		} else if (round < SPINS + YIELDS) {
			sched_yield();
		} else {
			if ((is_dead(holder) || is_stopped(holder, round - SPINS - YIELDS)) &&
			    atomic_compare_exchange_strong(&lock->holder, &holder, soft_lock_self))
				return true;
			/* Not a cancellation point: the caller may hold other locks. */
			syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &nap, NULL);
		}
	}
}
