/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/control/secret.h"
#include "core/base/compiler.h"
#include "core/test/lib/check.h"

#define TEXT "correct horse battery staple"

static struct secret made(const char *text)
{
	struct error error = {0};
	struct secret secret;

	if (secret_take(&secret, text, &error))
		fail_msg("%s", error.text);
	return secret;
}

static struct secret_talk talk(void)
{
	struct secret_talk talk = {.client_version = "1.0", .server_version = "2.0"};

	for (uint8_t i = 0; i < SECRET_NONCE; i++) {
		talk.client_nonce[i] = i;
		talk.server_nonce[i] = (uint8_t)(100 + i);
	}
	return talk;
}

/* Expected keys: hashlib.blake2b of Python, as described in secret.h and the manual page. */
static void test_keys(void **unused)
{
	static const char *const wanted[] = {
		"5f47ce48ad8008bb0e2732f480d37f6ad504811f3de0512acad623d099617b34",
		"6c09093b69509268a9812330fa698c874b9bfc30926c1a1e5ab7bb79bb54c3ca",
		"8dd668a2cb49ae0c6c2e7680545566586fda38172c2d87b9f5d9188ee732f2ea",
		"3a9bd75dc541b1557a6e8678c1926587da39fca30a8b748b9a98f0fd2cc78556",
	};
	const struct secret secret = made(TEXT "\n");
	const struct secret_talk greeting = talk();
	struct secret_keys keys;
	const uint8_t *const found[] = {keys.proof, keys.to_server, keys.to_client, keys.pairs};
	char text[SECRET_HEX];

	secret_agree(&secret, &greeting, &keys);
	for (size_t i = 0; i < ARRAY_LENGTH(wanted); i++) {
		secret_print(found[i], text);
		assert_string_equal(text, wanted[i]);
	}
}

/* The keys depend on the secret and on all parts of the greeting. */
static void test_keys_depend_on_everything(void **unused)
{
	const struct secret secret = made(TEXT);
	const struct secret other = made("correct horse battery stable");
	const struct secret_talk greeting = talk();
	struct secret_keys keys;
	struct secret_keys others[5];
	struct secret_talk changed[5] = {greeting, greeting, greeting, greeting, greeting};

	changed[1].client_version = "1.02";
	changed[1].server_version = ".0";
	changed[2].server_version = "2.1";
	changed[3].client_nonce[31] ^= 1;
	changed[4].server_nonce[0] ^= 128;
	secret_agree(&secret, &greeting, &keys);
	secret_agree(&other, &changed[0], &others[0]);
	for (size_t i = 1; i < ARRAY_LENGTH(changed); i++)
		secret_agree(&secret, &changed[i], &others[i]);
	for (size_t i = 0; i < ARRAY_LENGTH(changed); i++) {
		assert_memory_not_equal(keys.proof, others[i].proof, SECRET_PROOF);
		assert_memory_not_equal(keys.to_server, others[i].to_server, SEAL_KEY);
		assert_memory_not_equal(keys.to_client, others[i].to_client, SEAL_KEY);
		assert_memory_not_equal(keys.pairs, others[i].pairs, SEAL_KEY);
		assert_false(secret_is_proof(&keys, others[i].proof));
	}
	assert_true(secret_is_proof(&keys, keys.proof));
	assert_memory_not_equal(keys.to_server, keys.to_client, SEAL_KEY);
}

/* A proof with a single wrong bit is rejected, wherever that bit is. */
static void test_all_of_a_proof_is_compared(void **unused)
{
	const struct secret secret = made(TEXT);
	const struct secret_talk greeting = talk();
	struct secret_keys keys;

	secret_agree(&secret, &greeting, &keys);
	for (size_t bit = 0; bit < 8 * SECRET_PROOF; bit++) {
		uint8_t proof[SECRET_PROOF];

		memcpy(proof, keys.proof, sizeof(proof));
		proof[bit / 8] ^= (uint8_t)(1U << bit % 8);
		assert_false(secret_is_proof(&keys, proof));
	}
	assert_true(secret_is_proof(&keys, keys.proof));
}

/* Secrets that differ in the first, middle or last byte, with lengths around every limit. */
static void test_all_of_a_secret_counts(void **unused)
{
	static const size_t lengths[] = {SECRET_LEAST, 17, 31,  32,  33,  63,
					 64,           65, 127, 128, 129, SECRET_MOST};
	const struct secret_talk greeting = talk();

	for (size_t i = 0; i < ARRAY_LENGTH(lengths); i++) {
		const size_t places[] = {0, lengths[i] / 2, lengths[i] - 1};
		char text[SECRET_MOST + 1] = {0};
		struct secret_keys keys;
		struct secret secret;

		memset(text, 's', lengths[i]);
		secret = made(text);
		secret_agree(&secret, &greeting, &keys);
		for (size_t j = 0; j < ARRAY_LENGTH(places); j++) {
			struct secret_keys others;
			struct secret other;

			text[places[j]] = 't';
			other = made(text);
			text[places[j]] = 's';
			secret_agree(&other, &greeting, &others);
			assert_false(secret_is_proof(&keys, others.proof));
			assert_memory_not_equal(keys.to_server, others.to_server, SEAL_KEY);
			assert_memory_not_equal(keys.to_client, others.to_client, SEAL_KEY);
			assert_memory_not_equal(keys.pairs, others.pairs, SEAL_KEY);
		}
	}
}

static void test_parsing_32_bytes(void **unused)
{
	static const char *const none[] = {
		NULL,
		"",
		"00",
		"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1",
		"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f0",
		"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1g",
		"000102030405060708090a0b0c0d0e0f 01112131415161718191a1b1c1d1e1f",
	};
	uint8_t bytes[32];

	for (size_t i = 0; i < ARRAY_LENGTH(none); i++)
		assert_false(secret_parse(bytes, none[i]));
	assert_true(secret_parse(
		bytes, "000102030405060708090A0b0c0d0e0f101112131415161718191a1b1c1d1e1f"));
	for (uint8_t i = 0; i < 32; i++)
		assert_int_equal(bytes[i], i);
}

static void test_tickets(void **unused)
{
	const struct secret_talk greeting = talk();
	const uint8_t *const keys[] = {greeting.client_nonce, greeting.client_nonce,
				       greeting.client_nonce, greeting.server_nonce};
	const uint8_t *const salts[] = {greeting.server_nonce, greeting.server_nonce,
					greeting.client_nonce, greeting.server_nonce};
	uint8_t shown[ARRAY_LENGTH(keys)][3][16];

	/* Tickets differ between queue pairs, salts, keys and consecutive connections. */
	for (uint32_t i = 0; i < ARRAY_LENGTH(keys); i++) {
		struct secret_tickets tickets = {0};

		for (size_t j = 0; j < ARRAY_LENGTH(shown[i]); j++) {
			secret_tickets_begin(&tickets, keys[i], salts[i], i % 2);
			secret_tickets_next(&tickets, shown[i][j], 16);
		}
	}
	for (size_t i = 0; i < sizeof(shown) / 16; i++)
		for (size_t j = 0; j < i; j++)
			assert_memory_not_equal(shown[i / 3][i % 3], shown[j / 3][j % 3], 16);
	/* The peer computes the same sequence; a new salt starts over. */
	for (size_t turn = 0; turn < 2; turn++) {
		struct secret_tickets tickets = {0};
		uint8_t ticket[16];

		for (size_t j = 0; j < turn; j++) {
			secret_tickets_begin(&tickets, keys[0], salts[2], 0);
			secret_tickets_next(&tickets, ticket, 16);
		}
		for (size_t j = 0; j < ARRAY_LENGTH(shown[0]); j++) {
			secret_tickets_begin(&tickets, keys[0], salts[0], 0);
			secret_tickets_next(&tickets, ticket, 16);
			assert_memory_equal(ticket, shown[0][j], 16);
		}
	}
}

static void write_file(const char *path, const char *text, mode_t mode)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static void check_file(const char *path, const char *sentence)
{
	struct secret secret;
	struct error error = {0};
	int code = secret_read(&secret, path, &error);

	if (sentence)
		assert_contains(error.text, sentence);
	else
		assert_string_equal(error.text, "");
	assert_int_equal(!code, !sentence);
	assert_int_equal(secret.is_set, !sentence);
}

static void test_files(void **unused)
{
	const struct secret wanted = made(TEXT);
	char folder[] = "/tmp/verbmark-secret-XXXXXX";
	char path[64];
	char huge[5000];
	struct error error = {0};
	struct secret secret;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/secret", folder);
	check_file(path, "--secret-file: cannot open ");
	write_file(path, TEXT "\r\n", 0600);
	check_file(path, NULL);
	/* Line ends do not matter. */
	assert_int_equal(secret_read(&secret, path, &error), 0);
	assert_memory_equal(secret.key, wanted.key, sizeof(secret.key));
	for (mode_t bit = 1; bit <= S_IROTH; bit <<= 1) {
		chmod(path, 0600 | bit);
		check_file(path, "others can read ");
	}
	chmod(path, 0620);
	check_file(path, "others can read ");
	/* Root's group is trusted; other groups may have any members. */
	chmod(path, 0440);
	assert_int_equal(chown(path, (uid_t)-1, getuid() ? getgid() : 12345), 0);
	check_file(path, "others can read ");
	chmod(path, 0400);
	check_file(path, NULL);
	write_file(path, "short", 0600);
	check_file(path, "less than 16 bytes");
	write_file(path, "", 0600);
	check_file(path, "less than 16 bytes");
	memset(huge, 'x', sizeof(huge));
	huge[SECRET_MOST] = '\0';
	write_file(path, huge, 0600);
	check_file(path, NULL);
	huge[SECRET_MOST] = 'x';
	huge[SECRET_MOST + 1] = '\0';
	write_file(path, huge, 0600);
	check_file(path, "longer than 4096 bytes");
	unlink(path);
	check_file(folder, "is not a regular file");
	check_file("/dev/zero", "is not a regular file");
	assert_int_equal(rmdir(folder), 0);
}

static void test_file_of_another_user(void **unused)
{
	char path[] = "/tmp/verbmark-secret-XXXXXX";
	int fd = mkstemp(path);
	bool is_given;

	assert_true(fd >= 0);
	close(fd);
	write_file(path, TEXT, 0600);
	is_given = !geteuid() && !chown(path, 12345, (gid_t)-1);
	if (is_given)
		check_file(path, "belongs to another user");
	unlink(path);
	if (!is_given) {
		print_message("# only root can give a file to another user\n");
		skip();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_keys_depend_on_everything),
		cmocka_unit_test(test_all_of_a_proof_is_compared),
		cmocka_unit_test(test_all_of_a_secret_counts),
		cmocka_unit_test(test_parsing_32_bytes),
		cmocka_unit_test(test_tickets),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_file_of_another_user),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
