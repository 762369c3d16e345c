/* SPDX-License-Identifier: MIT */
/* Compiler attributes and builtins; minimum and maximum. */
#ifndef CORE_BASE_COMPILER_H
#define CORE_BASE_COMPILER_H

#include <stddef.h>
#include <stdint.h>

#define ALWAYS_INLINE      inline __attribute__((always_inline))
#define COLD               __attribute__((cold, noinline))
#define FORMAT(text, rest) __attribute__((format(printf, text, rest)))

#define likely(condition)   __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Returns the struct that contains the member at this address. */
#define CONTAINER_OF(address, type, member) \
	((type *)(void *)((char *)(address)-offsetof(type, member)))

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Tells the CPU that this is a busy-wait loop. */
static inline void cpu_relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/*
 * Fetches a cache line exclusively for this CPU. On generic x86-64, compilers turn
 * __builtin_prefetch() into an instruction that leaves the line shared; this one is a no-op
 * on the few old CPUs that lack it. Invalid addresses are harmless, here and in demote.
 */
static inline void prefetch_to_write(const void *address)
{
#if defined(__x86_64__)
	__asm__ volatile("prefetchw %0" : : "m"(*(const char *)address));
#else
	__builtin_prefetch(address, 1);
#endif
}

/*
 * Moves a line that this CPU wrote and another CPU waits for to their shared cache. This
 * costs the writer time, especially if it needs the line again soon. A no-op on CPUs that
 * lack it.
 */
static inline void demote(const void *address)
{
#if defined(__x86_64__)
	__asm__ volatile("cldemote %0" : : "m"(*(const char *)address));
#else
	(void)address;
#endif
}

#endif
