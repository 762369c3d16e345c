/* SPDX-License-Identifier: MIT */
#include "reports/result/effective.h"

#include <errno.h>
#include <string.h>

#include "core/base/compiler.h"
#include "reports/io/json_member.h"

#define WORDS_MAX 4

static const struct row {
	const char *name;
	const char *words[WORDS_MAX]; /* none: a number */
	bool is_flag;
} rows[CHOSEN_MEMBERS] = {
	[CHOSEN_POST_CALL] = {.name = "post_call",            .words = {"ibv_post_send", "ibv_wr"}},
	[CHOSEN_INLINE] = {.name = "inline",                              .is_flag = true},
	[CHOSEN_INLINE_LIMIT_BYTES] = {.name = "inline_limit_bytes"},
	[CHOSEN_SEND_DEPTH] = {.name = "send_depth"  },
	[CHOSEN_RECEIVE_DEPTH] = {.name = "receive_depth"          },
	[CHOSEN_SHARED_RECEIVE_DEPTH] = {.name = "shared_receive_depth"       },
	[CHOSEN_CQ_DEPTH] = {.name = "cq_depth"},
	[CHOSEN_INITIATOR_DEPTH] = {.name = "initiator_depth"            },
	[CHOSEN_RESPONDER_DEPTH] = {.name = "responder_depth"     },
	[CHOSEN_PATH_MTU_BYTES] = {.name = "path_mtu_bytes"     },
	[CHOSEN_GID_INDEX] = {.name = "gid_index"      },
	[CHOSEN_GID_TYPE] = {.name = "gid_type",            .words = {"IB", "RoCE v1", "RoCE v2"}},
	[CHOSEN_SL] = {.name = "sl"            },
	[CHOSEN_TRAFFIC_CLASS] = {.name = "traffic_class"                             },
	[CHOSEN_ACK_TIMEOUT_NS] = {.name = "ack_timeout_ns"                 },
	[CHOSEN_RETRIES] = {.name = "retries"},
	[CHOSEN_RNR_RETRIES] = {.name = "rnr_retries"            },
	[CHOSEN_SPIN_NS] = {.name = "spin_ns"                             },
	[CHOSEN_COMPLETION_VECTOR] = {.name = "completion_vector"                 },
	[CHOSEN_PAGE_BYTES] = {.name = "page_bytes"},
	[CHOSEN_BUFFER_BYTES] = {.name = "buffer_bytes"            },
	[CHOSEN_PLACES] = {.name = "places"                             },
};

void chosen_set(struct chosen *chosen, enum chosen_member member, uint64_t value)
{
	chosen->value[member] = value;
	chosen->is_known[member] = true;
}

static json_t *encode(const struct row *row, uint64_t value)
{
	if (row->is_flag)
		return json_boolean(value);
	return row->words[0] ? json_string(row->words[value]) : json_integer((json_int_t)value);
}

bool chosen_is_any(const struct chosen *chosen)
{
	for (size_t i = 0; i < CHOSEN_MEMBERS; i++)
		if (chosen->is_known[i])
			return true;
	return false;
}

json_t *chosen_encode(const struct chosen *chosen)
{
	json_t *json = chosen_is_any(chosen) ? json_object() : NULL;
	int failed = 0;

	for (size_t i = 0; i < CHOSEN_MEMBERS; i++)
		if (chosen->is_known[i])
			failed |= json_object_set_new(json, rows[i].name,
						      encode(&rows[i], chosen->value[i]));
	if (!failed)
		return json;
	json_decref(json);
	return NULL;
}

static int find_word(const struct row *row, const json_t *json, uint64_t *value,
		     struct error *error)
{
	const char *text = json_string_value(json_object_get(json, row->name));

	for (uint64_t i = 0; text && i < WORDS_MAX && row->words[i]; i++)
		if (!strcmp(row->words[i], text)) {
			*value = i;
			return 0;
		}
	return error_set(error, -EINVAL, "\"%s\" is none of its words", row->name);
}

static int decode(const struct row *row, const json_t *json, uint64_t *value, struct error *error)
{
	bool flag = false;
	int code;

	if (row->words[0])
		return find_word(row, json, value, error);
	if (!row->is_flag)
		return member_count(json, row->name, value, error);
	code = member_flag(json, row->name, &flag, error);
	*value = flag;
	return code;
}

int chosen_decode(struct chosen *chosen, const json_t *json, struct error *error)
{
	int first = 0;

	*chosen = (struct chosen){0};
	for (size_t i = 0; i < CHOSEN_MEMBERS; i++) {
		uint64_t value = 0;
		int code;

		if (!json_object_get(json, rows[i].name))
			continue;
		code = decode(&rows[i], json, &value, error);
		if (!code)
			chosen_set(chosen, (enum chosen_member)i, value);
		else if (!first)
			first = code;
	}
	return first;
}

void chosen_merge(struct chosen *into, const struct chosen *from)
{
	for (size_t i = 0; i < CHOSEN_MEMBERS; i++) {
		into->is_known[i] =
			into->is_known[i] && from->is_known[i] && into->value[i] == from->value[i];
		if (!into->is_known[i])
			into->value[i] = 0;
	}
}
