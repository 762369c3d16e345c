/* SPDX-License-Identifier: MIT */
/*
 * Listeners and their unfetched requests. Up to the backlog, requests are announced; the others
 * wait.
 */
#include <errno.h>
#include <netinet/in.h>

#include "core/soft/cm/cm.h"
#include "core/soft/cm/port.h"
#include "core/soft/export.h"

enum {
	BACKLOG_MAX = 1024, /* like the kernel's /proc/sys/net/rdma_ucm/max_backlog */
};

static struct soft_cm_id *listeners;

struct soft_cm_id *soft_cm_listener(uint32_t port)
{
	struct soft_cm_id *id = listeners;

	while (id && id->port != port)
		id = id->next_listener;
	return id;
}

void soft_cm_listener_forget(struct soft_cm_id *id)
{
	struct soft_cm_id **at = &listeners;

	while (*at && *at != id)
		at = &(*at)->next_listener;
	if (*at)
		*at = id->next_listener;
}

void soft_cm_listener_forget_all(void)
{
	listeners = NULL;
}

void soft_cm_admit(struct soft_cm_id *listener)
{
	for (struct soft_cm_id *one = listener->requests; one && listener->room;
	     one = one->next_request) {
		if (one->is_announced)
			continue;
		one->is_announced = true;
		listener->room--;
		soft_cm_announce(one);
	}
}

SOFT_EXPORT int rdma_listen(struct rdma_cm_id *verbs, int backlog)
{
	struct soft_cm_id *id = soft_cm_id_of(verbs);
	struct sockaddr_in any = {.sin_family = AF_INET};
	int result;

	if (id->state == SOFT_CM_IDLE && rdma_bind_addr(verbs, (struct sockaddr *)&any))
		return -1;
	if (id->state != SOFT_CM_BOUND)
		return soft_cm_return(EINVAL);
	pthread_mutex_lock(&soft_cm_mutex);
	id->room = backlog > 0 && backlog < BACKLOG_MAX ? (uint32_t)backlog : BACKLOG_MAX;
	id->next_listener = listeners;
	listeners = id;
	/* From here on, peers find the listener, which is already in the list. */
	result = soft_cm_port_listen(id->port);
	if (result)
		soft_cm_listener_forget(id);
	else
		id->state = SOFT_CM_LISTENING;
	pthread_mutex_unlock(&soft_cm_mutex);
	return soft_cm_return(result);
}
