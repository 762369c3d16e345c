/* SPDX-License-Identifier: MIT */
#include "core/test/soft/kinds.h"

#include <fcntl.h>
#include <linux/udmabuf.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/test/lib/check.h"

#define UDMABUF "/dev/udmabuf"

enum {
	BEFORE = KINDS_PAGE, /* bytes of a file before its region */
	IOVA = 0x70000000,
};

static void create_file(struct held *held, int seals)
{
	held->fd = memfd_create("kinds", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_true(held->fd >= 0);
	assert_int_equal(ftruncate(held->fd, BEFORE + KINDS_BYTES), 0);
	assert_int_equal(fcntl(held->fd, F_ADD_SEALS, seals), 0);
}

static void register_file(struct held *held, struct ibv_pd *pd, int fd)
{
	held->mr = ibv_reg_dmabuf_mr(pd, BEFORE, KINDS_BYTES, IOVA, fd, KINDS_ACCESS);
	held->address = IOVA;
}

static void open_sealed(struct held *held, struct ibv_pd *pd)
{
	create_file(held, F_SEAL_SHRINK);
	register_file(held, pd, held->fd);
}

static void open_unsealed(struct held *held, struct ibv_pd *pd)
{
	create_file(held, 0);
	register_file(held, pd, held->fd);
}

/* The same memory can be read and written through the memfd. */
static void open_dmabuf(struct held *held, struct ibv_pd *pd)
{
	struct udmabuf_create wanted = {.flags = UDMABUF_FLAGS_CLOEXEC,
					.size = BEFORE + KINDS_BYTES};
	int device = open(UDMABUF, O_RDWR | O_CLOEXEC);

	create_file(held, F_SEAL_SHRINK);
	wanted.memfd = (uint32_t)held->fd;
	held->dmabuf = ioctl(device, UDMABUF_CREATE, &wanted);
	assert_true(held->dmabuf >= 0);
	close(device);
	register_file(held, pd, held->dmabuf);
}

static void write_file(struct held *held, size_t at, const void *from, size_t size)
{
	assert_int_equal(pwrite(held->fd, from, size, (off_t)(BEFORE + at)), (ssize_t)size);
}

static void read_file(struct held *held, size_t at, void *to, size_t size)
{
	assert_int_equal(pread(held->fd, to, size, (off_t)(BEFORE + at)), (ssize_t)size);
}

static void shorten_file(struct held *held)
{
	assert_int_equal(ftruncate(held->fd, BEFORE), 0);
}

static void open_device(struct held *held, struct ibv_pd *pd)
{
	struct ibv_alloc_dm_attr attr = {.length = (size_t)2 * KINDS_BYTES};

	held->dm = ibv_alloc_dm(pd->context, &attr);
	assert_non_null(held->dm);
	held->mr = ibv_reg_dm_mr(pd, held->dm, KINDS_BYTES, KINDS_BYTES,
				 KINDS_ACCESS | IBV_ACCESS_ZERO_BASED);
}

static void write_device(struct held *held, size_t at, const void *from, size_t size)
{
	assert_int_equal(ibv_memcpy_to_dm(held->dm, KINDS_BYTES + at, from, size), 0);
}

static void read_device(struct held *held, size_t at, void *to, size_t size)
{
	assert_int_equal(ibv_memcpy_from_dm(to, held->dm, KINDS_BYTES + at, size), 0);
}

static void map(struct held *held)
{
	void *mapped =
		mmap(NULL, KINDS_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(mapped != MAP_FAILED);
	held->mapped = mapped;
	held->address = (uintptr_t)mapped;
}

static void open_on_demand(struct held *held, struct ibv_pd *pd)
{
	map(held);
	held->mr = ibv_reg_mr(pd, held->mapped, KINDS_BYTES, KINDS_ACCESS | IBV_ACCESS_ON_DEMAND);
}

static void open_implicit(struct held *held, struct ibv_pd *pd)
{
	map(held);
	held->mr = ibv_reg_mr(pd, NULL, SIZE_MAX, KINDS_ACCESS | IBV_ACCESS_ON_DEMAND);
}

static void write_mapped(struct held *held, size_t at, const void *from, size_t size)
{
	memcpy(held->mapped + at, from, size);
}

static void read_mapped(struct held *held, size_t at, void *to, size_t size)
{
	memcpy(to, held->mapped + at, size);
}

static void protect(struct held *held)
{
	assert_int_equal(mprotect(held->mapped, KINDS_BYTES, PROT_NONE), 0);
}

static void unmap(struct held *held)
{
	/* Any access fails beyond the end of a file; unmapped memory could be mapped again. */
	int empty = memfd_create("empty", MFD_CLOEXEC);

	assert_true(empty >= 0);
	assert_ptr_equal(mmap(held->mapped, KINDS_BYTES, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_FIXED, empty, 0),
			 held->mapped);
	close(empty);
}

const struct kind kinds[KINDS] = {
	{"sealed file",   NULL,    open_sealed,    write_file,   read_file,   NULL        },
	{"unsealed file", NULL,    open_unsealed,  write_file,   read_file,   shorten_file},
	{"dma-buf",       UDMABUF, open_dmabuf,    write_file,   read_file,   NULL        },
	{"device memory", NULL,    open_device,    write_device, read_device, NULL        },
	{"on demand",     NULL,    open_on_demand, write_mapped, read_mapped, protect     },
	{"implicit",      NULL,    open_implicit,  write_mapped, read_mapped, unmap       },
};

bool kinds_exists(const struct kind *kind)
{
	static bool is_reported;

	if (!kind->device || !access(kind->device, R_OK | W_OK))
		return true;
	if (!is_reported)
		print_message("# skips the kind %s: there is no %s\n", kind->name, kind->device);
	is_reported = true;
	return false;
}

void kinds_open(struct held *held, const struct kind *kind, struct ibv_pd *pd)
{
	*held = (struct held){.kind = kind, .fd = -1, .dmabuf = -1};
	kind->open(held, pd);
	if (!held->mr)
		fail_msg("%s cannot be registered", kind->name);
}

void kinds_close(struct held *held)
{
	assert_int_equal(ibv_dereg_mr(held->mr), 0);
	if (held->dm)
		assert_int_equal(ibv_free_dm(held->dm), 0);
	if (held->mapped)
		munmap(held->mapped, KINDS_BYTES);
	if (held->dmabuf >= 0)
		close(held->dmabuf);
	if (held->fd >= 0)
		close(held->fd);
}
