/* SPDX-License-Identifier: MIT */
/*
 * Plans as in --plan, and results, which contain their plan. A plan must be the same after writing
 * and reading it again.
 */
#include <string.h>

#include "bench/fuzz/nearly.h"
#include "bench/plan/plan.h"
#include "bench/plan/preset.h"
#include "core/fuzz/fuzz.h"
#include "reports/fuzz/mutate.h"
#include "reports/fuzz/nowhere.h"

MUTATE_JSON('\0')

static void check_cases(const struct plan *plan)
{
	bool can_run = false;

	FUZZ_CHECK(plan->n_cases);
	for (size_t i = 0; i < plan->n_cases; i++) {
		const struct plan_case *line = &plan->cases[i];

		FUZZ_CHECK(line->id[0] && strlen(line->id) < sizeof(line->id) - 1);
		fuzz_check_text(line->id);
		fuzz_check_text(line->skipped);
		can_run = can_run || !line->skipped[0];
		FUZZ_CHECK(line->skipped[0] || line->parameters.trials >= 1);
	}
	FUZZ_CHECK(can_run);
	FUZZ_CHECK(plan_estimate_ns(plan, plan->n_cases) >= plan_estimate_ns(plan, 1));
	plan_print(plan, nowhere());
}

static void check_again(const struct plan *plan)
{
	char *text = json_dumps(plan->made, 0);
	struct error error = {0};
	struct plan again;

	FUZZ_CHECK(text && !plan_read(&again, text, strlen(text), "again", &error));
	FUZZ_CHECK(again.n_cases == plan->n_cases && json_equal(again.made, plan->made));
	for (size_t i = 0; i < plan->n_cases; i++)
		FUZZ_CHECK(!strcmp(again.cases[i].id, plan->cases[i].id));
	plan_close(&again);
	free(text);
}

/* Returns the number of cases; 0: not a plan. */
static size_t count(const char *text, size_t size)
{
	struct error ignored = {0};
	json_t *whole;
	size_t sum;

	if (preset_parse(text, size, "", &whole, &ignored))
		return 0;
	sum = nearly_count(json_object_get(whole, "schema")
				   ? json_object_get(json_object_get(whole, "run"), "plan")
				   : whole);
	json_decref(whole);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const char *text = (const char *)bytes;
	struct error error = {0};
	struct plan plan;
	int code;

	/* A million cases are allowed, but need a second. */
	if (count(text, size) > NEARLY_MOST)
		return 0;
	code = plan_read(&plan, text, size, "plan.json", &error);
	fuzz_check_error(code, &error);
	if (!code) {
		check_cases(&plan);
		check_again(&plan);
	}
	plan_close(&plan);
	return 0;
}
