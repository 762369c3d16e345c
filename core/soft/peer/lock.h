/* SPDX-License-Identifier: MIT */
/*
 * Locks for shared memory, held for moments. The word names the process that holds
 * it, so that whoever waits long finds out that the holder was killed, and takes the
 * lock over: what it guards must be in order after each single store, or be mended by
 * who is told that it took over. Waiting spins, then yields, then sleeps, so that one
 * processor is enough. A holder that is stopped (SIGSTOP) loses the lock after a second, so a
 * holder that did long work, or is about to publish its result, checks that it still has the lock.
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

/* What this process is called in locks: set once, before any lock is taken. */
extern uint32_t soft_lock_self;

/* Whether the process of that name lives: set beside it. */
extern bool (*soft_lock_is_alive)(uint32_t holder);

/* Whether none of its threads may run: set beside it. */
extern bool (*soft_lock_is_stopped)(uint32_t holder);

/* The long way. Whether it was taken over from a process that is dead, or stopped. */
bool soft_lock_wait(struct soft_lock *lock);

static ALWAYS_INLINE bool soft_lock_try(struct soft_lock *lock)
{
	uint32_t free = 0;

	return atomic_compare_exchange_strong_explicit(&lock->holder, &free, soft_lock_self,
						       memory_order_acquire, memory_order_relaxed);
}

/* The same, which is false where nobody had it. */
static ALWAYS_INLINE bool soft_lock_take(struct soft_lock *lock)
{
	if (likely(soft_lock_try(lock)))
		return false;
	return soft_lock_wait(lock);
}

/* False where it was taken over while this process was stopped. */
static ALWAYS_INLINE bool soft_lock_is_held(const struct soft_lock *lock)
{
	return atomic_load_explicit(&lock->holder, memory_order_relaxed) == soft_lock_self;
}

static ALWAYS_INLINE void soft_lock_release(struct soft_lock *lock)
{
	if (likely(soft_lock_is_held(lock)))
		atomic_store_explicit(&lock->holder, 0, memory_order_release);
}

/* Returns when whoever held the lock on entry holds it no more. */
static inline void soft_lock_pass(struct soft_lock *lock)
{
	soft_lock_take(lock);
	soft_lock_release(lock);
}

#endif
