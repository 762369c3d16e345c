/* SPDX-License-Identifier: MIT */
#include "bench/doctor/path_probe.h"

#include <errno.h>
#include <string.h>

#include "bench/client/trial.h"
#include "bench/plan/defaults.h"

#define SMALL    64
#define LARGE    (64 << 10)
#define PACKETS  3
#define MESSAGES 10

/* An idle server replies sooner. */
#define ANSWER_MS 4000

#define MTU_LEAST 256
#define MTU_MOST  4096

/* One step of the test. */
struct attempt {
	enum connect connect;
	uint64_t size;
	uint64_t mtu; /* PARAMETER_AUTO: the ports' */
};

unsigned int path_probe_mtu(const struct path_probe *path)
{
	unsigned int near = path->near.mtu ? path->near.mtu : MTU_MOST;

	return path->far.mtu && path->far.mtu < near ? path->far.mtu : near;
}

/*
 * Classifies a failure. No acknowledgment, or no reply to rdma_cm, counts as silence. The peer may
 * notice first and report it with libibverbs's words.
 */
static enum path_probe_end end_of(const struct error *fault)
{
	if (!fault->code)
		return PATH_PASSED;
	if (strstr(fault->text, "cannot resolve"))
		return PATH_UNRESOLVED;
	if (fault->code == -ETIMEDOUT || fault->code == -EHOSTUNREACH ||
	    strstr(fault->text, ibv_wc_status_str(IBV_WC_RETRY_EXC_ERR)))
		return PATH_SILENT;
	return PATH_FAILED;
}

static struct plan_case make_case(const struct attempt *attempt)
{
	struct plan_case made = {.op = &operations[OPERATION_SEND],
				 .parameters = parameters_default()};
	struct parameters *p = &made.parameters;

	p->size = attempt->size;
	p->connect = attempt->connect;
	p->mtu = attempt->mtu;
	p->iterations = MESSAGES;
	p->warmup_ns = 0; /* the figures are not used */
	defaults_choose(made.op, p);
	made.kind = operation_kind(made.op, p);
	return made;
}

static void path_probe_run_one(struct trial *trial, const struct attempt *attempt,
			       struct path_probe *path, struct path_probe_outcome *outcome)
{
	struct plan_case wanted = make_case(attempt);
	struct result_trial seen;
	struct error fault = {0};

	if (!trial_open(trial, &wanted, &fault))
		trial_run(trial, &seen, &fault);
	trial_close(trial);
	outcome->size = attempt->size;
	outcome->end = end_of(&fault);
	snprintf(outcome->reason, sizeof(outcome->reason), "%s", fault.text);
	if (trial->is_lost)
		snprintf(path->lost, sizeof(path->lost), "%s", fault.text);
}

static bool step(struct trial *trial, const struct attempt *attempt, struct path_probe *path,
		 enum path_probe_step number)
{
	if (!path->lost[0])
		path_probe_run_one(trial, attempt, path, &path->steps[number]);
	return path->steps[number].end == PATH_PASSED && !path->lost[0];
}

/* Looks for a smaller MTU with which messages of that size arrive. */
static void find_mtu(struct trial *trial, const struct attempt *failed, struct path_probe *path)
{
	struct path_probe_outcome outcome = {0};

	for (unsigned int mtu = path_probe_mtu(path) / 2; mtu >= MTU_LEAST; mtu /= 2) {
		const struct attempt attempt = {failed->connect, failed->size, mtu};

		path_probe_run_one(trial, &attempt, path, &outcome);
		path->mtu_tried = mtu;
		if (outcome.end == PATH_PASSED)
			path->mtu_passed = mtu;
		if (path->mtu_passed || path->lost[0])
			return;
	}
}

static void prove(struct trial *trial, struct path_probe *path)
{
	const struct attempt small[] = {
		{CONNECT_QP, SMALL, PARAMETER_AUTO},
                {CONNECT_CM, SMALL, PARAMETER_AUTO}
        };
	/* iWARP queue pairs belong to TCP connections, which only rdma_cm can make. */
	bool has_pairs = !path->near.link_layer || strcmp(path->near.link_layer, "iWARP") != 0;
	bool by_hand = has_pairs && step(trial, &small[0], path, PATH_PAIRS);
	bool by_cm = path->near.address[0] && step(trial, &small[1], path, PATH_CM);
	const struct attempt several = {by_hand ? CONNECT_QP : CONNECT_CM,
					(uint64_t)PACKETS * path_probe_mtu(path), PARAMETER_AUTO};
	const struct attempt large = {several.connect, LARGE, PARAMETER_AUTO};

	if (!by_hand && !by_cm)
		return;
	if (step(trial, &several, path, PATH_SEVERAL))
		step(trial, &large, path, PATH_LARGE);
	else if (path->steps[PATH_SEVERAL].end == PATH_SILENT && by_hand && !path->lost[0])
		find_mtu(trial, &several, path);
}

void path_probe_run(struct path_probe *path, struct control *control)
{
	const struct result ends = {.client = path->near, .server = path->far};
	struct clock clock;
	const struct trial_settings settings = {
		.control = control,
		.clock = &clock,
		.result = &ends,
		.who = "the server",
		.answer_ms = ANSWER_MS,
	};
	struct trial trial = {.settings = &settings};

	clock_init(&clock);
	prove(&trial, path);
	memory_close(&trial.spare);
}
