/* SPDX-License-Identifier: MIT */
#include "bench/server/refused_clients.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/cli/log.h"
#include "bench/control/frame.h"
#include "bench/control/protocol.h"
#include "core/base/clock.h"

/* Logs at most one rejection per second: clients could fill a log as fast as they connect. */
static void log_rejection(struct refused_clients *refused, const char *name)
{
	uint64_t now_ns = clock_now_ns();
	char others[48] = "";

	if (now_ns < refused->reported_ns + NS_PER_S) {
		refused->n_unreported++;
		return;
	}
	if (refused->n_unreported)
		snprintf(others, sizeof(others), " (and %" PRIu64 " others before)",
			 refused->n_unreported);
	log_say("client %s: address is not in any network of --allow%s", name, others);
	refused->reported_ns = now_ns;
	refused->n_unreported = 0;
}

void refused_clients_turn(struct refused_clients *refused, int fd, const char *name)
{
	char reason[160];
	size_t length;
	uint8_t *frame;
	json_t *message;

	snprintf(reason, sizeof(reason),
		 "clients from %s are not allowed; add their network to 'serve --allow'", name);
	log_rejection(refused, name);
	message = protocol_refusal(reason);
	frame = frame_encode(message, &length);
	if (frame && send(fd, frame, length, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		length = 0; /* the client is gone */
	free(frame);
	json_decref(message);
	close(fd);
}
