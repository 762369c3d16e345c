/* SPDX-License-Identifier: MIT */
/* NVIDIA's GPUs, by the driver interface of libcuda.so.1: its stable part, declared here. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include "core/base/printable.h"
#include "core/memory/gpu.h"

#define CUDA_OUT_OF_MEMORY  2
#define CUDA_STUB           34
#define CUDA_NO_DEVICE      100
#define CUDA_NOT_SUPPORTED  801
#define CUDA_OTHER_VERSION  803
#define CUDA_UNKNOWN        999
#define CUDA_EXPORTS_DMABUF 124 /* attribute of a device */
#define CUDA_SYNC_MEMORY    6   /* attribute of a pointer */
#define CUDA_ATTACH_GLOBAL  1
#define CUDA_HOST_PORTABLE  1
#define CUDA_HOST_MAPPED    2
#define CUDA_RANGE_DMABUF   1

/* A context is opaque; a device and an address in the GPU are numbers. */
static struct cuda {
	int (*init)(unsigned int flags);
	int (*driver_version)(int *version);
	int (*error_name)(int code, const char **text);
	int (*error_text)(int code, const char **text);
	int (*device_count)(int *count);
	int (*device_get)(int *device, int index);
	int (*device_name)(char *name, int length, int device);
	int (*device_address)(char *address, int length, int device);
	int (*device_attribute)(int *value, int attribute, int device);
	int (*context_retain)(void **context, int device);
	int (*context_release)(int device);
	int (*context_set)(void *context);
	int (*context_wait)(void);
	int (*allocate)(unsigned long long *address, size_t size);
	int (*allocate_managed)(unsigned long long *address, size_t size, unsigned int flags);
	int (*allocate_host)(void **address, size_t size, unsigned int flags);
	int (*release)(unsigned long long address);
	int (*release_host)(void *address);
	int (*set_attribute)(const void *value, int attribute, unsigned long long address);
	int (*clear)(unsigned long long address, unsigned char byte, size_t size);
	int (*write)(unsigned long long to, const void *from, size_t size);
	int (*read)(void *to, unsigned long long from, size_t size);
	int (*export)(void *handle, unsigned long long address, size_t size, int kind,
		      unsigned long long flags);
} cuda;

static const struct gpu_symbol symbols[] = {
	{"cuInit",			offsetof(struct cuda, init),             false},
	{"cuDriverGetVersion",            offsetof(struct cuda, driver_version),   false},
	{"cuGetErrorName",                offsetof(struct cuda, error_name),       false},
	{"cuGetErrorString",              offsetof(struct cuda, error_text),       false},
	{"cuDeviceGetCount",              offsetof(struct cuda, device_count),     false},
	{"cuDeviceGet",                   offsetof(struct cuda, device_get),       false},
	{"cuDeviceGetName",               offsetof(struct cuda, device_name),      false},
	{"cuDeviceGetPCIBusId",           offsetof(struct cuda, device_address),   false},
	{"cuDeviceGetAttribute",          offsetof(struct cuda, device_attribute), false},
	{"cuDevicePrimaryCtxRetain",      offsetof(struct cuda, context_retain),   false},
	{"cuDevicePrimaryCtxRelease_v2",  offsetof(struct cuda, context_release),  false},
	{"cuCtxSetCurrent",               offsetof(struct cuda, context_set),      false},
	{"cuCtxSynchronize",              offsetof(struct cuda, context_wait),     false},
	{"cuMemAlloc_v2",                 offsetof(struct cuda, allocate),         false},
	{"cuMemAllocManaged",             offsetof(struct cuda, allocate_managed), false},
	{"cuMemHostAlloc",                offsetof(struct cuda, allocate_host),    false},
	{"cuMemFree_v2",                  offsetof(struct cuda, release),          false},
	{"cuMemFreeHost",                 offsetof(struct cuda, release_host),     false},
	{"cuPointerSetAttribute",         offsetof(struct cuda, set_attribute),    false},
	{"cuMemsetD8_v2",                 offsetof(struct cuda, clear),            false},
	{"cuMemcpyHtoD_v2",               offsetof(struct cuda, write),            false},
	{"cuMemcpyDtoH_v2",               offsetof(struct cuda, read),             false},
	{"cuMemGetHandleForAddressRange", offsetof(struct cuda, export),           true },
};

/* Fixes for codes that users meet. */
static const char *hint(int code)
{
	switch (code) {
	case CUDA_OUT_OF_MEMORY:
		return "; 'nvidia-smi' shows who uses the GPU's memory";
	case CUDA_STUB:
		return "; libcuda.so.1 is the toolkit's stub: remove its folder from "
		       "LD_LIBRARY_PATH";
	case CUDA_NO_DEVICE:
		return "; the driver sees no GPU: check CUDA_VISIBLE_DEVICES, /dev/nvidia* and "
		       "'lspci -d 10de:'";
	case CUDA_OTHER_VERSION:
		return "; libcuda.so.1 and the module nvidia have different versions: reboot, or "
		       "reload the module";
	case CUDA_UNKNOWN:
		return "; try 'modprobe nvidia_uvm'";
	default:
		return "";
	}
}

static int errno_of(int code)
{
	switch (code) {
	case CUDA_OUT_OF_MEMORY:
		return -ENOMEM;
	case CUDA_STUB:
	case CUDA_NO_DEVICE:
	case CUDA_OTHER_VERSION:
		return -EOPNOTSUPP; /* this host has no such memory */
	default:
		return -EIO;
	}
}

static int failed(int code, const char *call, unsigned int index, struct error *error)
{
	const char *name = NULL;
	const char *text = NULL;

	cuda.error_name(code, &name);
	cuda.error_text(code, &text);
	return error_set(error, errno_of(code), "%s on GPU %u: %s (%s)%s", call, index,
			 name ? name : "unknown error", text ? text : "no description", hint(code));
}

static int cuda_load(struct error *error)
{
	static const char *const names[] = {"libcuda.so.1", NULL};
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static bool is_loaded;
	int code = 0;

	pthread_mutex_lock(&lock);
	if (!is_loaded)
		code = gpu_load(&cuda, names, symbols, ARRAY_LENGTH(symbols),
				"install the NVIDIA driver, whose packages have this library",
				error);
	is_loaded = !code;
	pthread_mutex_unlock(&lock);
	return code;
}

static int cuda_count(unsigned int *count, struct error *error)
{
	int found = 0;
	int code = cuda_load(error);

	if (code)
		return code;
	code = cuda.init(0);
	if (code)
		return failed(code, "cuInit", 0, error);
	code = cuda.device_count(&found);
	if (code || found < 1)
		return failed(code ? code : CUDA_NO_DEVICE, "cuDeviceGetCount", 0, error);
	*count = (unsigned int)found;
	return 0;
}

/* Gets the driver's handle of a GPU. */
static int get(unsigned int index, int *device, struct error *error)
{
	int code = cuda.device_get(device, (int)index);

	return code ? failed(code, "cuDeviceGet", index, error) : 0;
}

static int cuda_describe(unsigned int index, struct gpu *gpu, struct error *error)
{
	char text[64] = "";
	int version = 0;
	int device;
	int code = get(index, &device, error);

	if (code)
		return code;
	*gpu = (struct gpu){0};
	code = cuda.device_name(text, sizeof(text), device);
	if (code)
		return failed(code, "cuDeviceGetName", index, error);
	printable_copy(gpu->name, sizeof(gpu->name), text);
	code = cuda.device_address(text, sizeof(text), device);
	if (code)
		return failed(code, "cuDeviceGetPCIBusId", index, error);
	gpu_set_address(gpu, text);
	code = cuda.driver_version(&version);
	if (code)
		return failed(code, "cuDriverGetVersion", index, error);
	snprintf(gpu->driver, sizeof(gpu->driver), "CUDA %d.%d", version / 1000,
		 version % 1000 / 10);
	return 0;
}

/* GPUs that have been opened. An entry is written once while its GPU is open. */
static struct {
	int device;
	void *context;
} opened[GPU_MAX];
static pthread_mutex_t opened_lock = PTHREAD_MUTEX_INITIALIZER;

static int cuda_open(unsigned int index, struct error *error)
{
	void *context;
	int device;
	int code = get(index, &device, error);

	if (code)
		return code;
	code = cuda.context_retain(&context, device);
	if (code)
		return failed(code, "cuDevicePrimaryCtxRetain", index, error);
	pthread_mutex_lock(&opened_lock);
	if (opened[index].context != context) {
		opened[index].device = device;
		opened[index].context = context;
	}
	pthread_mutex_unlock(&opened_lock);
	return 0;
}

static void cuda_close(unsigned int index)
{
	cuda.context_release(opened[index].device);
}

/* A thread that copies needs the context, whichever thread allocated the memory. */
static int enter(unsigned int index, struct error *error)
{
	int code = cuda.context_set(opened[index].context);

	return code ? failed(code, "cuCtxSetCurrent", index, error) : 0;
}

static int allocate_device(unsigned int index, size_t size, uint64_t *address, struct error *error)
{
	const unsigned int one = 1;
	unsigned long long start;
	int code = cuda.allocate(&start, size);

	if (code)
		return failed(code, "cuMemAlloc", index, error);
	/* Otherwise copies from pageable memory may return before the bytes have arrived. */
	code = cuda.set_attribute(&one, CUDA_SYNC_MEMORY, start);
	if (code) {
		cuda.release(start);
		return failed(code, "cuPointerSetAttribute", index, error);
	}
	*address = start;
	return 0;
}

static int allocate_managed(unsigned int index, size_t size, uint64_t *address, struct error *error)
{
	unsigned long long start;
	int code = cuda.allocate_managed(&start, size, CUDA_ATTACH_GLOBAL);

	if (code)
		return failed(code, "cuMemAllocManaged", index, error);
	*address = start;
	return 0;
}

static int allocate_pinned(unsigned int index, size_t size, uint64_t *address, struct error *error)
{
	void *start;
	int code = cuda.allocate_host(&start, size, CUDA_HOST_PORTABLE | CUDA_HOST_MAPPED);

	if (code)
		return failed(code, "cuMemHostAlloc", index, error);
	*address = (uintptr_t)start;
	return 0;
}

static int cuda_allocate(unsigned int index, enum gpu_place place, size_t size, uint64_t *address,
			 struct error *error)
{
	int code = enter(index, error);

	if (code)
		return code;
	switch (place) {
	case GPU_PLACE_MANAGED:
		return allocate_managed(index, size, address, error);
	case GPU_PLACE_PINNED:
		return allocate_pinned(index, size, address, error);
	case GPU_PLACE_DEVICE:
	default:
		return allocate_device(index, size, address, error);
	}
}

static void cuda_release(unsigned int index, enum gpu_place place, uint64_t address)
{
	struct error ignored = {0};

	enter(index, &ignored);
	if (place == GPU_PLACE_PINNED)
		cuda.release_host((void *)(uintptr_t)address);
	else
		cuda.release(address);
}

static int cuda_clear(unsigned int index, uint64_t address, size_t size, struct error *error)
{
	int code = enter(index, error);

	if (code)
		return code;
	code = cuda.clear(address, 0, size);
	if (code)
		return failed(code, "cuMemsetD8", index, error);
	code = cuda.context_wait();
	return code ? failed(code, "cuCtxSynchronize", index, error) : 0;
}

static int cuda_read(unsigned int index, void *into, uint64_t address, size_t size,
		     struct error *error)
{
	int code = enter(index, error);

	if (code)
		return code;
	code = cuda.read(into, address, size);
	return code ? failed(code, "cuMemcpyDtoH", index, error) : 0;
}

static int cuda_write(unsigned int index, uint64_t address, const void *from, size_t size,
		      struct error *error)
{
	int code = enter(index, error);

	if (code)
		return code;
	code = cuda.write(address, from, size);
	return code ? failed(code, "cuMemcpyHtoD", index, error) : 0;
}

static int no_dmabuf(unsigned int index, const char *reason, struct error *error)
{
	return error_set(error, -EOPNOTSUPP,
			 "GPU %u: %s; dma-buf needs driver 515 or newer with NVIDIA's open kernel "
			 "modules and Linux 5.12; or load the module nvidia_peermem",
			 index, reason);
}

static int cuda_check_dmabuf(unsigned int index, struct error *error)
{
	int is_able = 0;
	int device;
	int code = get(index, &device, error);

	if (code)
		return code;
	if (!cuda.export)
		return no_dmabuf(index, "this driver has no cuMemGetHandleForAddressRange", error);
	code = cuda.device_attribute(&is_able, CUDA_EXPORTS_DMABUF, device);
	if (code)
		return failed(code, "cuDeviceGetAttribute", index, error);
	return is_able ? 0 : no_dmabuf(index, "its driver cannot export dma-buf", error);
}

static int cuda_export(unsigned int index, uint64_t address, size_t size, int *fd, uint64_t *offset,
		       struct error *error)
{
	int code = enter(index, error);

	if (code)
		return code;
	code = cuda.export(fd, address, size, CUDA_RANGE_DMABUF, 0);
	if (code == CUDA_NOT_SUPPORTED)
		return no_dmabuf(index, "cuMemGetHandleForAddressRange is not supported", error);
	if (code)
		return failed(code, "cuMemGetHandleForAddressRange", index, error);
	*offset = 0;
	return 0;
}

const struct gpu_driver gpu_cuda = {
	.name = "cuda",
	.count = cuda_count,
	.describe = cuda_describe,
	.open = cuda_open,
	.close = cuda_close,
	.allocate = cuda_allocate,
	.release = cuda_release,
	.clear = cuda_clear,
	.read = cuda_read,
	.write = cuda_write,
	.check_dmabuf = cuda_check_dmabuf,
	.export_dmabuf = cuda_export,
};
