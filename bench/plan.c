/* SPDX-License-Identifier: MIT */
#include "bench/plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bench/control.h"
#include "bench/value.h"

/* 1 GiB: both areas of a lane must fit a buffer, and a request has 32 bits of length. */
#define SIZE_MAX_BYTES (1ULL << 30)
#define MESSAGES_MAX   1000000000000ULL

static const char *const mode_names[] = {
	[RDMA_POLL] = "poll",
	[RDMA_EVENT] = "event",
	[RDMA_ADAPTIVE] = "adaptive",
};

const char *plan_mode_name(enum rdma_wait_mode mode)
{
	return mode_names[mode];
}

bool plan_find_mode(const char *name, enum rdma_wait_mode *mode)
{
	for (size_t i = 0; i < ARRAY_LENGTH(mode_names); i++) {
		if (!strcmp(name, mode_names[i])) {
			*mode = (enum rdma_wait_mode)i;
			return true;
		}
	}
	return false;
}

/* Calls take for each member of a comma-separated list until one is refused. */
static const char *each(const char *text, void *list,
			const char *(*take)(const char *member, void *list))
{
	char member[64];

	for (;;) {
		size_t length = strcspn(text, ",");
		const char *wrong;

		if (length >= sizeof(member))
			return "has a member that is too long";
		memcpy(member, text, length);
		member[length] = '\0';
		wrong = take(member, list);
		if (wrong || !text[length])
			return wrong;
		text += length + 1;
	}
}

static const char *take_op(const char *member, void *list)
{
	struct plan_ops *into = list;
	const struct op *op = op_find(member);

	if (!op)
		return "is none of send, write, read";
	if (into->count == PLAN_LIST)
		return "has too many members";
	into->item[into->count++] = op;
	return NULL;
}

static const char *take_size(const char *member, void *list)
{
	struct plan_sizes *into = list;
	uint64_t size;

	if (!value_size(member, &size))
		return "is not a size, such as 64 or 4k";
	if (!size || size > SIZE_MAX_BYTES)
		return "is not from 1 to 1g";
	if (into->count == PLAN_LIST)
		return "has too many members";
	into->item[into->count++] = size;
	return NULL;
}

static const char *take_mode(const char *member, void *list)
{
	struct plan_modes *into = list;
	enum rdma_wait_mode mode;

	if (!plan_find_mode(member, &mode))
		return "is none of poll, event, adaptive";
	if (into->count == PLAN_LIST)
		return "has too many members";
	into->item[into->count++] = mode;
	return NULL;
}

static const char *parse_ops(const char *text, void *field)
{
	((struct plan_ops *)field)->count = 0;
	return each(text, field, take_op);
}

static const char *parse_sizes(const char *text, void *field)
{
	((struct plan_sizes *)field)->count = 0;
	return each(text, field, take_size);
}

static const char *parse_modes(const char *text, void *field)
{
	((struct plan_modes *)field)->count = 0;
	return each(text, field, take_mode);
}

static const char *parse_metric(const char *text, void *field)
{
	if (strcmp(text, "lat") != 0)
		return "is none of lat";
	*(const char **)field = "lat";
	return NULL;
}

static const char *parse_messages(const char *text, void *field)
{
	return value_count(text, 1, MESSAGES_MAX, field) ? NULL : "is not a number from 1 to 10^12";
}

#define FIELD(member) offsetof(struct plan, member)

// clang-format off: aligned, these would be wider than any screen
static const struct option_row rows[] = {
	{"op",            0,   "LIST", parse_ops,       FIELD(ops),           "operations: send, write, read (send)"},
	{"metric",        0,   "NAME", parse_metric,    FIELD(metric),        "what to measure: lat (lat)"          },
	{"size",          's', "LIST", parse_sizes,     FIELD(sizes),         "bytes of a message; 4k is 4096 (64)" },
	{"iterations",    'n', "N",    parse_messages,  FIELD(messages),      "messages of a case (5000)"           },
	{"cq",            0,   "LIST", parse_modes,     FIELD(cqs),
	 "how completions are waited for: poll, event, adaptive (poll)"                                             },
	{"server-cq",     0,   "LIST", parse_modes,     FIELD(server_cqs),
	 "the same at the server (as the client)"								   },
	{"device",        'd', "NAME", option_text,     FIELD(device),        "RDMA device (one that leads there)"  },
	{"server-device", 0,   "NAME", option_text,     FIELD(server_device), "the server's RDMA device"            },
	{"port",          'p', "PORT", option_port,     FIELD(port),          "the server's TCP port (7471)"        },
	{"wait",          0,   "TIME", option_duration, FIELD(wait_ms),
	 "how long to try to reach a server, such as 10s (0s)"                                                      },
	{"json",          0,   "FILE", option_text,     FIELD(json),
	 "write the result there; - is standard output"							     },
};
// clang-format on

const struct option_table plan_options = {
	.rows = rows,
	.count = ARRAY_LENGTH(rows),
	.operand = "HOST",
	.operand_offset = FIELD(host),
};

static size_t at_least_one(size_t count)
{
	return count ? count : 1;
}

static int make_cases(struct plan *plan, struct error *error)
{
	size_t n_server_cqs = at_least_one(plan->server_cqs.count);
	size_t n_cases = plan->ops.count * plan->sizes.count * plan->cqs.count * n_server_cqs;

	plan->cases = calloc(n_cases, sizeof(*plan->cases));
	if (!plan->cases)
		return error_set_errno(error, -ENOMEM, "cannot make the plan");
	/* Counted like the digits of a number: the last list runs fastest. */
	for (size_t i = 0; i < n_cases; i++) {
		size_t server = i % n_server_cqs;
		size_t cq = i / n_server_cqs % plan->cqs.count;
		size_t size = i / n_server_cqs / plan->cqs.count % plan->sizes.count;
		size_t op = i / n_server_cqs / plan->cqs.count / plan->sizes.count;

		plan->cases[i] = (struct plan_case){
			.op = plan->ops.item[op],
			.size = plan->sizes.item[size],
			.cq = plan->cqs.item[cq],
			.server_cq = plan->server_cqs.count ? plan->server_cqs.item[server]
							    : plan->cqs.item[cq],
			.messages = plan->messages,
		};
	}
	plan->n_cases = n_cases;
	return 0;
}

int plan_open(struct plan *plan, int argc, char *argv[], struct error *error)
{
	int code;

	*plan = (struct plan){
		.port = CONTROL_PORT,
		.metric = "lat",
		.messages = 5000,
		.ops = {.item = {&op_send},  .count = 1},
		.sizes = {.item = {64},        .count = 1},
		.cqs = {.item = {RDMA_POLL}, .count = 1},
	};
	code = option_parse(&plan_options, argc, argv, plan, error);
	if (code)
		return code;
	if (!plan->host)
		return error_set(error, -EINVAL,
				 "HOST is missing: the machine where 'verbmark serve' runs");
	return make_cases(plan, error);
}

void plan_close(struct plan *plan)
{
	free(plan->cases);
	*plan = (struct plan){0};
}

static void print_size(uint64_t bytes, char *text, size_t size)
{
	static const char *const units[] = {"", "k", "m", "g"};
	size_t unit = 0;

	while (unit + 1 < ARRAY_LENGTH(units) && bytes >= 1024 && bytes % 1024 == 0) {
		bytes /= 1024;
		unit++;
	}
	snprintf(text, size, "%" PRIu64 "%s", bytes, units[unit]);
}

void plan_case_id(const struct plan_case *wanted, char *id, size_t size)
{
	char bytes[24];
	size_t used;

	print_size(wanted->size, bytes, sizeof(bytes));
	used = (size_t)snprintf(id, size, "%s/lat/%s/%s", wanted->op->name, bytes,
				plan_mode_name(wanted->cq));
	if (wanted->server_cq != wanted->cq && used < size)
		snprintf(id + used, size - used, "/server-%s", plan_mode_name(wanted->server_cq));
}
