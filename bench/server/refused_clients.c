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

/* Of one a second at most: they could fill a log as fast as they knock. */
static void tell(struct refused_clients *refused, const char *name)
{
	uint64_t now_ns = clock_now_ns();
	char others[48] = "";

	if (now_ns < refused->reported_ns + NS_PER_S) {
		refused->n_untold++;
		return;
	}
	if (refused->n_untold)
		snprintf(others, sizeof(others), ", nor were %" PRIu64 " others before",
			 refused->n_untold);
	log_say("client %s: not of a network of --allow%s", name, others);
	refused->reported_ns = now_ns;
	refused->n_untold = 0;
}

void refused_clients_turn(struct refused_clients *refused, int fd, const char *name)
{
	char reason[160];
	size_t length;
	uint8_t *frame;
	json_t *message;

	snprintf(reason, sizeof(reason),
		 "this server serves nobody at %s: add its network to 'serve --allow' there", name);
	tell(refused, name);
	message = protocol_refusal(reason);
	frame = frame_encode(message, &length);
	if (frame && send(fd, frame, length, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		length = 0; /* it has gone */
	free(frame);
	json_decref(message);
	close(fd);
}
