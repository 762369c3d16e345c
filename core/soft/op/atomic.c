/* SPDX-License-Identifier: MIT */
#include "core/soft/op/atomic.h"

#include <errno.h>
#include <string.h>

#include "core/soft/peer/peer.h"

static uint64_t change(const struct soft_operation *operation, uint64_t before)
{
	if (operation->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		return before + operation->compare_add;
	return operation->opcode == SOFT_ATOMIC_WRITE || before == operation->compare_add
		       ? operation->swap
		       : before;
}

/* Nearby lines map to different locks, and so do equal offsets of nearby pages. */
struct soft_lock *soft_atomic_lock(struct soft_image *image, uint64_t place)
{
	uint64_t line = place / SOFT_LINE;

	return &image->atomics[(line + (line >> 6) + (line >> 12)) % SOFT_ATOMICS].lock;
}

int soft_atomic_do(const struct soft_peer *peer, const struct soft_span *remote,
		   const struct soft_operation *operation, uint64_t *before)
{
	struct soft_lock *lock =
		soft_atomic_lock(peer->arena->image, (uintptr_t)remote->piece[0].iov_base);
	uint64_t value = 0;
	const struct soft_span local = {
		.length = sizeof(value), .count = 1, .piece = {{&value, sizeof(value)}}};
	bool is_write = operation->opcode == SOFT_ATOMIC_WRITE;
	int result = 0;

	soft_lock_take(lock);
	/* The right to write does not include reading. */
	if (!is_write)
		result = soft_copy_from(peer, remote, &local);
	if (!result) {
		*before = value;
		value = change(operation, value);
		/*
		 * A process that took the lock over while this one was stopped may have changed the
		 * value.
		 */
		if (!soft_lock_is_held(lock))
			result = -ESRCH;
		else if (is_write || value != *before)
			result = soft_copy_to(peer, remote, &local);
	}
	soft_lock_release(lock);
	return result;
}

void soft_atomic_return(const struct soft_span *data, uint64_t before)
{
	const char *from = (const char *)&before;

	for (unsigned int i = 0; i < data->count; i++) {
		memcpy(data->piece[i].iov_base, from, data->piece[i].iov_len);
		from += data->piece[i].iov_len;
	}
}
