/* SPDX-License-Identifier: MIT */
/* Words and limits of fleet documents, for document.c and parse.c. */
#ifndef REPORTS_FLEET_MEMBER_H
#define REPORTS_FLEET_MEMBER_H

#include "reports/fleet/fleet.h"

#define FLEET_FAULTS 4

/* Names of enum fleet_presence, and of the bits of enum fleet_fault. */
extern const char *const fleet_presence_names[3];
extern const char *const fleet_fault_names[FLEET_FAULTS];

#endif
