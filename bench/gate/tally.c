/* SPDX-License-Identifier: MIT */
#include "bench/gate/tally.h"

#include <stdio.h>

#include "bench/host/counters.h"

bool tally_has_trial(const struct result_case *line)
{
	return line && line->status == RESULT_COMPLETE && line->n_trials;
}

static uint64_t trial_ns(const struct result_case *line)
{
	return line->trials[0].warmup.duration_ns + line->trials[0].duration_ns;
}

uint64_t tally_share(const struct result *result, uint64_t took_ns, size_t count)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < result->n_cases; i++)
		if (tally_has_trial(&result->cases[i]))
			sum += trial_ns(&result->cases[i]);
	/* The durations that a side reports are not trusted. */
	return sum < took_ns ? (took_ns - sum) / count : 0;
}

/* Returns whether the device counters of either side show lost messages. */
static bool is_troubled(const struct result_case *line)
{
	const char *end;
	json_t *counters;

	json_object_foreach(line->counters, end, counters)
	{
		const char *name;
		json_t *count;

		json_object_foreach(counters, name, count)
		{
			enum counter_kind kind = counters_kind(name);

			if (json_integer_value(count) > 0 &&
			    (kind == COUNTER_LOSS || kind == COUNTER_NOT_READY))
				return true;
		}
	}
	return false;
}

void tally_failure(struct gate_case *line, enum gate_side side, const char *why)
{
	line->trials[side]++;
	line->failures[side]++;
	if (!line->errors[side][0])
		snprintf(line->errors[side], sizeof(line->errors[side]), "%s", why);
}

void tally_trial(struct gate_case *line, enum gate_side side, size_t round,
		 const struct result_case *found, uint64_t share_ns)
{
	uint64_t took_ns;

	if (!tally_has_trial(found)) {
		tally_failure(line, side, found && found->error[0] ? found->error : "no figures");
		return;
	}
	took_ns = trial_ns(found) + share_ns;
	line->trials[side]++;
	line->unsteady[side] += !found->trials[0].warmup.has_converged;
	line->troubled[side] += is_troubled(found);
	line->lengthy[side] += took_ns > TALLY_LONG_NS;
	line->took_ns[side] += took_ns;
	for (enum gate_figure figure = 0; figure < GATE_FIGURES; figure++)
		if (line->is_bandwidth == (figure == GATE_BANDWIDTH))
			line->figures[figure].values[side][round] =
				gate_figure(figure)->value(&found->trials[0]);
}
