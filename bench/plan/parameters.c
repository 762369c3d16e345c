/* SPDX-License-Identifier: MIT */
#include "bench/plan/parameters.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include "bench/cli/cpulist.h"
#include "bench/cli/value.h"
#include "bench/plan/operation.h"
#include "bench/plan/pin.h"
#include "bench/plan/rate.h"
#include "core/base/clock.h"
#include "core/base/printable.h"

/* 1 GiB: both areas of a lane must fit into a buffer, and a work request has a 32-bit length. */
#define SIZE_MOST  (1ULL << 30)
#define SEED_MOST  UINT32_MAX
#define CQ_MOST    (1ULL << 22)
#define COUNT_MOST 1000000000000ULL
#define DAY_NS     (86400 * NS_PER_S)
/* The highest CPU that we read from the kernel's lists. */
#define CPU_MOST (CPULIST_MAX - 1)
/* The kernel's highest node number. */
#define NODE_MOST 1023

static const char *const metrics[] = {"lat", "bw", "load", NULL};
static const char *const arrivals[] = {"fixed", "poisson", NULL};
static const char *const modes[] = {"poll", "event", "adaptive", NULL};
static const char *const connects[] = {"cm", "qp", NULL};
static const char *const receives[] = {"buffers", "bare", "none", NULL};

static const char *const patterns[] = {"one-to-one", "many-to-one", "one-to-many", "all-to-all",
				       NULL};
static const char *const mr_accesses[] = {"local", "remote", "atomic", NULL};
static const char *const pages[] = {"touched", "untouched", NULL};
static const char *const registrations[] = {"once", "each", NULL};
static const char *const orderings[] = {"off", "on", NULL};
static const char *const steps[] = {"whole",         "create",    "bind",    "resolve-address",
				    "resolve-route", "create-qp", "connect", "disconnect",
				    "destroy",       NULL};
static const char *const accesses[] = {"same", "sequential", "random", NULL};
static const char stride[] = "stride=";

const char parameters_effort[] = "effort";

#define AUTO          PARAMETER_AUTO
#define EFFORT        parameters_effort
#define TARGET(field) offsetof(struct parameters, field)

/* name, letter, argument, help; type, words, least, most, default, mark, field. */
#define ROW(name_, letter_, argument_, help_, ...)                                        \
	{                                                                                 \
		{.name = name_, .letter = letter_, .argument = argument_, .help = help_}, \
			__VA_ARGS__                                                       \
	}

/* Aligned, these would be wider than any screen. */
// clang-format off
const struct parameter parameter_table[PARAMETERS] = {
	ROW("op", 0, "LIST", "such as send,write; '?' is refused with all of them (send)", PARAMETER_WORD, operation_names, 0, 0, 0, NULL,
	    TARGET(op)),
	ROW("metric", 0, "LIST", "lat, bw, load (lat)", PARAMETER_WORD, metrics, 0, 0, METRIC_LAT, NULL,
	    TARGET(metric)),
	ROW("size", 's', "LIST", "bytes of a message, such as 64,4k or 1:8m (64)", PARAMETER_SIZE,
	    NULL, 1, SIZE_MOST, 64, NULL, TARGET(size)),
	ROW("cq", 0, "LIST", "how completions are waited for: poll, event, adaptive (poll)",
	    PARAMETER_WORD, modes, 0, 0, CQ_POLL, NULL, TARGET(cq)),
	ROW("server-cq", 0, "LIST", "the same at the server (as the client)", PARAMETER_WORD, modes,
	    0, 0, AUTO, "server-", TARGET(server_cq)),
	ROW("transport", 'c', "LIST", "transport: RC, UC, UD (RC)", PARAMETER_WORD, transport_names, 0,
	    0, TRANSPORT_RC, "", TARGET(transport)),
	ROW("qps", 'q', "LIST", "queue pairs, of each thread (1)", PARAMETER_COUNT, NULL, 1, 16384, 1, "q",
	    TARGET(qps)),
	ROW("threads", 0, "LIST", "threads of either end, each with its own -q and CPU (1)",
	    PARAMETER_COUNT, NULL, 1, 256, 1, "threads", TARGET(threads)),
	ROW("pattern", 0, "LIST", "bw: one-to-one, many-to-one, one-to-many, all-to-all, of --threads",
	    PARAMETER_WORD, patterns, 0, 0, AUTO, "", TARGET(pattern)),
	ROW("tx-depth", 't', "LIST", "operations under way of each queue pair (bw: 128)",
	    PARAMETER_COUNT, NULL, 1, 16384, AUTO, "t", TARGET(tx_depth)),
	ROW("rx-depth", 'r', "LIST", "receives posted of each queue pair (bw: 512, lat: 64)", PARAMETER_COUNT,
	    NULL, 1, 16384, AUTO, "r", TARGET(rx_depth)),
	ROW("inline", 'I', "LIST",
	    "bytes up to which data go inline (what the device takes, to 256)", PARAMETER_SIZE,
	    NULL, 0, 65536, AUTO, "I", TARGET(inline_size)),
	ROW("cq-mod", 'Q', "LIST",
	    "operations for each one that is signalled (bw: a quarter of -t)", PARAMETER_COUNT,
	    NULL, 1, 16384, AUTO, "Q", TARGET(cq_mod)),
	ROW("cq-depth", 0, "LIST", "completions that a queue has room for, at least (what can come)",
	    PARAMETER_COUNT, NULL, 1, CQ_MOST, AUTO, "cq", TARGET(cq_depth)),
	ROW("doorbell-every", 0, "LIST", "writes for each one that rings (lat: 1, bw: 64)",
	    PARAMETER_COUNT, NULL, 1, 8192, AUTO, "every", TARGET(doorbell_every)),
	ROW("mr-access", 0, "LIST", "register, deregister: local, remote, atomic (remote)",
	    PARAMETER_WORD, mr_accesses, 0, 0, AUTO, "mr-", TARGET(mr_access)),
	ROW("pages", 0, "LIST", "register: pages that are touched before, or untouched (touched)",
	    PARAMETER_WORD, pages, 0, 0, AUTO, "", TARGET(pages)),
	ROW("registration", 0, "LIST", "lat of read: of its memory, once or for each message (once)",
	    PARAMETER_WORD, registrations, 0, 0, AUTO, "registered-", TARGET(registration)),
	ROW("step", 0, "LIST", "connect: step that is timed; '?' is refused with all of them (all)",
	    PARAMETER_WORD, steps, 0, 0, AUTO, "", TARGET(step)),
	ROW("post-list", 'l', "LIST", "operations posted by one call (1)", PARAMETER_COUNT, NULL, 1,
	    64, 1, "l", TARGET(post_list)),
	ROW("bidirectional", 'b', NULL, "bw in both directions at once", PARAMETER_FLAG, NULL, 0, 1,
	    0, "bidirectional", TARGET(bidirectional)),
	ROW("latencies", 0, NULL, "bw: the messages' own latencies as well", PARAMETER_FLAG, NULL,
	    0, 1, 0, "latencies", TARGET(latencies)),
	ROW("rate", 0, "LIST", "load: 100k, 10Gb/s, or shares of the most, such as 20% (10%:100%)",
	    PARAMETER_RATE, NULL, 1, RATE_MOST, AUTO, "rate", TARGET(rate)),
	ROW("arrivals", 0, "LIST", "load: gaps between messages: fixed, poisson (fixed)",
	    PARAMETER_WORD, arrivals, 0, 0, AUTO, "", TARGET(arrivals)),
	ROW("seed", 0, "LIST", "of gaps and places that are random (1)", PARAMETER_COUNT, NULL, 0,
	    SEED_MOST, AUTO, "seed", TARGET(seed)),
	ROW("outstanding", 'o', "LIST",
	    "reads and atomics under way (what both devices take, to 16)", PARAMETER_COUNT, NULL, 1,
	    255, AUTO, "o", TARGET(outstanding)),
	ROW("mtu", 'm', "LIST", "256 to 4096 (the port's)", PARAMETER_COUNT, NULL, 256, 4096, AUTO,
	    "m", TARGET(mtu)),
	ROW("gid-index", 'x', "LIST", "row of the port's GID table (the best one)", PARAMETER_COUNT,
	    NULL, 0, 255, AUTO, "x", TARGET(gid_index)),
	ROW("server-gid-index", 0, "LIST", "the same at the server (as -x)", PARAMETER_COUNT,
	    NULL, 0, 255, AUTO, "server-x", TARGET(server_gid_index)),
	ROW("sl", 'S', "LIST", "service level (0)", PARAMETER_COUNT, NULL, 0, 15, 0, "S",
	    TARGET(sl)),
	ROW("tos", 'T', "LIST", "type of service in the IP header (0)", PARAMETER_COUNT, NULL, 0,
	    255, 0, "T", TARGET(tos)),
	ROW("timeout", 'u', "LIST", "4.096 us * 2^N for an acknowledgement (14)", PARAMETER_COUNT,
	    NULL, 1, 31, 14, "u", TARGET(timeout)),
	ROW("retries", 0, "LIST", "attempts without an acknowledgement (6)", PARAMETER_COUNT, NULL,
	    0, 7, 6, "retries", TARGET(retries)),
	ROW("connect", 0, "LIST", "cm: by rdma_cm; qp: exchanged numbers (cm where it can)",
	    PARAMETER_WORD, connects, 0, 0, AUTO, "connect-", TARGET(connect)),
	ROW("use-srq", 0, NULL, "one shared receive queue for all queue pairs of an end",
	    PARAMETER_FLAG, NULL, 0, 1, 0, "srq", TARGET(use_srq)),
	ROW("hugepages", 0, NULL, "buffers in huge pages", PARAMETER_FLAG, NULL, 0, 1, 0,
	    "hugepages", TARGET(hugepages)),
	ROW("relaxed-ordering", 0, "LIST", "PCIe may reorder what devices write: off, on (off)",
	    PARAMETER_WORD, orderings, 0, 0, AUTO, "relaxed-", TARGET(relaxed_ordering)),
	ROW("buffer", 0, "LIST", "what messages go over at each end, such as 64k:1g",
	    PARAMETER_SIZE, NULL, 8, PARAMETER_BUFFER_MOST, AUTO, "buffer", TARGET(buffer)),
	ROW("access", 0, "LIST", "same, sequential, random, stride=SIZE (random; lat, atomics: same)",
	    PARAMETER_ACCESS, accesses, ACCESS_STRIDE + 8, ACCESS_STRIDE + PARAMETER_BUFFER_MOST, AUTO, "access-",
	    TARGET(access)),
	ROW("sge", 0, "LIST", "pieces that the buffer of a message has at its own end (1)",
	    PARAMETER_COUNT, NULL, 1, PARAMETER_SGES_MOST, 1, "sge", TARGET(sge)),
	ROW("think", 0, "LIST", "what the server computes for each message, such as 10us (0ns)",
	    PARAMETER_TIME, NULL, 0, NS_PER_S, 0, "think", TARGET(think_ns)),
	ROW("receives", 0, "LIST", "of the server: with buffers, bare, or none (buffers)",
	    PARAMETER_WORD, receives, 0, 0, RECEIVES_BUFFERS, "receives-", TARGET(receives)),
	ROW("needs", 0, NULL, "bw: find out whether it needs a receive, and a buffer",
	    PARAMETER_FLAG, NULL, 0, 1, 0, "needs", TARGET(needs)),
	ROW("pin", 0, "LIST", "CPUs of threads: N, N-M, N-M+STEP, off, far (auto: near the device)",
	    PARAMETER_PIN, NULL, 0, CPU_MOST, AUTO, "pin", TARGET(pin)),
	ROW("server-pin", 0, "LIST", "the same at the server (auto: near its device)", PARAMETER_PIN,
	    NULL, 0, CPU_MOST, AUTO, "server-pin", TARGET(server_pin)),
	ROW("numa", 0, "LIST", "NUMA node of the buffer: N, off, auto (auto: the device's)",
	    PARAMETER_PLACE, NULL, 0, NODE_MOST, AUTO, "numa", TARGET(numa)),
	ROW("server-numa", 0, "LIST", "the same at the server (auto: its device's)", PARAMETER_PLACE,
	    NULL, 0, NODE_MOST, AUTO, "server-numa", TARGET(server_numa)),
	ROW("verify", 0, "[N]", "check the bytes of every message, or of one in N", PARAMETER_COUNT,
	    NULL, 0, COUNT_MOST, 0, "verify", TARGET(verify)),
	ROW("iterations", 'n', "N", "messages of a trial (lat: 5000); alone, of each case of quick",
	    PARAMETER_COUNT, NULL, 1, COUNT_MOST, AUTO, EFFORT, TARGET(iterations)),
	ROW("duration", 'D', "TIME", "measure for that long instead, each trial (bw: 100ms)",
	    PARAMETER_TIME, NULL, NS_PER_MS, DAY_NS, AUTO, EFFORT, TARGET(duration_ns)),
	ROW("warmup", 0, "TIME", "warming up takes at most that long, each trial (2s)",
	    PARAMETER_TIME, NULL, 0, DAY_NS, 2 * NS_PER_S, EFFORT, TARGET(warmup_ns)),
	ROW("trials", 0, "N",
	    "how often a case is measured, on fresh queue pairs (6; -n, -D: 1)",
	    PARAMETER_COUNT, NULL, 1, 1000, AUTO, EFFORT, TARGET(trials)),
	ROW("interleave", 0, NULL, "trials of all cases in turn, and ratios of them", PARAMETER_FLAG,
	    NULL, 0, 1, AUTO, EFFORT, TARGET(interleave)),
};
// clang-format on

struct parameters parameters_default(void)
{
	struct parameters made;

	for (size_t i = 0; i < PARAMETERS; i++)
		parameter_set(&made, &parameter_table[i], parameter_table[i].fallback);
	return made;
}

uint64_t parameter_get(const struct parameters *from, const struct parameter *parameter)
{
	uint64_t value;

	memcpy(&value, (const char *)from + parameter->offset, sizeof(value));
	return value;
}

void parameter_set(struct parameters *into, const struct parameter *parameter, uint64_t value)
{
	memcpy((char *)into + parameter->offset, &value, sizeof(value));
}

/* Formats an error message for the calling thread. */
static const char *complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
static const char *complain(const char *format, ...)
{
	static _Thread_local char text[288];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return text;
}

static const char *no_such_word(const struct parameter *parameter)
{
	char list[256] = "";
	size_t used = 0;

	for (size_t i = 0; parameter->words[i] && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
					 parameter->words[i]);
	return complain("is none of %s", list);
}

static const char *parse_word(const struct parameter *parameter, const char *text, uint64_t *value)
{
	for (uint64_t i = 0; parameter->words[i]; i++) {
		if (!strcasecmp(parameter->words[i], text)) {
			*value = i;
			return NULL;
		}
	}
	return no_such_word(parameter);
}

static const char *check_range(const struct parameter *parameter, uint64_t value);

static const char no_such_access[] = "is none of same, sequential, random, stride=SIZE";

static const char *parse_access(const struct parameter *parameter, const char *text,
				uint64_t *value)
{
	size_t length = sizeof(stride) - 1;

	if (!strncasecmp(text, stride, length)) {
		if (!value_size(text + length, value))
			return "is not a stride (e.g. stride=4k)";
		*value = *value < ACCESS_STRIDE ? *value + ACCESS_STRIDE : PARAMETER_AUTO;
		return check_range(parameter, *value);
	}
	return parse_word(parameter, text, value) ? no_such_access : NULL;
}

static const char *parse_flag(const char *text, uint64_t *value)
{
	*value = text[0] == '1';
	return (text[0] == '0' || text[0] == '1') && !text[1] ? NULL : "must be 0 or 1";
}

static const char not_a_rate[] = "is not a rate (e.g. 100k, 10Gb/s or 10%)";
static const char place_words[] = "must be auto, off or a number";
static const char pin_words[] = "must be auto, off, far or CPUs (e.g. 3, 0-3 or 0-6+2)";

/* Returns true if the text is one of the words. */
static bool parse_place(const char *text, uint64_t *value)
{
	if (!strcasecmp(text, "auto"))
		*value = PARAMETER_AUTO;
	else if (!strcasecmp(text, "off"))
		*value = PARAMETER_OFF;
	else
		return false;
	return true;
}

static bool parse_pin(const char *text, uint64_t *value)
{
	if (strcasecmp(text, "far") != 0)
		return parse_place(text, value) || pin_parse(text, value);
	*value = PARAMETER_FAR;
	return true;
}

static const char *check_range(const struct parameter *parameter, uint64_t value)
{
	char least[24];
	char most[24];

	if (value >= parameter->least && value <= parameter->most)
		return NULL;
	parameter_print(parameter, parameter->least, least, sizeof(least));
	parameter_print(parameter, parameter->most, most, sizeof(most));
	return complain("must be between %s and %s", least, most);
}

const char *parameter_parse(const struct parameter *parameter, const char *text, uint64_t *value)
{
	switch (parameter->type) {
	case PARAMETER_WORD:
		return parse_word(parameter, text, value);
	case PARAMETER_FLAG:
		return parse_flag(text, value);
	case PARAMETER_ACCESS:
		return parse_access(parameter, text, value);
	case PARAMETER_COUNT:
		if (!value_count(text, 0, UINT64_MAX, value))
			return "is not a number";
		break;
	case PARAMETER_SIZE:
		if (!value_size(text, value))
			return "is not a size (e.g. 64 or 4k)";
		break;
	case PARAMETER_TIME:
		if (!value_time(text, value))
			return "is not a time (e.g. 10s, 100ms or 10us)";
		break;
	case PARAMETER_RATE:
		return rate_parse(text, value) ? NULL : not_a_rate;
	case PARAMETER_PLACE:
		if (parse_place(text, value))
			return NULL;
		if (!value_count(text, 0, UINT64_MAX, value))
			return place_words;
		break;
	case PARAMETER_PIN:
		if (parse_pin(text, value))
			return NULL;
		if (!value_count(text, 0, UINT64_MAX, value))
			return pin_words;
		break;
	}
	return check_range(parameter, *value);
}

static void print_access(const struct parameter *parameter, uint64_t value, char *text, size_t size)
{
	char bytes[24];

	if (value < ACCESS_STRIDE) {
		snprintf(text, size, "%s", parameter->words[value]);
		return;
	}
	value_print_size(value - ACCESS_STRIDE, bytes, sizeof(bytes));
	snprintf(text, size, "%s%s", stride, bytes);
}

static void print_place(uint64_t value, char *text, size_t size)
{
	if (value < PARAMETER_FAR)
		pin_print(value, text, size);
	else
		snprintf(text, size, "%s",
			 value == PARAMETER_FAR   ? "far"
			 : value == PARAMETER_OFF ? "off"
						  : "auto");
}

void parameter_print(const struct parameter *parameter, uint64_t value, char *text, size_t size)
{
	switch (parameter->type) {
	case PARAMETER_ACCESS:
		print_access(parameter, value, text, size);
		break;
	case PARAMETER_WORD:
		snprintf(text, size, "%s", parameter->words[value]);
		break;
	case PARAMETER_SIZE:
		value_print_size(value, text, size);
		break;
	case PARAMETER_TIME:
		value_print_time(value, text, size);
		break;
	case PARAMETER_RATE:
		rate_print(value, text, size);
		break;
	case PARAMETER_PLACE:
	case PARAMETER_PIN:
		print_place(value, text, size);
		break;
	case PARAMETER_FLAG:
	case PARAMETER_COUNT:
		snprintf(text, size, "%" PRIu64, value);
		break;
	}
}

json_t *parameter_encode(const struct parameter *parameter, uint64_t value)
{
	char text[24];

	switch (parameter->type) {
	case PARAMETER_FLAG:
		return json_boolean(value);
	case PARAMETER_COUNT:
	case PARAMETER_SIZE:
		return json_integer((json_int_t)value);
	case PARAMETER_PLACE:
	case PARAMETER_PIN:
		if (value <= parameter->most)
			return json_integer((json_int_t)value);
		break;
	case PARAMETER_WORD:
	case PARAMETER_ACCESS:
	case PARAMETER_TIME:
	case PARAMETER_RATE:
		break;
	}
	parameter_print(parameter, value, text, sizeof(text));
	return json_string(text);
}

static const char *no_such_number(const struct parameter *parameter)
{
	if (parameter->type == PARAMETER_PLACE)
		return place_words;
	if (parameter->type == PARAMETER_RATE)
		return not_a_rate;
	if (parameter->type == PARAMETER_PIN)
		return pin_words;
	return parameter->type == PARAMETER_TIME ? "is not a time (e.g. \"10s\")"
						 : "is not a number";
}

const char *parameter_decode(const struct parameter *parameter, const json_t *json, uint64_t *value)
{
	const char *text = json_string_value(json);

	if (parameter->type == PARAMETER_FLAG) {
		*value = json_is_true(json);
		return json_is_boolean(json) ? NULL : "must be true or false";
	}
	if (text)
		return parameter_parse(parameter, text, value);
	if (parameter->type == PARAMETER_ACCESS)
		return no_such_access;
	if (parameter->type == PARAMETER_WORD)
		return no_such_word(parameter);
	if (!json_is_integer(json) || json_integer_value(json) < 0 ||
	    parameter->type == PARAMETER_TIME)
		return no_such_number(parameter);
	*value = (uint64_t)json_integer_value(json);
	return check_range(parameter, *value);
}

const struct parameter *parameter_find(const char *name)
{
	for (size_t i = 0; i < PARAMETERS; i++)
		if (!strcmp(parameter_table[i].option.name, name))
			return &parameter_table[i];
	return NULL;
}

const char *parameter_word(const char *name, uint64_t value)
{
	return parameter_find(name)->words[value];
}

int parameters_encode(const struct parameters *from, json_t *object)
{
	int code = 0;

	for (size_t i = 0; i < PARAMETERS; i++) {
		const struct parameter *parameter = &parameter_table[i];
		uint64_t value = parameter_get(from, parameter);

		if (value != PARAMETER_AUTO)
			code |= json_object_set_new(object, parameter->option.name,
						    parameter_encode(parameter, value));
	}
	return code ? -ENOMEM : 0;
}

int parameters_decode(struct parameters *into, json_t *object, struct error *error)
{
	const char *name;
	json_t *json;

	json_object_foreach(object, name, json)
	{
		const struct parameter *parameter = parameter_find(name);
		const char *wrong;
		uint64_t value = 0;
		char text[41];

		if (!parameter) {
			printable_copy(text, sizeof(text), name);
			return error_set(error, -EOPNOTSUPP, "unknown parameter '%s'", text);
		}
		wrong = parameter_decode(parameter, json, &value);
		if (wrong)
			return error_set(error, -EINVAL, "%s %s", parameter->option.name, wrong);
		parameter_set(into, parameter, value);
	}
	return 0;
}

static bool is_in_id(const struct parameters *from, const struct parameter *parameter)
{
	if (!parameter->mark)
		return true;
	return parameter->mark != parameters_effort &&
	       parameter_get(from, parameter) != parameter->fallback;
}

void parameters_id(const struct parameters *from, char *id, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < PARAMETERS && used < size; i++) {
		const struct parameter *parameter = &parameter_table[i];
		const char *mark = parameter->mark ? parameter->mark : "";
		char value[24] = "";

		if (!is_in_id(from, parameter))
			continue;
		if (parameter->type != PARAMETER_FLAG)
			parameter_print(parameter, parameter_get(from, parameter), value,
					sizeof(value));
		used += (size_t)snprintf(id + used, size - used, "%s%s%s", used ? "/" : "", mark,
					 value);
	}
}
