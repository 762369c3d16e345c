/* SPDX-License-Identifier: MIT */
/*
 * Marks the functions that replace those of other libraries; all others are hidden. The
 * symbols are unversioned, so that they match every version of a name.
 */
#ifndef CORE_SOFT_EXPORT_H
#define CORE_SOFT_EXPORT_H

#define SOFT_EXPORT __attribute__((visibility("default")))

#endif
