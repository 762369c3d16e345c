/* SPDX-License-Identifier: MIT */
/*
 * rdma_getaddrinfo: converts the results of getaddrinfo.
 */
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "core/soft/cm/cm.h"
#include "core/soft/export.h"

static int copy_address(struct sockaddr **to, socklen_t *to_size, const struct sockaddr *from,
			socklen_t size)
{
	if (!from || !size)
		return 0;
	*to = calloc(1, size);
	if (!*to)
		return EAI_MEMORY;
	memcpy(*to, from, size);
	*to_size = size;
	return 0;
}

static int copy_name(char **to, const char *from)
{
	if (!from)
		return 0;
	*to = strdup(from);
	return *to ? 0 : EAI_MEMORY;
}

/* Derives the queue pair type from the port space, or the other way around. */
static void choose_type(struct rdma_addrinfo *info, const struct rdma_addrinfo *hints)
{
	info->ai_qp_type = hints ? hints->ai_qp_type : 0;
	info->ai_port_space = hints ? hints->ai_port_space : 0;
	if (!info->ai_port_space)
		info->ai_port_space = info->ai_qp_type == IBV_QPT_UD ? RDMA_PS_UDP : RDMA_PS_TCP;
	if (!info->ai_qp_type)
		info->ai_qp_type =
			info->ai_port_space == RDMA_PS_UDP || info->ai_port_space == RDMA_PS_IPOIB
				? IBV_QPT_UD
				: IBV_QPT_RC;
}

static int convert(struct rdma_addrinfo *info, const struct addrinfo *found,
		   const struct rdma_addrinfo *hints)
{
	int flags = hints ? hints->ai_flags : 0;
	int result;

	info->ai_flags = flags;
	info->ai_family = found->ai_family;
	choose_type(info, hints);
	if (flags & RAI_PASSIVE) {
		result = copy_address(&info->ai_src_addr, &info->ai_src_len, found->ai_addr,
				      found->ai_addrlen);
		return result ? result : copy_name(&info->ai_src_canonname, found->ai_canonname);
	}
	result = copy_address(&info->ai_dst_addr, &info->ai_dst_len, found->ai_addr,
			      found->ai_addrlen);
	if (!result)
		result = copy_name(&info->ai_dst_canonname, found->ai_canonname);
	if (!result && hints)
		result = copy_address(&info->ai_src_addr, &info->ai_src_len, hints->ai_src_addr,
				      hints->ai_src_len);
	return result;
}

/* Converts all results, in order. Returns 0 or an error code of getaddrinfo(). */
static int convert_all(struct rdma_addrinfo **info, const struct addrinfo *found,
		       const struct rdma_addrinfo *hints)
{
	struct rdma_addrinfo **at = info;

	for (; found; found = found->ai_next) {
		int result;

		if (found->ai_family != AF_INET && found->ai_family != AF_INET6)
			continue;
		*at = calloc(1, sizeof(**at));
		if (!*at)
			return EAI_MEMORY;
		result = convert(*at, found, hints);
		if (result)
			return result;
		at = &(*at)->ai_next;
	}
	return *info ? 0 : EAI_FAMILY;
}

/* Returns the addresses of the hints. Returns 0 or an error code of getaddrinfo(). */
static int convert_hints(struct rdma_addrinfo **info, const struct rdma_addrinfo *hints)
{
	struct rdma_addrinfo *made = calloc(1, sizeof(*made));
	int result;

	*info = made;
	if (!made)
		return EAI_MEMORY;
	made->ai_flags = hints->ai_flags;
	made->ai_family = hints->ai_family;
	made->ai_qp_type = hints->ai_qp_type;
	made->ai_port_space = hints->ai_port_space;
	result = copy_address(&made->ai_dst_addr, &made->ai_dst_len, hints->ai_dst_addr,
			      hints->ai_dst_len);
	return result ? result
		      : copy_address(&made->ai_src_addr, &made->ai_src_len, hints->ai_src_addr,
				     hints->ai_src_len);
}

/* Asks getaddrinfo(). Returns 0 or its error code. */
static int look_up(struct rdma_addrinfo **info, const char *node, const char *service,
		   const struct rdma_addrinfo *hints)
{
	struct addrinfo wanted = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;
	int result;

	if (hints) {
		wanted.ai_flags = (hints->ai_flags & RAI_PASSIVE ? AI_PASSIVE : 0) |
				  (hints->ai_flags & RAI_NUMERICHOST ? AI_NUMERICHOST : 0);
		if (hints->ai_flags & RAI_FAMILY)
			wanted.ai_family = hints->ai_family;
	}
	result = getaddrinfo(node, service, &wanted, &found);
	if (result)
		return result;
	result = convert_all(info, found, hints);
	freeaddrinfo(found);
	return result;
}

SOFT_EXPORT int rdma_getaddrinfo(const char *node, const char *service,
				 const struct rdma_addrinfo *hints, struct rdma_addrinfo **info)
{
	int result;

	if (!node && !service && !hints)
		return soft_cm_return(EINVAL);
	if (soft_cm_enter())
		return soft_cm_return(ENODEV);
	*info = NULL;
	result = node || service ? look_up(info, node, service, hints) : convert_hints(info, hints);
	if (result) {
		rdma_freeaddrinfo(*info);
		*info = NULL;
	}
	return result;
}

SOFT_EXPORT void rdma_freeaddrinfo(struct rdma_addrinfo *info)
{
	while (info) {
		struct rdma_addrinfo *next = info->ai_next;

		free(info->ai_src_addr);
		free(info->ai_dst_addr);
		free(info->ai_src_canonname);
		free(info->ai_dst_canonname);
		free(info->ai_route);
		free(info->ai_connect);
		free(info);
		info = next;
	}
}
