/* SPDX-License-Identifier: MIT */
/*
 * A mapped file: in the page cache or tmpfs (file), or persistent memory that is mapped directly
 * (dax): a device-DAX character device, or a file on a file system mounted with dax. Its contents
 * are overwritten. The detail is PATH or PATH,offset=BYTES.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/mman.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/base/sysfs.h"
#include "core/memory/pages.h"
#include "core/verbs/verbs.h"

#ifndef STATX_ATTR_DAX
#define STATX_ATTR_DAX 0x00200000
#endif

/* Memory->state of a mapping that is synchronous (MAP_SYNC). */
static char is_synchronous;

struct place {
	char path[MEMORY_TEXT];
	uint64_t offset;
	uint64_t size; /* of the file or device */
	uint64_t page; /* alignment of mappings */
	bool is_regular;
	int file;
};

static const char offset_word[] = ",offset=";

static bool file_path(const char *detail, char *path)
{
	const char *comma = strstr(detail, offset_word);
	size_t length = comma ? (size_t)(comma - detail) : strlen(detail);

	snprintf(path, MEMORY_TEXT, "%.*s", (int)length, detail);
	return true;
}

/* Splits a detail. Returns false if the offset is not a number. */
static bool split(const char *detail, struct place *place)
{
	const char *comma = strstr(detail, offset_word);
	char *end = NULL;

	*place = (struct place){.file = -1};
	file_path(detail, place->path);
	if (!comma)
		return true;
	comma += sizeof(offset_word) - 1;
	errno = 0;
	place->offset = strtoull(comma, &end, 10);
	return !errno && *comma >= '0' && *comma <= '9' && !*end;
}

static int file_parse(char detail[static MEMORY_TEXT], struct error *error)
{
	char *comma = strstr(detail, offset_word);
	struct place place;

	if (detail[0] != '/')
		return error_set(error, -EINVAL, "needs an absolute path (e.g. file:/dev/shm/x)");
	if (!split(detail, &place))
		return error_set(error, -EINVAL,
				 "has an offset that is not a number of bytes without a unit");
	if (comma && !place.offset)
		*comma = '\0';
	else if (comma)
		memory_drop_zeros(comma + sizeof(offset_word) - 1);
	return 0;
}

static void find_size_of_device(struct place *place, const struct stat *stat)
{
	unsigned int of[] = {major(stat->st_rdev), minor(stat->st_rdev)};
	int64_t number;

	if (sysfs_number("", &number, "/sys/dev/char/%u:%u/size", of[0], of[1]) && number > 0)
		place->size = (uint64_t)number;
	if (sysfs_number("", &number, "/sys/dev/char/%u:%u/align", of[0], of[1]) && number > 0)
		place->page = (uint64_t)number;
	else
		place->page = 2U << 20;
}

/* Returns whether the character device is a device-DAX one. */
static bool is_dax_device(const struct stat *stat)
{
	char bus[32];

	return S_ISCHR(stat->st_mode) &&
	       sysfs_link("", bus, sizeof(bus), "/sys/dev/char/%u:%u/subsystem",
			  major(stat->st_rdev), minor(stat->st_rdev)) &&
	       !strcmp(bus, "dax");
}

static int too_short(const struct place *place, size_t size, struct error *error)
{
	error_set(error, -EOPNOTSUPP,
		  "%s has %" PRIu64 " bytes, but the buffer needs %zu from offset %" PRIu64,
		  place->path, place->size, size, place->offset);
	if (place->is_regular)
		error_append(error, "try 'fallocate -l %" PRIu64 " %s'", place->offset + size,
			     place->path);
	else
		error_append(error, "use a smaller --size or --buffer");
	return -EOPNOTSUPP;
}

static int check_place(struct place *place, size_t size, struct error *error)
{
	if (place->offset % place->page)
		return error_set(error, -EINVAL,
				 "%s: the offset is not a multiple of %" PRIu64 " bytes",
				 place->path, place->page);
	if (place->offset > place->size || place->size - place->offset < size)
		return too_short(place, size, error);
	return 0;
}

/* Opens the file and checks what it is. The caller closes place->file. */
static int open_place(const char *detail, bool is_dax, struct place *place, struct error *error)
{
	struct stat stat;

	split(detail, place);
	place->file = open(place->path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (place->file < 0 || fstat(place->file, &stat))
		return error_set_errno(error, -errno, "cannot open %s", place->path);
	place->size = (uint64_t)stat.st_size;
	place->page = pages_of_file(place->file);
	place->is_regular = S_ISREG(stat.st_mode);
	if (is_dax && is_dax_device(&stat))
		find_size_of_device(place, &stat);
	else if (!place->is_regular)
		return error_set(error, -EINVAL, "%s is not a file%s", place->path,
				 is_dax ? " or a device-DAX device" : "; for devdax use dax:PATH");
	return 0;
}

static void close_place(struct place *place)
{
	if (place->file >= 0)
		close(place->file);
}

static int check(const struct memory_request *request, bool is_dax, struct error *error)
{
	struct memory wanted = {0};
	struct place place;
	int code;

	if (!request->detail)
		return error_set(error, -EINVAL, "needs a path (e.g. file:/dev/shm/x)");
	code = open_place(request->detail, is_dax, &place, error);
	if (!code && request->size)
		code = pages_measure(&wanted, request->size, place.page, error);
	if (!code)
		code = check_place(&place, wanted.size, error);
	close_place(&place);
	return code;
}

static int file_check(const struct memory_request *request, struct error *error)
{
	return check(request, false, error);
}

static int dax_check(const struct memory_request *request, struct error *error)
{
	return check(request, true, error);
}

static bool is_on_dax(int file)
{
	struct statx stat;

	return !statx(file, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &stat) &&
	       stat.stx_attributes & STATX_ATTR_DAX;
}

static char *map(const struct place *place, size_t size, int flags)
{
	char *address =
		mmap(NULL, size, PROT_READ | PROT_WRITE, flags, place->file, (off_t)place->offset);

	return address == MAP_FAILED ? NULL : address;
}

static int map_place(struct memory *memory, const struct place *place, bool is_dax,
		     struct error *error)
{
	struct stat stat;

	if (is_dax)
		memory->cpu = map(place, memory->size, MAP_SHARED_VALIDATE | MAP_SYNC);
	if (memory->cpu)
		memory->state = &is_synchronous;
	if (is_dax && !memory->cpu && !is_on_dax(place->file) &&
	    (fstat(place->file, &stat) || !S_ISCHR(stat.st_mode)))
		return error_set(error, -EOPNOTSUPP,
				 "%s is not on a file system mounted with dax; use file:%s",
				 place->path, place->path);
	if (!memory->cpu)
		memory->cpu = map(place, memory->size, MAP_SHARED);
	if (!memory->cpu)
		return error_set_errno(error, -errno, "cannot map %s", place->path);
	memory->address = (uintptr_t)memory->cpu;
	return 0;
}

/* Makes the pages present. Touching pages of a file that has no room for them raises SIGBUS. */
static int fill(struct memory *memory, const struct place *place, struct error *error)
{
	int code =
		place->is_regular ? pages_fill_file(place->file, place->offset, memory->size) : 0;

	if (!code)
		code = pages_populate(memory);
	if (code)
		return pages_no_room(place->path, memory->size, code, error);
	memory_clear(memory, 0, memory->size);
	return 0;
}

static int allocate(struct memory *memory, const struct memory_request *request, bool is_dax,
		    struct error *error)
{
	struct place place = {.file = -1};
	int code = -EINVAL;

	if (!memory->detail[0])
		error_set(error, code, "needs a path (e.g. file:/dev/shm/x)");
	else
		code = open_place(memory->detail, is_dax, &place, error);
	if (!code)
		code = pages_measure(memory, request->size, place.page, error);
	if (!code)
		code = check_place(&place, memory->size, error);
	if (!code) {
		code = pages_keep_file(memory, place.file, place.offset, place.path, error);
		place.file = code ? -1 : memory->file;
	}
	if (!code)
		code = map_place(memory, &place, is_dax, error);
	if (!code)
		code = fill(memory, &place, error);
	if (!memory->file)
		close_place(&place);
	memory->numa_node = request->numa_node;
	return code;
}

static int file_allocate(struct memory *memory, const struct memory_request *request,
			 struct error *error)
{
	return allocate(memory, request, false, error);
}

static int dax_allocate(struct memory *memory, const struct memory_request *request,
			struct error *error)
{
	return allocate(memory, request, true, error);
}

static struct ibv_mr *file_register(const struct memory *memory, size_t offset, size_t length,
				    struct ibv_pd *pd, int access, struct error *error)
{
	struct ibv_mr *mr = verbs_register(pd, memory->cpu + offset, length, access, error);

	if (!mr && error && (error->code == -EOPNOTSUPP || error->code == -EFAULT))
		error_append(error, "the kernel pins files only on tmpfs, hugetlbfs and devdax");
	return mr;
}

static void file_describe(const struct memory *memory, struct memory_facts *facts)
{
	snprintf(facts->path, sizeof(facts->path), "%s",
		 memory->state == &is_synchronous ? "MAP_SYNC" : "MAP_SHARED");
}

const struct memory_kind memory_file = {
	.name = "file",
	.parse = file_parse,
	.path = file_path,
	.check = file_check,
	.allocate = file_allocate,
	.release = pages_unmap,
	.register_region = file_register,
	.describe = file_describe,
};

const struct memory_kind memory_dax = {
	.name = "dax",
	.parse = file_parse,
	.path = file_path,
	.check = dax_check,
	.allocate = dax_allocate,
	.release = pages_unmap,
	.register_region = file_register,
	.describe = file_describe,
};
