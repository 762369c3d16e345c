/* SPDX-License-Identifier: MIT */
/*
 * On-demand paging: the device faults pages in when it accesses them. Untouched memory shows the
 * first accesses, unless the pages are prefetched.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <strings.h>
#include <unistd.h>

#include "core/memory/pages.h"
#include "core/verbs/verbs.h"

static const char *const details[] = {"prefetch", "implicit", "warm"};

static bool has_detail(const char *detail, const char *word)
{
	return detail && !strcasecmp(detail, word);
}

static int odp_parse(char detail[static MEMORY_TEXT], struct error *error)
{
	for (size_t i = 0; i < ARRAY_LENGTH(details); i++)
		if (memory_is_word(detail, details[i]))
			return 0;
	return error_set(error, -EINVAL, "has a detail that is not warm, prefetch or implicit");
}

static int odp_check(const struct memory_request *request, struct error *error)
{
	struct ibv_device_attr_ex attr = {0};
	int code;

	if (!request->device)
		return 0;
	code = verbs_result(ibv_query_device_ex(request->device, NULL, &attr));
	if (code && code != -EOPNOTSUPP)
		return error_set_errno(error, code, "cannot query the device");
	if (!(attr.odp_caps.general_caps & IBV_ODP_SUPPORT))
		return error_set(error, -EOPNOTSUPP,
				 "the device does not support on-demand paging");
	if (has_detail(request->detail, "implicit") &&
	    !(attr.odp_caps.general_caps & IBV_ODP_SUPPORT_IMPLICIT))
		return error_set(error, -EOPNOTSUPP,
				 "the device does not support implicit on-demand paging; use "
				 "--memory odp");
	return 0;
}

static int odp_allocate(struct memory *memory, const struct memory_request *request,
			struct error *error)
{
	int code = odp_check(request, error);

	if (!code)
		code = pages_measure(memory, request->size, (size_t)sysconf(_SC_PAGESIZE), error);
	/* The device touches cold pages later: their promise holds until they are unmapped. */
	if (!code)
		code = pages_promise(memory, request->size, error);
	if (code)
		return code;
	code = pages_map(memory, 0, request->numa_node);
	if (code)
		return error_set_errno(error, code, "no memory for a buffer of %zu bytes",
				       request->size);
	if (has_detail(memory->detail, "warm"))
		pages_touch(memory);
	return 0;
}

/* Brings the pages into the device's table before the first message. */
static int prefetch(struct ibv_pd *pd, struct ibv_mr *mr, struct error *error)
{
	const size_t most = 1U << 30;
	int code = 0;

	for (size_t offset = 0; offset < mr->length && !code; offset += most) {
		size_t rest = mr->length - offset;
		struct ibv_sge sge = {
			.addr = (uintptr_t)mr->addr + offset,
			.length = (uint32_t)(rest < most ? rest : most),
			.lkey = mr->lkey,
		};

		code = verbs_result(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
						  IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1));
	}
	return code ? error_set_errno(error, code, "cannot prefetch memory (ibv_advise_mr)") : 0;
}

/*
 * An implicit region is the whole address space. The peer gets no access to it: with the key it
 * could read and write everything in this process.
 */
static struct ibv_mr *register_implicit(struct ibv_pd *pd, int access, struct error *error)
{
	access &= IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING;
	return verbs_register(pd, NULL, SIZE_MAX, access | IBV_ACCESS_ON_DEMAND, error);
}

static struct ibv_mr *odp_register(const struct memory *memory, size_t offset, size_t length,
				   struct ibv_pd *pd, int access, struct error *error)
{
	struct ibv_mr *mr;

	if (has_detail(memory->detail, "implicit"))
		return register_implicit(pd, access, error);
	mr = verbs_register(pd, memory->cpu + offset, length, access | IBV_ACCESS_ON_DEMAND, error);
	if (!mr || !has_detail(memory->detail, "prefetch") || !prefetch(pd, mr, error))
		return mr;
	ibv_dereg_mr(mr);
	return NULL;
}

static bool odp_is_private(const char *detail)
{
	return has_detail(detail, "implicit");
}

static void odp_describe(const struct memory *memory, struct memory_facts *facts)
{
	snprintf(facts->path, sizeof(facts->path), "IBV_ACCESS_ON_DEMAND");
}

const struct memory_kind memory_odp = {
	.name = "odp",
	.parse = odp_parse,
	.is_private = odp_is_private,
	.check = odp_check,
	.allocate = odp_allocate,
	.release = pages_unmap,
	.register_region = odp_register,
	.describe = odp_describe,
};
