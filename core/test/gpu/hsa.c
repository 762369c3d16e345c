/* SPDX-License-Identifier: MIT */
/* libhsa-runtime64.so.1 without a GPU: exports the memory of the stand-in libamdhip64.so. */
#include <stdlib.h>

#include "core/test/gpu/stand_in.h"

#define GOOD    0
#define FAILURE 0x1000

EXPORTED int hsa_init(void);
EXPORTED int hsa_system_get_info(int what, void *value);
EXPORTED int hsa_status_string(int code, const char **text);
EXPORTED int hsa_amd_portable_export_dmabuf(const void *address, size_t size, int *fd,
					    uint64_t *offset);

int hsa_init(void)
{
	return stand_in_fails(__func__) ? FAILURE : GOOD;
}

int hsa_system_get_info(int what, void *value)
{
	if (stand_in_fails(__func__) || what != 0x204)
		return FAILURE;
	*(bool *)value = !getenv("STAND_IN_NO_DMABUF");
	return GOOD;
}

int hsa_status_string(int code, const char **text)
{
	*text = "HSA_STATUS_ERROR: A generic error has occurred.";
	return GOOD;
}

int hsa_amd_portable_export_dmabuf(const void *address, size_t size, int *fd, uint64_t *offset)
{
	if (stand_in_fails(__func__))
		return FAILURE;
	*fd = stand_in_export((uintptr_t)address, size, offset);
	return *fd >= 0 ? GOOD : FAILURE;
}
