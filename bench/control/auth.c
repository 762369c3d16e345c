/* SPDX-License-Identifier: MIT */
#include "bench/control/auth.h"

#include <errno.h>
#include <string.h>

#include "bench/control/protocol.h"
#include "core/base/clock.h"

/* Time limit for the whole handshake, which needs no work at either end. */
#define AUTH_MS 5000

static int receive(struct control *control, json_t **message, uint64_t deadline,
		   struct error *error)
{
	int left_ms = clock_left_ms(deadline);
	struct error fault = {0};
	int code = control_receive(control, message, left_ms ? (unsigned int)left_ms : 1, &fault);

	if (code == -ETIMEDOUT && !control_ended(control, error))
		return error_set(error, code, "no answer within %u ms", AUTH_MS);
	return code ? error_set(error, code, "%s", fault.text) : 0;
}

static int await_answer(struct control *control, const struct auth_server *server, json_t **message,
			uint64_t deadline, struct error *error)
{
	int code = receive(control, message, deadline, error);

	return code ? error_wrap(error, "%s:%u", server->host, server->port) : 0;
}

/* Sends the proof. The client's own messages are sealed only after the welcome. */
static int prove(struct control *control, const struct secret_keys *keys, struct error *error)
{
	char proof[SECRET_HEX];
	int code = control_expect_seals(control, keys->to_client, error);

	if (code)
		return code;
	secret_print(keys->proof, proof);
	memcpy(control->pair_key, keys->pairs, sizeof(control->pair_key));
	memcpy(control->own_key, keys->to_server, sizeof(control->own_key));
	return control_send(control, json_pack("{s:s, s:s}", "type", "proof", "proof", proof),
			    error);
}

/* Answers the challenge. A server that does not ask for the secret may be an impostor. */
static int answer(struct control *control, const struct secret *secret, struct secret_talk *talk,
		  const json_t *challenge, const char *who, struct error *error)
{
	struct secret_keys keys;
	int code;

	if (protocol_is(challenge, "welcome"))
		return error_set(error, -EACCES,
				 "%s does not ask for a secret: start it with 'verbmark serve "
				 "--secret-file', or omit --secret-file",
				 who);
	if (protocol_expect(challenge, "challenge", who, error))
		return error->code;
	talk->server_version = json_string_value(json_object_get(challenge, "version"));
	if (!talk->server_version ||
	    !secret_parse(talk->server_nonce,
			  json_string_value(json_object_get(challenge, "nonce"))))
		return error_set(error, -EPROTO, "%s: malformed challenge", who);
	secret_agree(secret, talk, &keys);
	code = prove(control, &keys, error);
	secret_forget_keys(&keys);
	return code;
}

static int say_with_secret(struct control *control, const struct secret *secret,
			   const struct auth_server *server, uint64_t deadline, struct error *error)
{
	struct secret_talk talk = {.client_version = VERBMARK_VERSION};
	struct error ignored = {0};
	char nonce[SECRET_HEX];
	json_t *message;
	int code;

	secret_nonce(talk.client_nonce);
	secret_print(talk.client_nonce, nonce);
	/* A server that rejects the connection may already have sent the reason. */
	control_send(control, protocol_hello(nonce), &ignored);
	code = await_answer(control, server, &message, deadline, error);
	if (code)
		return code;
	code = answer(control, secret, &talk, message, server->who, error);
	json_decref(message);
	return code;
}

int auth_say(struct control *control, const struct secret *secret, const struct auth_server *server,
	     json_t **welcome, struct error *error)
{
	uint64_t deadline = clock_deadline(AUTH_MS);
	struct error ignored = {0};
	int code = 0;

	*welcome = NULL;
	if (secret->is_set)
		code = say_with_secret(control, secret, server, deadline, error);
	else
		control_send(control, protocol_hello(NULL), &ignored);
	if (!code)
		code = await_answer(control, server, welcome, deadline, error);
	if (!code)
		code = protocol_expect(*welcome, "welcome", server->who, error);
	if (!code && secret->is_set)
		control_seal(control);
	if (!code)
		return 0;
	json_decref(*welcome);
	*welcome = NULL;
	return code;
}

static int want_nonce(const struct secret *secret, const json_t *hello, struct secret_talk *talk,
		      struct error *error)
{
	const char *nonce = json_string_value(json_object_get(hello, "nonce"));

	if (secret_parse(talk->client_nonce, nonce))
		return 0;
	if (secret->is_token)
		return error_set(error, -EACCES,
				 "this server accepts only the client that started it");
	return error_set(error, -EACCES,
			 "this server has a secret: use the same --secret-file at both ends");
}

/* Checks the client's proof. Reveals only whether it is right, so as not to help guessing. */
static int check_proof(struct control *control, const struct secret_keys *keys, uint64_t deadline,
		       struct error *error)
{
	uint8_t proof[SECRET_PROOF];
	json_t *message;
	int code = receive(control, &message, deadline, error);

	if (code)
		return code;
	if (!protocol_is(message, "proof") ||
	    !secret_parse(proof, json_string_value(json_object_get(message, "proof"))))
		code = error_set(error, -EPROTO, "malformed proof of the secret");
	else if (!secret_is_proof(keys, proof))
		code = error_set(error, -EACCES,
				 "wrong secret: --secret-file must be the same at both ends");
	json_decref(message);
	return code;
}

static int challenge(struct control *control, const struct secret *secret, const json_t *hello,
		     uint64_t deadline, struct error *error)
{
	struct secret_talk talk = {
		.client_version = json_string_value(json_object_get(hello, "version")),
		.server_version = VERBMARK_VERSION,
	};
	struct secret_keys keys;
	char nonce[SECRET_HEX];
	int code = want_nonce(secret, hello, &talk, error);

	if (code)
		return code;
	secret_nonce(talk.server_nonce);
	secret_print(talk.server_nonce, nonce);
	secret_agree(secret, &talk, &keys);
	code = control_send(control,
			    json_pack("{s:s, s:s, s:s}", "type", "challenge", "nonce", nonce,
				      "version", VERBMARK_VERSION),
			    error);
	if (!code)
		code = check_proof(control, &keys, deadline, error);
	if (!code)
		code = control_expect_seals(control, keys.to_server, error);
	if (!code) {
		memcpy(control->pair_key, keys.pairs, sizeof(control->pair_key));
		memcpy(control->own_key, keys.to_client, sizeof(control->own_key));
		control_seal(control);
	}
	secret_forget_keys(&keys);
	return code;
}

int auth_hear(struct control *control, const struct secret *secret, struct error *error)
{
	uint64_t deadline = clock_deadline(AUTH_MS);
	json_t *message;
	int code = receive(control, &message, deadline, error);

	if (code)
		return code;
	code = protocol_check_hello(message, error);
	if (!code && secret->is_set)
		code = challenge(control, secret, message, deadline, error);
	json_decref(message);
	return code;
}
