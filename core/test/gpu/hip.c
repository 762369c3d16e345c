/* SPDX-License-Identifier: MIT */
/* libamdhip64.so without a GPU: the functions that core/memory/gpu_rocm.c calls. */
#include <stdio.h>
#include <string.h>

#include "core/test/gpu/stand_in.h"

#define GOOD          0
#define INVALID_VALUE 1
#define OUT_OF_MEMORY 2
#define NO_DEVICE     100
#define BAD_DEVICE    101

#define MAY_FAIL(code)                        \
	do {                                  \
		if (stand_in_fails(__func__)) \
			return code;          \
	} while (0)

EXPORTED int hipInit(unsigned int flags);
EXPORTED int hipDriverGetVersion(int *version);
EXPORTED const char *hipGetErrorName(int code);
EXPORTED const char *hipGetErrorString(int code);
EXPORTED int hipGetDeviceCount(int *count);
EXPORTED int hipSetDevice(int device);
EXPORTED int hipDeviceGetName(char *name, int length, int device);
EXPORTED int hipDeviceGetPCIBusId(char *address, int length, int device);
EXPORTED int hipDeviceSynchronize(void);
EXPORTED int hipMalloc(void **address, size_t size);
EXPORTED int hipFree(void *address);
EXPORTED int hipMemset(void *address, int byte, size_t size);
EXPORTED int hipMemcpy(void *to, const void *from, size_t size, int direction);

const size_t stand_in_lead = 4096;

int hipInit(unsigned int flags)
{
	MAY_FAIL(NO_DEVICE);
	return stand_in_count() ? GOOD : NO_DEVICE;
}

int hipDriverGetVersion(int *version)
{
	MAY_FAIL(INVALID_VALUE);
	*version = 60140092;
	return GOOD;
}

const char *hipGetErrorName(int code)
{
	return code == OUT_OF_MEMORY ? "hipErrorOutOfMemory"
	       : code == NO_DEVICE   ? "hipErrorNoDevice"
	       : code == BAD_DEVICE  ? "hipErrorInvalidDevice"
				     : "hipErrorInvalidValue";
}

const char *hipGetErrorString(int code)
{
	return code == OUT_OF_MEMORY ? "out of memory"
	       : code == NO_DEVICE   ? "no ROCm-capable device is detected"
	       : code == BAD_DEVICE  ? "invalid device ordinal"
				     : "invalid argument";
}

int hipGetDeviceCount(int *count)
{
	MAY_FAIL(NO_DEVICE);
	*count = stand_in_count();
	return GOOD;
}

int hipSetDevice(int device)
{
	MAY_FAIL(BAD_DEVICE);
	return device >= 0 && device < stand_in_count() ? GOOD : BAD_DEVICE;
}

int hipDeviceGetName(char *name, int length, int device)
{
	MAY_FAIL(BAD_DEVICE);
	snprintf(name, (size_t)length, "%s", STAND_IN_NAME);
	return GOOD;
}

int hipDeviceGetPCIBusId(char *address, int length, int device)
{
	MAY_FAIL(BAD_DEVICE);
	snprintf(address, (size_t)length, STAND_IN_ADDRESS, (unsigned int)device);
	return GOOD;
}

int hipDeviceSynchronize(void)
{
	MAY_FAIL(INVALID_VALUE);
	return GOOD;
}

int hipMalloc(void **address, size_t size)
{
	MAY_FAIL(OUT_OF_MEMORY);
	*address = (void *)(uintptr_t)stand_in_allocate(size, false);
	return *address ? GOOD : OUT_OF_MEMORY;
}

int hipFree(void *address)
{
	return stand_in_release((uintptr_t)address) ? GOOD : INVALID_VALUE;
}

int hipMemset(void *address, int byte, size_t size)
{
	char *bytes = stand_in_bytes((uintptr_t)address, size);

	MAY_FAIL(INVALID_VALUE);
	if (!bytes)
		return INVALID_VALUE;
	memset(bytes, byte, size);
	return GOOD;
}

int hipMemcpy(void *to, const void *from, size_t size, int direction)
{
	char *bytes = stand_in_bytes((uintptr_t)(direction == 1 ? to : from), size);

	MAY_FAIL(INVALID_VALUE);
	if (!bytes || (direction != 1 && direction != 2))
		return INVALID_VALUE;
	if (direction == 1)
		stand_in_copy(bytes, from, size);
	else
		memcpy(to, bytes, size);
	return GOOD;
}
