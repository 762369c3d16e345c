/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "bench/host/advice/rule.h"
#include "bench/host/counters.h"
#include "bench/host/facts/facts.h"

/* Returns whether there was steal time, and whether it was too much or tolerable. */
static bool steal_is(const struct advice_end *end, bool is_much, struct advice_words *words)
{
	struct noise_growth growth = facts_noise_growth(end->before, end->after);
	json_int_t share = growth.stolen ? growth.stolen * 10000 / growth.ticks : 0;

	return growth.stolen && facts_is_much_stolen(&growth) == is_much &&
	       advice_what(words, "steal time: %lld.%02lld %% of the CPU time", share / 100,
			   share % 100);
}

static bool steal(const struct advice_end *end, const struct advice_end *peer,
		  struct advice_words *words)
{
	return steal_is(end, true, words);
}

/* A few stolen ticks in minutes affect only the longest latencies. */
static bool some_steal(const struct advice_end *end, const struct advice_end *peer,
		       struct advice_words *words)
{
	return steal_is(end, false, words);
}

static bool throttled(const struct advice_end *end, const struct advice_end *peer,
		      struct advice_words *words)
{
	json_int_t times = facts_noise_growth(end->before, end->after).throttled;

	return times && advice_what(words, "the control group was throttled %lld times", times);
}

static bool heat(const struct advice_end *end, const struct advice_end *peer,
		 struct advice_words *words)
{
	json_int_t times = facts_noise_growth(end->before, end->after).slowed;

	return times && advice_what(words, "heat throttled CPUs %lld times", times);
}

/* Lists the counters of that kind that moved, as far as they fit. */
static bool moved(const struct advice_end *end, enum counter_kind kind, struct advice_words *words)
{
	void *at = json_object_iter(end->counters);
	size_t used = 0;

	for (; at && used < sizeof(words->what); at = json_object_iter_next(end->counters, at)) {
		const char *name = json_object_iter_key(at);
		json_int_t count = json_integer_value(json_object_iter_value(at));

		if (count > 0 && counters_kind(name) == kind)
			used += (size_t)snprintf(words->what + used, sizeof(words->what) - used,
						 "%s%.60s +%lld", used ? ", " : "", name, count);
	}
	return used > 0;
}

static bool loss(const struct advice_end *end, const struct advice_end *peer,
		 struct advice_words *words)
{
	/* Its packets pass no switch: the kernel's own queues overflowed. */
	if (advice_is_true(end->facts, "device", "software"))
		advice_mend(words,
			    "use a lower --tx-depth, reduce other work on the CPUs, or sysctl "
			    "net.core.netdev_max_backlog=10000");
	return moved(end, COUNTER_LOSS, words);
}

static bool not_ready(const struct advice_end *end, const struct advice_end *peer,
		      struct advice_words *words)
{
	return moved(end, COUNTER_NOT_READY, words);
}

static bool link_errors(const struct advice_end *end, const struct advice_end *peer,
			struct advice_words *words)
{
	return moved(end, COUNTER_LINK, words);
}

static bool congestion(const struct advice_end *end, const struct advice_end *peer,
		       struct advice_words *words)
{
	return moved(end, COUNTER_CONGESTION, words);
}

// clang-format off
static const struct advice_rule machine[] = {
	{"steal", true, steal,
	 "the hypervisor ran something else on this machine's CPUs",
	 "dedicate CPUs to the virtual machine, or measure on the host"},
	{"steal", false, some_steal,
	 "the hypervisor ran something else on this machine's CPUs: see the longest latencies",
	 "dedicate CPUs to the virtual machine, or measure on the host"},
	{"heat", true, heat,
	 "the CPU frequency was reduced during the measurement",
	 "improve cooling, or reduce the load: see turbostat"},
};

static const struct advice_rule rules[] = {
	{"throttled", true, throttled,
	 "the group had used up its CPU quota and was stopped",
	 "run outside that group, or raise its quota: systemctl set-property SLICE CPUQuota="},
	{"lost-packets", true, loss,
	 "packets were lost or reordered, and retransmitted",
	 "check end-to-end flow control (dcb pfc show), the MTU of the switches, and the cable"},
	{"receiver-not-ready", true, not_ready,
	 "messages arrived before a receive was posted, and the sender had to wait",
	 "use a deeper receive queue, or reduce the load on the receiver"},
	{"link-errors", true, link_errors,
	 "the link itself has errors",
	 "check cable and transceiver: ethtool -m, mlxlink, ibqueryerrors"},
	{"congestion", false, congestion,
	 "the network made senders wait or slow down",
	 "use an idle network, or a path without other traffic"},
};
// clang-format on

const struct advice_table advice_of_machine = {machine, ARRAY_LENGTH(machine)};
const struct advice_table advice_of_change = {rules, ARRAY_LENGTH(rules)};
