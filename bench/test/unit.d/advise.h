/* SPDX-License-Identifier: MIT */
/*
 * Makes advice in tests, from facts about client and server written as JSON (see made_up.h).
 */
#ifndef BENCH_TEST_UNIT_D_ADVISE_H
#define BENCH_TEST_UNIT_D_ADVISE_H

#include "bench/host/advice/advice.h"
#include "bench/test/unit.d/made_up_json.h"
#include "core/base/compiler.h"
#include "core/test/lib/made_up.h"

/* The facts known about one side, as JSON; a member is NULL if nothing is known. */
struct known {
	const char *facts;
	const char *before;
	const char *after;
	const char *counters;
	bool is_lone;
};

struct end {
	json_t *json[4];
	struct advice_end end;
};

static inline void end_open(struct end *end, const struct known *known)
{
	const char *const texts[] = {known->facts, known->before, known->after, known->counters};

	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++)
		end->json[i] = texts[i] ? made_up_json(texts[i]) : NULL;
	end->end = (struct advice_end){end->json[0], end->json[1], end->json[2], end->json[3],
				       known->is_lone};
}

static inline void end_close(struct end *end)
{
	for (size_t i = 0; i < ARRAY_LENGTH(end->json); i++)
		json_decref(end->json[i]);
}

static inline json_t *advise(const struct known *local, const struct known *remote)
{
	struct end ends[2] = {0};
	json_t *findings;

	end_open(&ends[0], local);
	if (remote)
		end_open(&ends[1], remote);
	findings = advice_make(&ends[0].end, remote ? &ends[1].end : NULL);
	end_close(&ends[0]);
	end_close(&ends[1]);
	assert_non_null(findings);
	return findings;
}

static inline const char *text(const json_t *finding, const char *key)
{
	return json_string_value(json_object_get(finding, key));
}

#endif
