/* SPDX-License-Identifier: MIT */
/* AMD's GPUs, by libamdhip64, and by libhsa-runtime64 for dma-buf. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include "core/base/printable.h"
#include "core/memory/gpu.h"

#define HIP_OUT_OF_MEMORY 2
#define HIP_NO_DEVICE     100
#define HIP_TO_DEVICE     1
#define HIP_TO_HOST       2
#define HSA_HAS_DMABUF    0x204

static struct rocm {
	int (*init)(unsigned int flags);
	int (*driver_version)(int *version);
	const char *(*error_name)(int code);
	const char *(*error_text)(int code);
	int (*device_count)(int *count);
	int (*device_set)(int device);
	int (*device_name)(char *name, int length, int device);
	int (*device_address)(char *address, int length, int device);
	int (*device_wait)(void);
	int (*allocate)(void **address, size_t size);
	int (*release)(void *address);
	int (*clear)(void *address, int byte, size_t size);
	int (*copy)(void *to, const void *from, size_t size, int direction);
} rocm;

static struct hsa {
	int (*init)(void);
	int (*info)(int what, void *value);
	int (*error_text)(int code, const char **text);
	int (*export)(const void *address, size_t size, int *fd, uint64_t *offset);
} hsa;

static const struct gpu_symbol symbols[] = {
	{"hipInit",              offsetof(struct rocm, init),           false},
	{"hipDriverGetVersion",  offsetof(struct rocm, driver_version), false},
	{"hipGetErrorName",      offsetof(struct rocm, error_name),     false},
	{"hipGetErrorString",    offsetof(struct rocm, error_text),     false},
	{"hipGetDeviceCount",    offsetof(struct rocm, device_count),   false},
	{"hipSetDevice",         offsetof(struct rocm, device_set),     false},
	{"hipDeviceGetName",     offsetof(struct rocm, device_name),    false},
	{"hipDeviceGetPCIBusId", offsetof(struct rocm, device_address), false},
	{"hipDeviceSynchronize", offsetof(struct rocm, device_wait),    false},
	{"hipMalloc",            offsetof(struct rocm, allocate),       false},
	{"hipFree",              offsetof(struct rocm, release),        false},
	{"hipMemset",            offsetof(struct rocm, clear),          false},
	{"hipMemcpy",            offsetof(struct rocm, copy),           false},
};

static const struct gpu_symbol hsa_symbols[] = {
	{"hsa_init",		       offsetof(struct hsa, init),       false},
	{"hsa_system_get_info",            offsetof(struct hsa, info),       false},
	{"hsa_status_string",              offsetof(struct hsa, error_text), false},
	{"hsa_amd_portable_export_dmabuf", offsetof(struct hsa, export),     true },
};

static const char *hint(int code)
{
	switch (code) {
	case HIP_OUT_OF_MEMORY:
		return "; 'rocm-smi --showmeminfo vram' shows the GPU's memory";
	case HIP_NO_DEVICE:
		return "; the driver sees no GPU: check HIP_VISIBLE_DEVICES, and whether this "
		       "user may open /dev/kfd (groups render, video)";
	default:
		return "";
	}
}

static int errno_of(int code)
{
	switch (code) {
	case HIP_OUT_OF_MEMORY:
		return -ENOMEM;
	case HIP_NO_DEVICE:
		return -EOPNOTSUPP; /* this host has no such memory */
	default:
		return -EIO;
	}
}

static int failed(int code, const char *call, unsigned int index, struct error *error)
{
	return error_set(error, errno_of(code), "%s on GPU %u: %s (%s)%s", call, index,
			 rocm.error_name(code), rocm.error_text(code), hint(code));
}

static int hsa_failed(int code, const char *call, unsigned int index, struct error *error)
{
	const char *text = NULL;

	hsa.error_text(code, &text);
	return error_set(error, -EIO, "%s on GPU %u: %s", call, index,
			 text ? text : "unknown error");
}

static int load_both(struct error *error)
{
	static const char *const hip_names[] = {"libamdhip64.so", "libamdhip64.so.7",
						"libamdhip64.so.6", "libamdhip64.so.5", NULL};
	static const char *const hsa_names[] = {"libhsa-runtime64.so.1", NULL};
	static const char advice[] =
		"install ROCm, and let the linker find its libraries (ldconfig)";
	/* A failed attempt may be repeated: load each library once. */
	static bool has_hip, has_hsa;
	int code =
		has_hip ? 0
			: gpu_load(&rocm, hip_names, symbols, ARRAY_LENGTH(symbols), advice, error);

	has_hip = !code;
	if (!code && !has_hsa)
		code = gpu_load(&hsa, hsa_names, hsa_symbols, ARRAY_LENGTH(hsa_symbols), advice,
				error);
	if (code)
		return code;
	has_hsa = true;
	code = rocm.init(0);
	if (code)
		return failed(code, "hipInit", 0, error);
	code = hsa.init();
	return code ? hsa_failed(code, "hsa_init", 0, error) : 0;
}

static int rocm_load(struct error *error)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static bool is_loaded;
	int code = 0;

	pthread_mutex_lock(&lock);
	if (!is_loaded)
		code = load_both(error);
	is_loaded = !code;
	pthread_mutex_unlock(&lock);
	return code;
}

static int rocm_count(unsigned int *count, struct error *error)
{
	int found = 0;
	int code = rocm_load(error);

	if (code)
		return code;
	code = rocm.device_count(&found);
	if (code || found < 1)
		return failed(code ? code : HIP_NO_DEVICE, "hipGetDeviceCount", 0, error);
	*count = (unsigned int)found;
	return 0;
}

static int rocm_describe(unsigned int index, struct gpu *gpu, struct error *error)
{
	char text[64] = "";
	int version = 0;
	int code;

	*gpu = (struct gpu){0};
	code = rocm.device_name(text, sizeof(text), (int)index);
	if (code)
		return failed(code, "hipDeviceGetName", index, error);
	printable_copy(gpu->name, sizeof(gpu->name), text);
	code = rocm.device_address(text, sizeof(text), (int)index);
	if (code)
		return failed(code, "hipDeviceGetPCIBusId", index, error);
	gpu_set_address(gpu, text);
	code = rocm.driver_version(&version);
	if (code)
		return failed(code, "hipDriverGetVersion", index, error);
	snprintf(gpu->driver, sizeof(gpu->driver), "HIP %d.%d", version / 10000000,
		 version / 100000 % 100);
	return 0;
}

static int enter(unsigned int index, struct error *error)
{
	int code = rocm.device_set((int)index);

	return code ? failed(code, "hipSetDevice", index, error) : 0;
}

/* HIP keeps the context of a GPU until the process ends. */
static void rocm_close(unsigned int index)
{
}

static int rocm_allocate(unsigned int index, enum gpu_place place, size_t size, uint64_t *address,
			 struct error *error)
{
	void *start;
	int code = enter(index, error);

	if (code)
		return code;
	code = rocm.allocate(&start, size);
	if (code)
		return failed(code, "hipMalloc", index, error);
	*address = (uintptr_t)start;
	return 0;
}

static void *pointer(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

static void rocm_release(unsigned int index, enum gpu_place place, uint64_t address)
{
	struct error ignored = {0};

	enter(index, &ignored);
	rocm.release(pointer(address));
}

static int rocm_clear(unsigned int index, uint64_t address, size_t size, struct error *error)
{
	int code = enter(index, error);

	if (code)
		return code;
	code = rocm.clear(pointer(address), 0, size);
	if (code)
		return failed(code, "hipMemset", index, error);
	code = rocm.device_wait();
	return code ? failed(code, "hipDeviceSynchronize", index, error) : 0;
}

static int copy(unsigned int index, void *to, const void *from, size_t size, int direction,
		struct error *error)
{
	int code = enter(index, error);

	if (code)
		return code;
	code = rocm.copy(to, from, size, direction);
	return code ? failed(code, "hipMemcpy", index, error) : 0;
}

static int rocm_read(unsigned int index, void *into, uint64_t address, size_t size,
		     struct error *error)
{
	return copy(index, into, pointer(address), size, HIP_TO_HOST, error);
}

static int rocm_write(unsigned int index, uint64_t address, const void *from, size_t size,
		      struct error *error)
{
	return copy(index, pointer(address), from, size, HIP_TO_DEVICE, error);
}

static int rocm_check_dmabuf(unsigned int index, struct error *error)
{
	bool is_able = false;
	int code = hsa.export ? hsa.info(HSA_HAS_DMABUF, &is_able) : 0;

	if (!code && is_able)
		return 0;
	return error_set(error, -EOPNOTSUPP,
			 "GPU %u: its driver cannot export dma-buf; install ROCm 5.6 or newer, and "
			 "a kernel with CONFIG_PCI_P2PDMA and CONFIG_DMABUF_MOVE_NOTIFY",
			 index);
}

static int rocm_export(unsigned int index, uint64_t address, size_t size, int *fd, uint64_t *offset,
		       struct error *error)
{
	int code = hsa.export(pointer(address), size, fd, offset);

	return code ? hsa_failed(code, "hsa_amd_portable_export_dmabuf", index, error) : 0;
}

const struct gpu_driver gpu_rocm = {
	.name = "rocm",
	.count = rocm_count,
	.describe = rocm_describe,
	.open = enter,
	.close = rocm_close,
	.allocate = rocm_allocate,
	.release = rocm_release,
	.clear = rocm_clear,
	.read = rocm_read,
	.write = rocm_write,
	.check_dmabuf = rocm_check_dmabuf,
	.export_dmabuf = rocm_export,
};
