/* SPDX-License-Identifier: MIT */
#include "core/soft/lock.h"

#include <sched.h>
#include <time.h>

enum {
	SPINS = 200,
	YIELDS = 200,
};

uint32_t soft_lock_self = UINT32_MAX;
bool (*soft_lock_is_alive)(uint32_t holder);

static bool is_dead(uint32_t holder)
{
	return holder && holder != soft_lock_self && soft_lock_is_alive &&
	       !soft_lock_is_alive(holder);
}

bool soft_lock_wait(struct soft_lock *lock)
{
	static const struct timespec nap = {.tv_nsec = 50000};

	for (unsigned int round = 0;; round++) {
		uint32_t holder = atomic_load_explicit(&lock->holder, memory_order_relaxed);

		if (!holder && soft_lock_try(lock))
			return false;
		if (round < SPINS) {
			cpu_relax();
		} else if (round < SPINS + YIELDS) {
			sched_yield();
		} else {
			if (is_dead(holder) &&
			    atomic_compare_exchange_strong(&lock->holder, &holder, soft_lock_self))
				return true;
			nanosleep(&nap, NULL);
		}
	}
}
