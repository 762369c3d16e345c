/* SPDX-License-Identifier: MIT */
#include "bench/fleet/meeting.h"

#include "bench/control/auth.h"
#include "bench/control/protocol.h"

int meeting_open(struct meeting *meeting, const struct pair_server *server, const char *who,
		 const struct dial_stop *stop, struct error *error)
{
	const struct auth_server named = {who, server->host, server->port};
	struct secret secret = {0};
	json_t *welcome = NULL;
	int fd = dial_until(server->host, server->port, 0, stop, error);
	int code = fd < 0 ? fd : control_open(&meeting->control, fd, error);

	if (code)
		return code;
	meeting->who = who;
	meeting->is_open = true;
	code = secret_take(&secret, server->token, error);
	secret.is_token = true;
	if (!code)
		code = auth_say(&meeting->control, &secret, &named, &welcome, error);
	json_decref(welcome);
	secret_forget(&secret);
	if (code) {
		control_close(&meeting->control);
		meeting->is_open = false;
	}
	return code;
}

void meeting_close(struct meeting *meeting)
{
	struct error ignored = {0};

	if (!meeting->is_open)
		return;
	control_send(&meeting->control, protocol_plain("bye"), &ignored);
	control_close(&meeting->control);
	meeting->is_open = false;
}

/* Sends a message and waits for an answer of that type. */
static int ask(struct meeting *meeting, json_t *message, const char *type, unsigned int timeout_ms,
	       const struct dial_stop *stop, struct error *error)
{
	json_t *answer;
	int code = control_send(&meeting->control, message, error);

	if (!code)
		code = control_await(&meeting->control, &answer, timeout_ms, stop, error);
	if (code)
		return code;
	code = protocol_expect(answer, type, meeting->who, error);
	json_decref(answer);
	return code;
}

int meeting_begin(struct meeting *meeting, uint32_t round, unsigned int timeout_ms,
		  const struct dial_stop *stop, struct error *error)
{
	return ask(meeting, json_pack("{s:s, s:I}", "type", "meet", "round", (json_int_t)round),
		   "met", timeout_ms, stop, error);
}

int meeting_report(struct meeting *meeting, uint32_t rank, size_t first, json_t *pairs,
		   bool is_last, struct error *error)
{
	return ask(meeting,
		   json_pack("{s:s, s:I, s:I, s:O, s:b}", "type", "report", "rank",
			     (json_int_t)rank, "first", (json_int_t)first, "pairs", pairs, "last",
			     is_last),
		   "reported", PROTOCOL_ANSWER_MS, NULL, error);
}
