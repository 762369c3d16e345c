/* SPDX-License-Identifier: MIT */
#include "bench/lane/window.h"

#include "core/verbs/verbs.h"

int window_open(struct window *window, struct ibv_pd *pd, enum ibv_mw_type type, size_t bytes,
		struct error *error)
{
	const struct memory_request request = {.size = bytes, .numa_node = -1};
	struct ibv_mw_bind_info *info = &window->post.info;
	int code;

	if (window->post.mw)
		return 0;
	code = memory_open(&window->memory, &memory_host, &request, error);
	if (code)
		return code;
	window->mr = memory_register(&window->memory, 0, bytes, pd,
				     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND, error);
	if (!window->mr)
		return error->code;
	window->post.mw = ibv_alloc_mw(pd, type);
	if (!window->post.mw)
		return error_set_errno(error, verbs_null(), "cannot allocate a memory window");
	*info = (struct ibv_mw_bind_info){
		.mr = window->mr,
		.addr = window->memory.address,
		.length = bytes,
		.mw_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE,
	};
	return 0;
}

void window_close(struct window *window)
{
	if (window->post.mw)
		ibv_dealloc_mw(window->post.mw);
	if (window->mr)
		ibv_dereg_mr(window->mr);
	memory_close(&window->memory);
	*window = (struct window){0};
}
