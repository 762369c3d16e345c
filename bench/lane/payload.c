/* SPDX-License-Identifier: MIT */
#include "bench/lane/payload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/compiler.h"
#include "core/base/free_memory.h"

#define FILE_MOST (1U << 30)
/* Shorter content is repeated up to this size, because each copy is a call. */
#define LEAST 65536

/* Makes room for one more byte than the limit, so that a file beyond it is noticed. */
static int grow(struct payload *payload, size_t *room, struct error *error)
{
	size_t wanted = *room ? 2 * *room : LEAST;
	char *grown = realloc(payload->bytes, wanted + 1);

	if (!grown)
		return free_memory_refused(error, "read the payload");
	payload->bytes = grown;
	*room = wanted;
	return 0;
}

static int read_all(struct payload *payload, FILE *file, const char *path, struct error *error)
{
	size_t room = 0;
	size_t got;

	do {
		if (payload->size >= room && grow(payload, &room, error))
			return error->code;
		got = fread(payload->bytes + payload->size, 1, room + 1 - payload->size, file);
		payload->size += got;
	} while (got && payload->size <= FILE_MOST);
	if (ferror(file))
		return error_set_errno(error, -errno, "--payload: cannot read %s", path);
	if (payload->size > FILE_MOST)
		return error_set(error, -EFBIG, "--payload: %s has more than 1 GiB", path);
	return payload->size ? 0 : error_set(error, -EINVAL, "--payload: %s is empty", path);
}

static int repeat(struct payload *payload, struct error *error)
{
	size_t each = payload->size;
	size_t size = (LEAST + each - 1) / each * each;
	char *bytes = realloc(payload->bytes, size);

	if (!bytes)
		return free_memory_refused(error, "repeat the payload");
	payload->bytes = bytes;
	for (payload->size = each; payload->size < size; payload->size += each)
		memcpy(bytes + payload->size, bytes, each);
	return 0;
}

int payload_open(struct payload *payload, const char *path, struct error *error)
{
	FILE *file = fopen(path, "re");
	int code;

	*payload = (struct payload){0};
	if (!file)
		return error_set_errno(error, -errno, "--payload: cannot open %s", path);
	code = read_all(payload, file, path, error);
	fclose(file);
	if (!code && payload->size < LEAST)
		code = repeat(payload, error);
	if (code)
		payload_close(payload);
	return code;
}

void payload_close(struct payload *payload)
{
	free(payload->bytes);
	*payload = (struct payload){0};
}

void payload_fill(const struct payload *payload, const struct memory *memory, size_t length)
{
	for (size_t offset = 0; offset < length; offset += payload->size) {
		size_t left = length - offset;

		memory_write(memory, offset, payload->bytes,
			     left < payload->size ? left : payload->size);
	}
}
