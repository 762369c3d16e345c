/* SPDX-License-Identifier: MIT */
/*
 * Selects the words of a kernel command line that affect measurements. The rest is dropped, as it
 * may reveal disks, networks and names.
 */
#ifndef REPORTS_RESULT_KERNEL_CMDLINE_H
#define REPORTS_RESULT_KERNEL_CMDLINE_H

#define KERNEL_CMDLINE_KEPT 512

/* Copies the relevant words; drops those that do not fit. -ENOMEM: kept is empty. */
int kernel_cmdline_keep(const char *line, char kept[static KERNEL_CMDLINE_KEPT]);

#endif
