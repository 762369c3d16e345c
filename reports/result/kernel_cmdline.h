/* SPDX-License-Identifier: MIT */
/*
 * Of a kernel's command line the words that a measurement depends on; all else may tell
 * of disks, networks and names.
 */
#ifndef REPORTS_RESULT_KERNEL_CMDLINE_H
#define REPORTS_RESULT_KERNEL_CMDLINE_H

#define KERNEL_CMDLINE_KEPT 512

/* Words that do not fit are left out. -ENOMEM, with nothing kept. */
int kernel_cmdline_keep(const char *line, char kept[static KERNEL_CMDLINE_KEPT]);

#endif
