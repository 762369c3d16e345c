/* SPDX-License-Identifier: MIT */
/*
 * Memory that a device accesses: the buffers that messages are sent from and received into. A kind
 * of memory is a const struct memory_kind, declared below. The owner of a struct memory closes it;
 * a zeroed one is closed. Payload is read and written through the functions below only, since the
 * CPU may be unable to access the bytes directly.
 */
#ifndef CORE_MEMORY_MEMORY_H
#define CORE_MEMORY_MEMORY_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/base/error.h"
#include "core/base/memory_choice.h"

struct gpu_driver;

struct memory {
	const struct memory_kind *kind; /* NULL: closed */
	uint64_t address;               /* in work requests; 0 is valid */
	char *cpu;                      /* the same bytes for the CPU; NULL: not accessible */
	size_t size;                    /* bytes, in whole pages */
	size_t page;                    /* bytes of a page */
	int file;                       /* descriptor that peers may map; 0: none */
	int numa_node;                  /* the requested node; negative: the kernel's choice */
	size_t promised;                /* bytes reserved and not yet touched; see pages_promise */
	void *state;                    /* the kind's own; NULL: none */
	char detail[MEMORY_TEXT];       /* as requested; empty: none */
};

/* A buffer to allocate. The memory keeps a copy of the detail; the device must outlive it. */
struct memory_request {
	size_t size;                /* bytes, at least */
	int numa_node;              /* negative: the kernel chooses */
	struct ibv_context *device; /* that will access the memory; NULL: unknown */
	const char *detail;         /* "0,path=dmabuf" of "cuda:0,path=dmabuf"; NULL: none */
};

/* Facts for the result, empty where they do not apply. */
struct memory_facts {
	char path[32];   /* how the device reaches the bytes: "ibv_reg_dmabuf_mr" */
	char owner[64];  /* the device that has them: "NVIDIA H100 PCIe" */
	char driver[64]; /* of the owner, with its version */
	char pcie[32];   /* address of the owner: "0000:3b:00.0" */
};

/*
 * Optional members may be NULL. Memory without cpu needs read and write, which may be called by
 * any thread, one at a time: a kind whose driver needs a context makes it current there.
 */
struct memory_kind {
	const char *name;   /* a row of kinds in bench/plan/parameter_table.c explains it */
	const char *detail; /* of a text without one; NULL: none */
	/*
	 * Optional: rejects a detail that can never be valid, and rewrites others of the same
	 * meaning to one spelling, which is no longer. NULL: there are no details.
	 */
	int (*parse)(char detail[static MEMORY_TEXT], struct error *error);
	/* Optional: returns whether memory of that detail (may be NULL) has cpu. NULL: always. */
	bool (*is_polled)(const char *detail);
	/* Optional: returns whether the peer gets no access to memory of that detail. */
	bool (*is_private)(const char *detail);
	/*
	 * Optional: copies the path that allocate will open, MEMORY_TEXT bytes at most. Returns
	 * false if the detail has no path.
	 */
	bool (*path)(const char *detail, char *path);
	/*
	 * Optional: fails if the memory cannot work with this device, driver or detail; the error
	 * includes the fix. Allocates nothing. Called before anything runs.
	 */
	int (*check)(const struct memory_request *request, struct error *error);
	/*
	 * Allocates zeroed memory. *memory is zeroed but for kind and detail; sets the rest but
	 * state as far as they apply. On failure *memory may be half-built.
	 */
	int (*allocate)(struct memory *memory, const struct memory_request *request,
			struct error *error);
	/* Accepts memory that a failed allocation left half-built. */
	void (*release)(struct memory *memory);
	/* Registers length bytes from offset on. Returns NULL and sets the error on failure. */
	struct ibv_mr *(*register_region)(const struct memory *memory, size_t offset, size_t length,
					  struct ibv_pd *pd, int access, struct error *error);
	/* Copy bytes out and in. Called only for memory that the CPU cannot access. */
	void (*read)(const struct memory *memory, size_t offset, void *into, size_t length);
	void (*write)(const struct memory *memory, size_t offset, const void *from, size_t length);
	/* Optional: zeroes bytes that the CPU cannot access, faster than writes. */
	void (*clear)(const struct memory *memory, size_t offset, size_t length);
	/* Optional: returns the error of the first copy that failed, or 0. */
	int (*copy_error)(const struct memory *memory, struct error *error);
	/* Optional: adds facts to a zeroed struct. */
	void (*describe)(const struct memory *memory, struct memory_facts *facts);
	const struct gpu_driver *gpu; /* allocates the memory; its detail may name a GPU */
	bool is_kept;                 /* memory_keep keeps it: it belongs to no device */
};

extern const struct memory_kind memory_host;   /* ordinary pages */
extern const struct memory_kind memory_shared; /* in a sealed memfd; ordinary without one */
extern const struct memory_kind memory_huge;   /* huge pages, or an error */
extern const struct memory_kind memory_file;
extern const struct memory_kind memory_dax;
extern const struct memory_kind memory_odp;
extern const struct memory_kind memory_nic;
extern const struct memory_kind memory_dmabuf;
extern const struct memory_kind memory_null; /* no memory: zeros are sent, data is dropped */

extern const struct memory_kind memory_cuda; /* an NVIDIA GPU's own */
extern const struct memory_kind memory_cuda_managed;
extern const struct memory_kind memory_cuda_pinned;
extern const struct memory_kind memory_rocm; /* an AMD GPU's own */

/* For parse: returns whether the detail is that word in any case, and rewrites it if so. */
bool memory_is_word(char detail[static MEMORY_TEXT], const char *word);
/* For parse: removes leading zeros from the number. */
void memory_drop_zeros(char *number);

/*
 * Fails if the kind cannot work, with the reason and what to do. Needs the request's device and
 * detail only.
 */
int memory_check(const struct memory_kind *kind, const struct memory_request *request,
		 struct error *error);

/* The memory is zeroed. */
int memory_open(struct memory *memory, const struct memory_kind *kind,
		const struct memory_request *request, struct error *error);
void memory_close(struct memory *memory);

/*
 * Like memory_open, but reuses the spare memory if it is as requested, because its pages are
 * already present. Closes the spare memory otherwise.
 */
int memory_take(struct memory *memory, struct memory *spare, const struct memory_kind *kind,
		const struct memory_request *request, struct error *error);
/* Instead of memory_close: closes *spare, and moves the memory there if its kind is kept. */
void memory_keep(struct memory *memory, struct memory *spare);

/* Returns what is known about the memory. */
struct memory_facts memory_describe(const struct memory *memory);

/* Returns the error of the first access by the functions below that failed, or 0. */
int memory_copy_error(const struct memory *memory, struct error *error);

/* Returns the NUMA node of the first and the last page, or -1 if they differ or are unknown. */
int memory_node(const struct memory *memory);

/* Registers length bytes from offset on. Returns NULL and sets the error on failure. */
struct ibv_mr *memory_register(const struct memory *memory, size_t offset, size_t length,
			       struct ibv_pd *pd, int access, struct error *error);

static inline void memory_read(const struct memory *memory, size_t offset, void *into,
			       size_t length)
{
	if (likely(memory->cpu))
		memcpy(into, memory->cpu + offset, length);
	else
		memory->kind->read(memory, offset, into, length);
}

static inline void memory_write(const struct memory *memory, size_t offset, const void *from,
				size_t length)
{
	if (likely(memory->cpu))
		memcpy(memory->cpu + offset, from, length);
	else
		memory->kind->write(memory, offset, from, length);
}

/* Zeroes length bytes from offset on. */
void memory_clear(const struct memory *memory, size_t offset, size_t length);

/* Loads one byte, and whatever was written before it. Polling loops call this. */
static ALWAYS_INLINE uint8_t memory_peek(const struct memory *memory, size_t offset)
{
	uint8_t byte;

	if (likely(memory->cpu))
		return __atomic_load_n((uint8_t *)memory->cpu + offset, __ATOMIC_ACQUIRE);
	memory->kind->read(memory, offset, &byte, 1);
	return byte;
}

/* Stores one byte. */
static ALWAYS_INLINE void memory_poke(const struct memory *memory, size_t offset, uint8_t byte)
{
	if (likely(memory->cpu))
		memory->cpu[offset] = (char)byte;
	else
		memory->kind->write(memory, offset, &byte, 1);
}

#endif
