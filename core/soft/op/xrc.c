/* SPDX-License-Identifier: MIT */
#include "core/soft/op/xrc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/soft/peer/process.h"

static uint32_t last_number;

/* Returns another handle of the domain of the same file, or NULL. */
static const struct soft_xrcd *find(const struct soft_xrcd *xrcd)
{
	const struct soft_xrcd *one = xrcd->has_file ? soft_process.xrcds : NULL;

	while (one && (!one->has_file || one->device != xrcd->device || one->inode != xrcd->inode))
		one = one->next;
	return one;
}

static int identify(struct soft_xrcd *xrcd, const struct ibv_xrcd_init_attr *attr)
{
	const uint32_t needed = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
	struct stat status;

	if (attr->comp_mask != needed || attr->oflags & ~(O_CREAT | O_EXCL))
		return EINVAL;
	if (attr->fd == -1)
		return 0;
	if (fstat(attr->fd, &status))
		return errno;
	xrcd->has_file = true;
	xrcd->device = status.st_dev;
	xrcd->inode = status.st_ino;
	return 0;
}

/* Call with the mutex held. */
static int join(struct soft_xrcd *xrcd, int oflags)
{
	const struct soft_xrcd *other = find(xrcd);

	if (other && oflags & O_EXCL)
		return EINVAL;
	if (!other && xrcd->has_file && !(oflags & O_CREAT))
		return EAGAIN;
	xrcd->number = other ? other->number : ++last_number;
	xrcd->next = soft_process.xrcds;
	soft_process.xrcds = xrcd;
	return 0;
}

struct ibv_xrcd *soft_xrc_open(struct ibv_context *context, struct ibv_xrcd_init_attr *attr)
{
	struct soft_xrcd *xrcd = calloc(1, sizeof(*xrcd));
	int result = xrcd ? identify(xrcd, attr) : ENOMEM;

	if (!result) {
		xrcd->verbs.context = context;
		pthread_mutex_lock(&soft_process.xrcds_mutex);
		result = join(xrcd, attr->oflags);
		pthread_mutex_unlock(&soft_process.xrcds_mutex);
	}
	if (!result)
		return &xrcd->verbs;
	free(xrcd);
	errno = result;
	return NULL;
}

int soft_xrc_close(struct ibv_xrcd *verbs)
{
	struct soft_xrcd *xrcd = soft_xrc_of(verbs);
	struct soft_xrcd **at = &soft_process.xrcds;

	if (atomic_load(&xrcd->users))
		return EBUSY;
	pthread_mutex_lock(&soft_process.xrcds_mutex);
	/* A forked child does not list what it inherited. */
	while (*at && *at != xrcd)
		at = &(*at)->next;
	if (*at)
		*at = xrcd->next;
	pthread_mutex_unlock(&soft_process.xrcds_mutex);
	free(xrcd);
	return 0;
}

bool soft_xrc_uses(const struct soft_xrcd *xrcd, uint32_t cq)
{
	const struct soft_srq_image *srqs = soft_process.arena.image->srq;

	for (uint32_t i = 1; i < SOFT_SRQS; i++)
		if (atomic_load(&srqs[i].xrcd) == xrcd->number && srqs[i].cq == cq)
			return true;
	return false;
}
