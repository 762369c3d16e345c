/* SPDX-License-Identifier: MIT */
#include "core/verbs/post.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/base/cacheline.h"

int post_list_open(struct post_list *list, unsigned int n, struct error *error)
{
	*list = (struct post_list){
		.n = n,
		.works = cacheline_calloc(n, sizeof(*list->works)),
		.sends = cacheline_calloc(n, sizeof(*list->sends)),
		.receives = cacheline_calloc(n, sizeof(*list->receives)),
	};
	if (n && list->works && list->sends && list->receives)
		return 0;
	post_list_close(list);
	return error_set(error, n ? -ENOMEM : -EINVAL, "cannot allocate a list of %u work requests",
			 n);
}

void post_list_close(struct post_list *list)
{
	free(list->works);
	free(list->sends);
	free(list->receives);
	*list = (struct post_list){0};
}

void post_list_link(struct post_list *list, enum post_operation operation)
{
	for (unsigned int i = 0; i < list->n; i++) {
		struct post_work *work = &list->works[i];
		bool is_last = i + 1 == list->n;

		post_request(&list->sends[i], work, operation, 0);
		list->sends[i].next = is_last ? NULL : &list->sends[i + 1];
		list->receives[i] = (struct ibv_recv_wr){
			.wr_id = work->id,
			.next = is_last ? NULL : &list->receives[i + 1],
			.sg_list = work->sges,
			.num_sge = work->n_sges,
		};
	}
}

void post_cut(struct post_work *work, const struct ibv_sge *whole, unsigned int n_sges)
{
	work->n_sges = (int)n_sges;
	for (unsigned int i = 0; i < n_sges; i++) {
		work->sges[i].length = whole->length / n_sges + (i < whole->length % n_sges);
		work->sges[i].lkey = whole->lkey;
	}
	post_move(work, whole->addr);
}

int post_routed(const struct post_queue *queue, const struct post_work *work,
		enum post_operation operation, unsigned int signaled)
{
	return post_extended(queue, work, operation, POST_EXTENDED_LIST, signaled);
}

int post_routed_list(const struct post_queue *queue, const struct post_list *list,
		     unsigned int count, enum post_operation operation, unsigned int signaled)
{
	return post_extended_list(queue, list, count, operation, POST_EXTENDED_LIST, signaled);
}
