/* SPDX-License-Identifier: MIT */
/*
 * Short-term locks in shared memory. The lock word names the process that holds it, so a waiter can
 * find out that the holder was killed and take the lock over. Therefore the guarded data must be
 * consistent after every single store, or the process that takes the lock over must repair it.
 * Waiting spins, then yields, then sleeps, so that one CPU is enough. A holder that is stopped
 * (SIGSTOP) loses the lock after a second, so a holder that did long work, or is about to publish
 * its result, must check that it still has the lock.
 */
#ifndef CORE_SOFT_PEER_LOCK_H
#define CORE_SOFT_PEER_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/compiler.h"

struct soft_lock {
	_Atomic uint32_t holder; /* 0: free */
};

/* This process's name in locks. Set once, before any lock is taken. */
extern uint32_t soft_lock_self;

/* Returns whether the named process is alive. Set together with soft_lock_self. */
extern bool (*soft_lock_is_alive)(uint32_t holder);

/*
 * Returns whether all threads of the named process are stopped. Set together with soft_lock_self.
 */
extern bool (*soft_lock_is_stopped)(uint32_t holder);

/* Slow path of soft_lock_take(). */
bool soft_lock_wait(struct soft_lock *lock);

static ALWAYS_INLINE bool soft_lock_try(struct soft_lock *lock)
{
	uint32_t free = 0;

	return atomic_compare_exchange_strong_explicit(&lock->holder, &free, soft_lock_self,
						       memory_order_acquire, memory_order_relaxed);
}

/* Takes the lock. Returns true if it was taken over from a dead or stopped process. */
static ALWAYS_INLINE bool soft_lock_take(struct soft_lock *lock)
{
	if (likely(soft_lock_try(lock)))
		return false;
	return soft_lock_wait(lock);
}

/* Returns false if another process took the lock over while this one was stopped. */
static ALWAYS_INLINE bool soft_lock_is_held(const struct soft_lock *lock)
{
	return atomic_load_explicit(&lock->holder, memory_order_relaxed) == soft_lock_self;
}

static ALWAYS_INLINE void soft_lock_release(struct soft_lock *lock)
{
	if (likely(soft_lock_is_held(lock)))
		atomic_store_explicit(&lock->holder, 0, memory_order_release);
}

/* Returns once the process that held the lock on entry has released it. */
static inline void soft_lock_pass(struct soft_lock *lock)
{
	soft_lock_take(lock);
	soft_lock_release(lock);
}

#endif
