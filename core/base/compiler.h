/* SPDX-License-Identifier: MIT */
/* Compiler attributes and builtins, and the smaller and larger of two numbers. */
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

/* The struct of that type whose member is at this address. */
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

/* Tells the processor that this is a loop that waits. */
static inline void cpu_relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/*
 * Fetches a cache line for this processor alone. For x86-64 at large, compilers make of
 * __builtin_prefetch() an instruction that leaves the line with others, too; this one does
 * nothing on the few old processors that do not know it. Neither this nor what follows minds an
 * address where nothing is.
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
 * Moves a line that this processor wrote, and another one waits for, to the cache that both share.
 * It takes this one longer than to leave it where it is, the more so if it needs the line soon.
 * Processors that do not know it do nothing.
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
