/* SPDX-License-Identifier: MIT */
/* Gathers one section of the facts about a made-up machine. */
#ifndef BENCH_TEST_UNIT_D_SECTION_H
#define BENCH_TEST_UNIT_D_SECTION_H

#include "bench/host/facts/facts.h"
#include "bench/test/unit.d/made_up_json.h"
#include "core/test/lib/made_up.h"

static inline json_t *section_gather(const struct made_up *machine, const char *device,
				     const char *name)
{
	json_t *facts = facts_gather(machine->root, device, 1);
	json_t *section = json_incref(json_object_get(facts, name));

	json_decref(facts);
	return section;
}

#define check_section(machine, device, name, wanted)                     \
	do {                                                             \
		json_t *section = section_gather(machine, device, name); \
		assert_json(section, wanted);                            \
		json_decref(section);                                    \
	} while (0)

#endif
