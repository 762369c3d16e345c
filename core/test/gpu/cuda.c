/* SPDX-License-Identifier: MIT */
/* libcuda.so.1 without a GPU: the functions that core/memory/gpu_cuda.c calls. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/test/gpu/stand_in.h"

#define GOOD            0
#define INVALID_VALUE   1
#define OUT_OF_MEMORY   2
#define NOT_INITIALIZED 3
#define NO_DEVICE       100
#define INVALID_DEVICE  101
#define INVALID_CONTEXT 201
#define NOT_SUPPORTED   801

/* Each call is counted, and rejected when it is its turn. */
#define MAY_FAIL(code)                        \
	do {                                  \
		if (stand_in_fails(__func__)) \
			return code;          \
	} while (0)

EXPORTED int cuInit(unsigned int flags);
EXPORTED int cuDriverGetVersion(int *version);
EXPORTED int cuGetErrorName(int code, const char **text);
EXPORTED int cuGetErrorString(int code, const char **text);
EXPORTED int cuDeviceGetCount(int *count);
EXPORTED int cuDeviceGet(int *device, int index);
EXPORTED int cuDeviceGetName(char *name, int length, int device);
EXPORTED int cuDeviceGetPCIBusId(char *address, int length, int device);
EXPORTED int cuDeviceGetAttribute(int *value, int attribute, int device);
EXPORTED int cuDevicePrimaryCtxRetain(void **context, int device);
EXPORTED int cuDevicePrimaryCtxRelease_v2(int device);
EXPORTED int cuCtxSetCurrent(void *context);
EXPORTED int cuCtxSynchronize(void);
EXPORTED int cuMemAlloc_v2(unsigned long long *address, size_t size);
EXPORTED int cuMemAllocManaged(unsigned long long *address, size_t size, unsigned int flags);
EXPORTED int cuMemHostAlloc(void **address, size_t size, unsigned int flags);
EXPORTED int cuMemFree_v2(unsigned long long address);
EXPORTED int cuMemFreeHost(void *address);
EXPORTED int cuPointerSetAttribute(const void *value, int attribute, unsigned long long address);
EXPORTED int cuMemsetD8_v2(unsigned long long address, unsigned char byte, size_t size);
EXPORTED int cuMemcpyHtoD_v2(unsigned long long to, const void *from, size_t size);
EXPORTED int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t size);
EXPORTED int cuMemGetHandleForAddressRange(void *handle, unsigned long long address, size_t size,
					   int kind, unsigned long long flags);

static atomic_bool is_initialized;
static int retained[64];
static _Thread_local int *current;
const size_t stand_in_lead = 0;

static const struct {
	int code;
	const char *name;
	const char *text;
} codes[] = {
	{GOOD,            "CUDA_SUCCESS",               "no error"               },
	{INVALID_VALUE,   "CUDA_ERROR_INVALID_VALUE",   "invalid argument"       },
	{OUT_OF_MEMORY,   "CUDA_ERROR_OUT_OF_MEMORY",   "out of memory"          },
	{NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"   },
	{NO_DEVICE,       "CUDA_ERROR_NO_DEVICE",       "no CUDA-capable device" },
	{INVALID_DEVICE,  "CUDA_ERROR_INVALID_DEVICE",  "invalid device ordinal" },
	{INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context" },
	{NOT_SUPPORTED,   "CUDA_ERROR_NOT_SUPPORTED",   "operation not supported"},
};

int cuInit(unsigned int flags)
{
	MAY_FAIL(NO_DEVICE);
	is_initialized = true;
	return stand_in_count() ? GOOD : NO_DEVICE;
}

int cuDriverGetVersion(int *version)
{
	MAY_FAIL(INVALID_VALUE);
	*version = 12040;
	return GOOD;
}

int cuGetErrorName(int code, const char **text)
{
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i].code == code) {
			*text = codes[i].name;
			return GOOD;
		}
	return INVALID_VALUE;
}

int cuGetErrorString(int code, const char **text)
{
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i].code == code) {
			*text = codes[i].text;
			return GOOD;
		}
	return INVALID_VALUE;
}

int cuDeviceGetCount(int *count)
{
	MAY_FAIL(NOT_INITIALIZED);
	*count = stand_in_count();
	return is_initialized ? GOOD : NOT_INITIALIZED;
}

int cuDeviceGet(int *device, int index)
{
	MAY_FAIL(INVALID_DEVICE);
	*device = index;
	return index >= 0 && index < stand_in_count() ? GOOD : INVALID_DEVICE;
}

int cuDeviceGetName(char *name, int length, int device)
{
	MAY_FAIL(INVALID_DEVICE);
	snprintf(name, (size_t)length, "%s", STAND_IN_NAME);
	return GOOD;
}

int cuDeviceGetPCIBusId(char *address, int length, int device)
{
	MAY_FAIL(INVALID_DEVICE);
	snprintf(address, (size_t)length, STAND_IN_ADDRESS, (unsigned int)device);
	return GOOD;
}

/* dma-buf works unless the environment has STAND_IN_NO_DMABUF. */
int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	MAY_FAIL(INVALID_VALUE);
	*value = attribute == 124 && !getenv("STAND_IN_NO_DMABUF");
	return GOOD;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
	MAY_FAIL(OUT_OF_MEMORY);
	__atomic_add_fetch(&retained[device], 1, __ATOMIC_RELAXED);
	*context = &retained[device];
	return GOOD;
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
	return __atomic_sub_fetch(&retained[device], 1, __ATOMIC_RELAXED) < 0 ? INVALID_CONTEXT
									      : GOOD;
}

int cuCtxSetCurrent(void *context)
{
	MAY_FAIL(INVALID_CONTEXT);
	current = context;
	return GOOD;
}

/* A context must be current in this thread, and alive. */
static bool is_lost(void)
{
	return !current || !__atomic_load_n(current, __ATOMIC_RELAXED);
}

int cuCtxSynchronize(void)
{
	MAY_FAIL(INVALID_CONTEXT);
	return is_lost() ? INVALID_CONTEXT : GOOD;
}

int cuMemAlloc_v2(unsigned long long *address, size_t size)
{
	MAY_FAIL(OUT_OF_MEMORY);
	if (is_lost())
		return INVALID_CONTEXT;
	*address = stand_in_allocate(size, false);
	return *address ? GOOD : OUT_OF_MEMORY;
}

int cuMemAllocManaged(unsigned long long *address, size_t size, unsigned int flags)
{
	MAY_FAIL(OUT_OF_MEMORY);
	if (is_lost() || flags != 1)
		return INVALID_CONTEXT;
	*address = stand_in_allocate(size, true);
	return *address ? GOOD : OUT_OF_MEMORY;
}

int cuMemHostAlloc(void **address, size_t size, unsigned int flags)
{
	MAY_FAIL(OUT_OF_MEMORY);
	if (is_lost())
		return INVALID_CONTEXT;
	*address = (void *)(uintptr_t)stand_in_allocate(size, true);
	return *address ? GOOD : OUT_OF_MEMORY;
}

int cuMemFree_v2(unsigned long long address)
{
	return !is_lost() && stand_in_release(address) ? GOOD : INVALID_VALUE;
}

int cuMemFreeHost(void *address)
{
	return !is_lost() && stand_in_release((uintptr_t)address) ? GOOD : INVALID_VALUE;
}

int cuPointerSetAttribute(const void *value, int attribute, unsigned long long address)
{
	MAY_FAIL(INVALID_VALUE);
	return attribute == 6 && *(const unsigned int *)value == 1 && stand_in_bytes(address, 1)
		       ? GOOD
		       : INVALID_VALUE;
}

int cuMemsetD8_v2(unsigned long long address, unsigned char byte, size_t size)
{
	char *bytes = stand_in_bytes(address, size);

	MAY_FAIL(INVALID_VALUE);
	if (is_lost() || !bytes)
		return is_lost() ? INVALID_CONTEXT : INVALID_VALUE;
	memset(bytes, byte, size);
	return GOOD;
}

int cuMemcpyHtoD_v2(unsigned long long to, const void *from, size_t size)
{
	char *bytes = stand_in_bytes(to, size);

	MAY_FAIL(INVALID_VALUE);
	if (is_lost() || !bytes)
		return is_lost() ? INVALID_CONTEXT : INVALID_VALUE;
	stand_in_copy(bytes, from, size);
	return GOOD;
}

int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t size)
{
	const char *bytes = stand_in_bytes(from, size);

	MAY_FAIL(INVALID_VALUE);
	if (is_lost() || !bytes)
		return is_lost() ? INVALID_CONTEXT : INVALID_VALUE;
	memcpy(to, bytes, size);
	return GOOD;
}

int cuMemGetHandleForAddressRange(void *handle, unsigned long long address, size_t size, int kind,
				  unsigned long long flags)
{
	uint64_t offset;

	MAY_FAIL(NOT_SUPPORTED);
	if (is_lost() || kind != 1 || flags || address % 4096 || size % 4096)
		return INVALID_VALUE;
	*(int *)handle = stand_in_export(address, size, &offset);
	return *(int *)handle >= 0 && !offset ? GOOD : INVALID_VALUE;
}

static __attribute__((destructor)) void report(void)
{
	for (size_t i = 0; i < sizeof(retained) / sizeof(retained[0]); i++)
		if (retained[i])
			fprintf(stderr, "stand-in: the context of GPU %zu is left\n", i);
}
