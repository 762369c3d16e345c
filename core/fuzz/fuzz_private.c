/* SPDX-License-Identifier: MIT */
/*
 * The private data of connections: greetings in requests and answers, with or without tickets;
 * refusals; and message headers. The first byte selects the kind.
 */
#include <errno.h>
#include <string.h>

#include "core/fuzz/fuzz.h"
#include "core/rdma/private_data.h"
#include "core/rdma/send_header.h"

/* The most that a connection manager can pass. */
#define PRIVATE_MOST 255

static void try_greeting(const uint8_t *bytes, size_t size)
{
	uint8_t made[PRIVATE_DATA_GREETING];
	struct rdma_remote remote = {0};
	struct rdma_remote again = {0};
	struct error error = {0};
	int code = private_data_read(&remote, size ? bytes : NULL, size, &error);

	fuzz_check_error(code, &error);
	if (code)
		return;
	FUZZ_CHECK(size >= PRIVATE_DATA_GREETING && remote.address <= UINT64_MAX - remote.size);
	FUZZ_CHECK(private_data_greet(made, &remote) == PRIVATE_DATA_GREETING);
	/* All bytes except for the four reserved ones. */
	FUZZ_CHECK(!memcmp(made, bytes, PRIVATE_DATA_GREETING - 4));
	FUZZ_CHECK(!private_data_read(&again, made, sizeof(made), &error));
	FUZZ_CHECK(again.address == remote.address && again.size == remote.size &&
		   again.rkey == remote.rkey);
}

static void try_refusal(const uint8_t *bytes, size_t size)
{
	char text[PRIVATE_DATA_REFUSAL];
	char again[PRIVATE_DATA_REFUSAL];
	uint8_t made[PRIVATE_DATA_REFUSAL];
	const char *reason = private_data_reason(text, size ? bytes : NULL, size);
	size_t length;

	if (!reason)
		return;
	fuzz_check_text(reason);
	FUZZ_CHECK(strlen(reason) < size);
	length = private_data_refuse(made, reason);
	FUZZ_CHECK(length <= sizeof(made));
	reason = private_data_reason(again, made, length);
	FUZZ_CHECK(reason && !strcmp(reason, text));
}

/* Data without this ticket is rejected. */
static void try_ticket(const uint8_t *bytes, size_t size)
{
	static const uint8_t ticket[PRIVATE_DATA_TICKET] = "ticket";
	uint8_t made[PRIVATE_DATA_GREETING + PRIVATE_DATA_TICKET];
	struct error error = {0};
	bool is_there = size >= sizeof(made);
	int code;

	/* Tickets are checked only after a valid greeting. */
	if (size < PRIVATE_DATA_GREETING)
		return;
	code = private_data_check_ticket(bytes, size, ticket, &error);
	fuzz_check_error(code, &error);
	if (is_there && !memcmp(bytes + PRIVATE_DATA_GREETING, ticket, PRIVATE_DATA_TICKET))
		FUZZ_CHECK(!code);
	else
		FUZZ_CHECK(code == -EACCES);
	memcpy(made, bytes, PRIVATE_DATA_GREETING);
	FUZZ_CHECK(private_data_add_ticket(made, ticket) == sizeof(made));
	FUZZ_CHECK(!memcmp(made, bytes, PRIVATE_DATA_GREETING));
	FUZZ_CHECK(!private_data_check_ticket(made, sizeof(made), ticket, &error));
	FUZZ_CHECK(private_data_check_ticket(made, sizeof(made) - 1, ticket, &error) == -EACCES);
}

/* The input is the size of the message, in 32 bits, followed by its header. */
static void try_message(const uint8_t *bytes, size_t size)
{
	uint8_t made[SEND_HEADER_SIZE];
	struct rdma_message message = {0};
	struct error error = {0};
	uint32_t count;
	int code;

	if (size < sizeof(count) + SEND_HEADER_SIZE)
		return;
	memcpy(&count, bytes, sizeof(count));
	bytes += sizeof(count);
	code = send_header_decode(&message, bytes, count, &error);
	fuzz_check_error(code, &error);
	if (code)
		return;
	FUZZ_CHECK(message.kind >= RDMA_MESSAGE_DATA && message.kind <= RDMA_MESSAGE_READ);
	FUZZ_CHECK(message.kind != RDMA_MESSAGE_DATA || message.length + SEND_HEADER_SIZE == count);
	send_header_encode(made, &message);
	FUZZ_CHECK(!memcmp(made, bytes, SEND_HEADER_SIZE));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static void (*const tries[])(const uint8_t *bytes, size_t size) = {
		try_greeting, try_refusal, try_message, try_ticket};
	uint8_t *exact;

	if (!size || size > PRIVATE_MOST + 1)
		return 0;
	exact = malloc(size);
	FUZZ_CHECK(exact);
	memcpy(exact, bytes + 1, size - 1);
	exact = realloc(exact, size - 1 ? size - 1 : 1);
	FUZZ_CHECK(exact);
	tries[bytes[0] % ARRAY_LENGTH(tries)](exact, size - 1);
	free(exact);
	return 0;
}
