/* SPDX-License-Identifier: MIT */
/*
 * Outlines the rows and columns of bad nodes and rails in a heat map, circles bad links, and prints
 * the names beside both.
 */
#ifndef REPORTS_FLEET_PAGE_CULPRITS_H
#define REPORTS_FLEET_PAGE_CULPRITS_H

#include "reports/fleet/page/canvas.h"

/* Limits the culprits that a map marks and a list names. */
#define CULPRITS_MOST 100

/* Sets rows and columns. */
void culprits_find(struct canvas *canvas);

/* Returns the room in pixels for the largest name at an axis. */
int culprits_room(const struct canvas *canvas);

void culprits_print_marks(const struct canvas *canvas);

/* Names the culprits at both axes, and as many other nodes as have room. */
void culprits_print_names(const struct canvas *canvas);

#endif
