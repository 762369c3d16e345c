/* SPDX-License-Identifier: MIT */
/*
 * What stands in the place of libibverbs and librdmacm is seen outside; nothing
 * else is. The symbols are unversioned, so that they catch every version of a name.
 */
#ifndef CORE_SOFT_EXPORT_H
#define CORE_SOFT_EXPORT_H

#define SOFT_EXPORT __attribute__((visibility("default")))

#endif
