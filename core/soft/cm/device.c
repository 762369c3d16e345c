/* SPDX-License-Identifier: MIT */
/*
 * The device that rdma_cm uses: opened on first use, with one context for the process.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/soft/cm/cm.h"
#include "core/soft/export.h"
#include "core/soft/op/xrc.h"
#include "core/soft/peer/process.h"

pthread_mutex_t soft_cm_mutex = PTHREAD_MUTEX_INITIALIZER;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_xrcd *xrcd;
static pid_t opener;

int soft_cm_return(int result)
{
	if (!result)
		return 0;
	errno = result < 0 ? -result : result;
	return -1;
}

/* A forked child has its own device and none of its parent's connections. */
static void forget_parent(void)
{
	pthread_mutex_init(&soft_cm_mutex, NULL);
	soft_cm_timer_forget();
	soft_cm_listener_forget_all();
	context = NULL;
	pd = NULL;
	xrcd = NULL;
}

static int open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int result = 0;

	if (!list)
		return -ENOMEM;
	context = list[0] ? ibv_open_device(list[0]) : NULL;
	if (!context)
		result = list[0] ? -errno : -ENODEV;
	ibv_free_device_list(list);
	if (result)
		return result;
	pd = ibv_alloc_pd(context);
	result = pd ? soft_cm_timer_open() : -errno;
	if (!result) {
		/* It stays allocated until exit, so do not count it: it would look like a leak. */
		soft_process_count(SOFT_KIND_PD, -1);
		return 0;
	}
	if (pd)
		ibv_dealloc_pd(pd);
	ibv_close_device(context);
	pd = NULL;
	context = NULL;
	return result;
}

int soft_cm_enter(void)
{
	int result = 0;

	if (opener && opener != getpid()) {
		pthread_mutex_init(&mutex, NULL);
		forget_parent();
	}
	pthread_mutex_lock(&mutex);
	opener = getpid();
	if (!context)
		result = open_device();
	pthread_mutex_unlock(&mutex);
	return result;
}

struct ibv_context *soft_cm_context(void)
{
	return context;
}

struct ibv_pd *soft_cm_pd(void)
{
	return pd;
}

struct ibv_xrcd *soft_cm_xrcd(void)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};

	pthread_mutex_lock(&mutex);
	if (!xrcd)
		xrcd = soft_xrc_open(context, &attr);
	pthread_mutex_unlock(&mutex);
	return xrcd;
}

SOFT_EXPORT struct ibv_context **rdma_get_devices(int *count)
{
	struct ibv_context **list = NULL;
	int result = soft_cm_enter();

	if (!result)
		list = calloc(2, sizeof(struct ibv_context *));
	if (list)
		list[0] = context;
	else
		errno = result ? -result : ENOMEM;
	if (count)
		*count = list ? 1 : 0;
	return list;
}

SOFT_EXPORT void rdma_free_devices(struct ibv_context **list)
{
	free(list);
}
