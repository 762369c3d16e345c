/* SPDX-License-Identifier: MIT */
#include "bench/control/secret.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/control/protocol.h"

/* Purposes of the hashes: a hash made for one is never valid for another. */
static const char of_text[] = "verbmark secret 1";
static const char of_talk[] = "verbmark talk 1";
static const char of_proof[] = "the client knows";
static const char of_requests[] = "from client to server";
static const char of_answers[] = "from server to client";
static const char of_pairs[] = "queue pairs";
static const char of_ticket[] = "a ticket";
static const char of_next[] = "the tickets after it";

static void derive(uint8_t made[static SEAL_KEY], const uint8_t key[static SEAL_KEY],
		   const char *purpose)
{
	crypto_generichash(made, SEAL_KEY, (const uint8_t *)purpose, strlen(purpose), key,
			   SEAL_KEY);
}

static int secret_take_one(struct secret *secret, const uint8_t *bytes, size_t length,
			   struct error *error)
{
	if (sodium_init() < 0)
		return error_set(error, -EIO, "cannot initialize libsodium");
	while (length && (bytes[length - 1] == '\n' || bytes[length - 1] == '\r'))
		length--;
	if (length < SECRET_LEAST)
		return error_set(error, -EINVAL,
				 "a secret of less than 16 bytes is easy to guess: make one with "
				 "'head -c 32 /dev/urandom | base64'");
	crypto_generichash(secret->key, sizeof(secret->key), bytes, length,
			   (const uint8_t *)of_text, sizeof(of_text) - 1);
	secret->is_set = true;
	return 0;
}

int secret_take(struct secret *secret, const char *text, struct error *error)
{
	*secret = (struct secret){0};
	return secret_take_one(secret, (const uint8_t *)text, strlen(text), error);
}

/*
 * Rejects a file that other users can read. Root's group may: service managers pass credentials to
 * a user through an ACL, whose mask shows up as the group's permissions.
 */
static int check_file(int fd, const char *path, struct error *error)
{
	struct stat found;

	if (fstat(fd, &found))
		return error_set_errno(error, -errno, "cannot stat %.128s", path);
	if (!S_ISREG(found.st_mode))
		return error_set(error, -EINVAL, "%.128s is not a regular file", path);
	if (found.st_uid && found.st_uid != geteuid())
		return error_set(error, -EACCES, "%.128s belongs to another user: chown it", path);
	if (found.st_mode & (S_IRWXO | S_IWGRP | S_IXGRP) ||
	    (found.st_mode & S_IRGRP && found.st_gid))
		return error_set(error, -EACCES, "others can read %.128s: chmod 600 it", path);
	return 0;
}

/* Reads the whole file, or its first `size` bytes if it is longer. */
static ssize_t read_all(int fd, uint8_t *bytes, size_t size)
{
	size_t used = 0;

	while (used < size) {
		ssize_t got = read(fd, bytes + used, size - used);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		used += (size_t)got;
	}
	return (ssize_t)used;
}

static int read_file(struct secret *secret, int fd, const char *path, struct error *error)
{
	uint8_t bytes[SECRET_MOST + 1];
	ssize_t length;
	int code = check_file(fd, path, error);

	if (code)
		return code;
	length = read_all(fd, bytes, sizeof(bytes));
	if (length < 0)
		return error_set_errno(error, (int)length, "cannot read %.128s", path);
	if (length > SECRET_MOST)
		code = error_set(error, -EFBIG, "%.128s is longer than 4096 bytes", path);
	else
		code = secret_take_one(secret, bytes, (size_t)length, error);
	sodium_memzero(bytes, sizeof(bytes));
	return code;
}

int secret_read(struct secret *secret, const char *path, struct error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int code;

	*secret = (struct secret){0};
	if (fd < 0)
		return error_set_errno(error, -errno, "--secret-file: cannot open %.128s", path);
	code = read_file(secret, fd, path, error);
	close(fd);
	return code ? error_wrap(error, "--secret-file") : 0;
}

void secret_forget(struct secret *secret)
{
	sodium_memzero(secret, sizeof(*secret));
}

void secret_forget_keys(struct secret_keys *keys)
{
	sodium_memzero(keys, sizeof(*keys));
}

void secret_nonce(uint8_t nonce[static SECRET_NONCE])
{
	randombytes_buf(nonce, SECRET_NONCE);
}

static void secret_add(crypto_generichash_state *state, const void *bytes, size_t length)
{
	const uint64_t encoded = htobe64(length);

	crypto_generichash_update(state, (const uint8_t *)&encoded, sizeof(encoded));
	crypto_generichash_update(state, bytes, length);
}

void secret_agree(const struct secret *secret, const struct secret_talk *talk,
		  struct secret_keys *keys)
{
	const uint32_t protocol = htobe32(PROTOCOL_NUMBER);
	crypto_generichash_state state;
	uint8_t agreed[SEAL_KEY];

	crypto_generichash_init(&state, secret->key, sizeof(secret->key), sizeof(agreed));
	secret_add(&state, of_talk, sizeof(of_talk) - 1);
	secret_add(&state, &protocol, sizeof(protocol));
	secret_add(&state, talk->client_version, strlen(talk->client_version));
	secret_add(&state, talk->server_version, strlen(talk->server_version));
	secret_add(&state, talk->client_nonce, sizeof(talk->client_nonce));
	secret_add(&state, talk->server_nonce, sizeof(talk->server_nonce));
	crypto_generichash_final(&state, agreed, sizeof(agreed));
	derive(keys->proof, agreed, of_proof);
	derive(keys->to_server, agreed, of_requests);
	derive(keys->to_client, agreed, of_answers);
	derive(keys->pairs, agreed, of_pairs);
	sodium_memzero(agreed, sizeof(agreed));
}

bool secret_is_proof(const struct secret_keys *keys, const uint8_t proof[static SECRET_PROOF])
{
	return !sodium_memcmp(keys->proof, proof, SECRET_PROOF);
}

void secret_print(const uint8_t bytes[static 32], char text[static SECRET_HEX])
{
	sodium_bin2hex(text, SECRET_HEX, bytes, 32);
}

bool secret_parse(uint8_t bytes[static 32], const char *text)
{
	size_t length;

	return text && strlen(text) == SECRET_HEX - 1 &&
	       !sodium_hex2bin(bytes, 32, text, SECRET_HEX - 1, NULL, &length, NULL) &&
	       length == 32;
}

void secret_tickets_begin(struct secret_tickets *tickets, const uint8_t key[static SEAL_KEY],
			  const uint8_t salt[static SECRET_NONCE], uint32_t number)
{
	const uint32_t encoded = htobe32(number);
	crypto_generichash_state state;

	if (tickets->is_open && !memcmp(tickets->salt, salt, SECRET_NONCE))
		return;
	tickets->is_open = true;
	memcpy(tickets->salt, salt, SECRET_NONCE);
	crypto_generichash_init(&state, key, SEAL_KEY, sizeof(tickets->key));
	crypto_generichash_update(&state, salt, SECRET_NONCE);
	crypto_generichash_update(&state, (const uint8_t *)&encoded, sizeof(encoded));
	crypto_generichash_final(&state, tickets->key, sizeof(tickets->key));
}

void secret_tickets_next(struct secret_tickets *tickets, uint8_t *ticket, size_t size)
{
	uint8_t shown[SEAL_KEY];

	derive(shown, tickets->key, of_ticket);
	memcpy(ticket, shown, size);
	derive(tickets->key, tickets->key, of_next);
}
