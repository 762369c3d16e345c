/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "bench/host/advice/rule.h"
#include "bench/host/counters.h"
#include "bench/host/facts/facts.h"

/* Whether something was stolen, and whether that is more than a machine may lose. */
static bool steal_is(const struct advice_end *near, bool is_much, struct advice_words *words)
{
	struct noise_growth growth = facts_noise_growth(near->before, near->after);
	json_int_t share = growth.stolen ? growth.stolen * 10000 / growth.ticks : 0;

	return growth.stolen && facts_is_much_stolen(&growth) == is_much &&
	       advice_what(words, "steal time: %lld.%02lld %% of the processors' time", share / 100,
			   share % 100);
}

static bool steal(const struct advice_end *near, const struct advice_end *far,
		  struct advice_words *words)
{
	return steal_is(near, true, words);
}

/* Some ticks of minutes are in the longest of the latencies, and nowhere else. */
static bool some_steal(const struct advice_end *near, const struct advice_end *far,
		       struct advice_words *words)
{
	return steal_is(near, false, words);
}

static bool throttled(const struct advice_end *near, const struct advice_end *far,
		      struct advice_words *words)
{
	json_int_t times = facts_noise_growth(near->before, near->after).throttled;

	return times && advice_what(words, "its control group was throttled %lld times", times);
}

static bool heat(const struct advice_end *near, const struct advice_end *far,
		 struct advice_words *words)
{
	json_int_t times = facts_noise_growth(near->before, near->after).slowed;

	return times && advice_what(words, "heat slowed processors down %lld times", times);
}

/* The counters of that kind that moved, as many as the sentence holds. */
static bool moved(const struct advice_end *near, enum counter_kind kind, struct advice_words *words)
{
	void *at = json_object_iter(near->counters);
	size_t used = 0;

	for (; at && used < sizeof(words->what); at = json_object_iter_next(near->counters, at)) {
		const char *name = json_object_iter_key(at);
		json_int_t count = json_integer_value(json_object_iter_value(at));

		if (count > 0 && counters_kind(name) == kind)
			used += (size_t)snprintf(words->what + used, sizeof(words->what) - used,
						 "%s%.60s +%lld", used ? ", " : "", name, count);
	}
	return used > 0;
}

static bool loss(const struct advice_end *near, const struct advice_end *far,
		 struct advice_words *words)
{
	/* No switch has its packets: the kernel's own queues were full. */
	if (advice_is_true(near->facts, "device", "software"))
		advice_mend(words, "a lower --tx-depth, less else on the processors, or sysctl "
				   "net.core.netdev_max_backlog=10000");
	return moved(near, COUNTER_LOSS, words);
}

static bool not_ready(const struct advice_end *near, const struct advice_end *far,
		      struct advice_words *words)
{
	return moved(near, COUNTER_NOT_READY, words);
}

static bool link_errors(const struct advice_end *near, const struct advice_end *far,
			struct advice_words *words)
{
	return moved(near, COUNTER_LINK, words);
}

static bool congestion(const struct advice_end *near, const struct advice_end *far,
		       struct advice_words *words)
{
	return moved(near, COUNTER_CONGESTION, words);
}

// clang-format off
static const struct advice_rule machine[] = {
	{"steal", true, steal,
	 "the hypervisor ran something else on this machine's processors",
	 "dedicated processors for the virtual machine, or measure on the host"},
	{"steal", false, some_steal,
	 "the hypervisor ran something else on this machine's processors: see the longest latencies",
	 "dedicated processors for the virtual machine, or measure on the host"},
	{"heat", true, heat,
	 "the frequency was lowered meanwhile",
	 "cooling, or less work: see turbostat"},
};

static const struct advice_rule rules[] = {
	{"throttled", true, throttled,
	 "the group had used up its share, and stood still",
	 "run outside of that group, or systemctl set-property SLICE CPUQuota="},
	{"lost-packets", true, loss,
	 "packets were lost or overtaken, and sent again",
	 "flow control from end to end (dcb pfc show), the MTU of the switches, the cable"},
	{"receiver-not-ready", true, not_ready,
	 "messages came before there was a receive for them, and the sender had to wait",
	 "a deeper receive queue, or less load on the receiver"},
	{"link-errors", true, link_errors,
	 "the link itself has faults",
	 "cable and transceiver: ethtool -m, mlxlink, ibqueryerrors"},
	{"congestion", false, congestion,
	 "the network made senders wait or slow down",
	 "a quiet network, or a path without others"},
};
// clang-format on

const struct advice_table advice_of_machine = {machine, ARRAY_LENGTH(machine)};
const struct advice_table advice_of_change = {rules, ARRAY_LENGTH(rules)};
