/* SPDX-License-Identifier: MIT */
#include "core/soft/op/moderation.h"

#include <errno.h>
#include <pthread.h>

#include "core/soft/op/cq.h"
#include "core/soft/peer/process.h"
#include "core/soft/time.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct soft_cq *moderated;

static void list(struct soft_cq *cq)
{
	if (cq->is_moderated)
		return;
	cq->is_moderated = true;
	cq->next_moderated = moderated;
	moderated = cq;
}

void soft_moderation_remove(struct soft_cq *cq)
{
	struct soft_cq **at = &moderated;

	pthread_mutex_lock(&mutex);
	while (*at && *at != cq)
		at = &(*at)->next_moderated;
	if (*at)
		*at = cq->next_moderated;
	cq->is_moderated = false;
	pthread_mutex_unlock(&mutex);
}

void soft_moderation_run(void)
{
	uint64_t earliest_ns = UINT64_MAX;

	pthread_mutex_lock(&mutex);
	for (struct soft_cq *cq = moderated; cq; cq = cq->next_moderated) {
		uint64_t due_ns = soft_cq_raise_due(cq, soft_time_ns());

		if (due_ns < earliest_ns)
			earliest_ns = due_ns;
	}
	if (earliest_ns != UINT64_MAX)
		soft_service_set_timer(&soft_process.service.moderation, earliest_ns);
	pthread_mutex_unlock(&mutex);
}

void soft_moderation_forget(void)
{
	pthread_mutex_init(&mutex, NULL);
	moderated = NULL;
}

int soft_moderation_modify(struct ibv_cq *verbs, struct ibv_modify_cq_attr *attr)
{
	struct soft_cq *cq = soft_cq_of(verbs);

	if (attr->attr_mask & ~(uint32_t)IBV_CQ_ATTR_MODERATE)
		return EOPNOTSUPP;
	if (!(attr->attr_mask & IBV_CQ_ATTR_MODERATE))
		return 0;
	if (attr->moderate.cq_period > SOFT_MODERATION_US)
		return EINVAL;
	pthread_mutex_lock(&mutex);
	list(cq);
	pthread_mutex_unlock(&mutex);
	soft_cq_moderate(cq, attr->moderate.cq_count, attr->moderate.cq_period);
	return 0;
}
