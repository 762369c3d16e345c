/* SPDX-License-Identifier: MIT */
/*
 * GPUs and their memory, through the drivers' libraries. A library is loaded when it is first
 * needed, and stays loaded. Functions return 0 or a negative errno and name the driver's call that
 * failed. They may be called from any thread: each makes its GPU the thread's current one.
 */
#ifndef CORE_MEMORY_GPU_H
#define CORE_MEMORY_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

#define GPU_MAX 64 /* GPUs of a driver */

/* A GPU as its driver describes it. */
struct gpu {
	char name[64];
	char address[16]; /* on the PCI bus, as in sysfs: 0000:17:00.0 */
	char driver[32];  /* "CUDA 12.4": the newest interface that the driver has */
};

enum gpu_place {
	GPU_PLACE_DEVICE,  /* in the GPU; the CPU cannot access it */
	GPU_PLACE_MANAGED, /* migrates between GPU and host */
	GPU_PLACE_PINNED,  /* in the host, mapped into the GPU */
};

struct gpu_driver {
	const char *name; /* of its kind of memory: cuda */
	/* Loads the library and counts the GPUs, of which there is at least one. */
	int (*count)(unsigned int *count, struct error *error);
	int (*describe)(unsigned int index, struct gpu *gpu, struct error *error);
	/* Opens the GPU. Each open needs one close. */
	int (*open)(unsigned int index, struct error *error);
	void (*close)(unsigned int index);
	int (*allocate)(unsigned int index, enum gpu_place place, size_t size, uint64_t *address,
			struct error *error);
	void (*release)(unsigned int index, enum gpu_place place, uint64_t address);
	/* Zero and copy bytes. The bytes have arrived when the function returns. */
	int (*clear)(unsigned int index, uint64_t address, size_t size, struct error *error);
	int (*read)(unsigned int index, void *into, uint64_t address, size_t size,
		    struct error *error);
	int (*write)(unsigned int index, uint64_t address, const void *from, size_t size,
		     struct error *error);
	/* Fails if the driver cannot export memory of the GPU as a dma-buf. */
	int (*check_dmabuf)(unsigned int index, struct error *error);
	/* Exports whole pages as a dma-buf. Sets *offset to where they begin in it. */
	int (*export_dmabuf)(unsigned int index, uint64_t address, size_t size, int *fd,
			     uint64_t *offset, struct error *error);
};

extern const struct gpu_driver gpu_cuda;
extern const struct gpu_driver gpu_rocm;

/* A function of a library and where its address goes. */
struct gpu_symbol {
	const char *name;
	size_t offset;
	bool is_optional; /* NULL in older libraries */
};

/*
 * Loads the first library of the names, which NULL ends, and fills the table with its functions.
 * The advice, which names the package to install, is added to the error.
 */
int gpu_load(void *table, const char *const *names, const struct gpu_symbol *symbols, size_t count,
	     const char *advice, struct error *error);

/* Sets *text to the address in sysfs's form: lower case, four digits of domain. */
void gpu_set_address(struct gpu *gpu, const char *text);

#endif
