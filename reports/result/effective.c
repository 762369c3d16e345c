/* SPDX-License-Identifier: MIT */
#include "reports/result/effective.h"

#include <errno.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/base/printable.h"
#include "reports/io/json_member.h"

#define WORDS_MAX 4

static const struct row {
	const char *name;
	const char *words[WORDS_MAX]; /* none: the value is a number */
	bool is_flag;
} rows[EFFECTIVE_MEMBERS] = {
	[EFFECTIVE_POST_CALL] = {.name = "post_call",            .words = {"ibv_post_send", "ibv_wr"}},
	[EFFECTIVE_INLINE] = {.name = "inline",                              .is_flag = true},
	[EFFECTIVE_INLINE_LIMIT_BYTES] = {.name = "inline_limit_bytes"},
	[EFFECTIVE_SEND_DEPTH] = {.name = "send_depth"  },
	[EFFECTIVE_RECEIVE_DEPTH] = {.name = "receive_depth"          },
	[EFFECTIVE_SHARED_RECEIVE_DEPTH] = {.name = "shared_receive_depth"       },
	[EFFECTIVE_CQ_DEPTH] = {.name = "cq_depth"},
	[EFFECTIVE_INITIATOR_DEPTH] = {.name = "initiator_depth"            },
	[EFFECTIVE_RESPONDER_DEPTH] = {.name = "responder_depth"     },
	[EFFECTIVE_PATH_MTU_BYTES] = {.name = "path_mtu_bytes"     },
	[EFFECTIVE_GID_INDEX] = {.name = "gid_index"      },
	[EFFECTIVE_GID_TYPE] = {.name = "gid_type",            .words = {"IB", "RoCE v1", "RoCE v2"}},
	[EFFECTIVE_PKEY_INDEX] = {.name = "pkey_index"            },
	[EFFECTIVE_SL] = {.name = "sl"                             },
	[EFFECTIVE_PATH_BITS] = {.name = "path_bits"                 },
	[EFFECTIVE_TRAFFIC_CLASS] = {.name = "traffic_class"},
	[EFFECTIVE_FLOW_LABEL] = {.name = "flow_label"            },
	[EFFECTIVE_HOP_LIMIT] = {.name = "hop_limit"                             },
	[EFFECTIVE_ACK_TIMEOUT_NS] = {.name = "ack_timeout_ns"                 },
	[EFFECTIVE_RETRIES] = {.name = "retries"},
	[EFFECTIVE_RNR_RETRIES] = {.name = "rnr_retries"            },
	[EFFECTIVE_SPIN_NS] = {.name = "spin_ns"                             },
	[EFFECTIVE_COMPLETION_VECTOR] = {.name = "completion_vector"                 },
	[EFFECTIVE_PAGE_BYTES] = {.name = "page_bytes"},
	[EFFECTIVE_BUFFER_BYTES] = {.name = "buffer_bytes"            },
	[EFFECTIVE_PLACES] = {.name = "places"                             },
};

static const char *const text_names[EFFECTIVE_TEXTS] = {
	[EFFECTIVE_MEMORY_PATH] = "memory_path",
	[EFFECTIVE_MEMORY_OWNER] = "memory_owner",
	[EFFECTIVE_MEMORY_DRIVER] = "memory_driver",
	[EFFECTIVE_MEMORY_PCIE] = "memory_pcie",
};

void effective_set(struct effective *chosen, enum effective_member member, uint64_t value)
{
	chosen->value[member] = value;
	chosen->is_known[member] = true;
}

void effective_set_text(struct effective *chosen, enum effective_text member, const char *text)
{
	printable_copy(chosen->text[member], EFFECTIVE_TEXT, text);
}

static json_t *encode(const struct row *row, uint64_t value)
{
	if (row->is_flag)
		return json_boolean(value);
	return row->words[0] ? json_string(row->words[value]) : json_integer((json_int_t)value);
}

bool effective_is_any(const struct effective *chosen)
{
	for (size_t i = 0; i < EFFECTIVE_MEMBERS; i++)
		if (chosen->is_known[i])
			return true;
	for (size_t i = 0; i < EFFECTIVE_TEXTS; i++)
		if (chosen->text[i][0])
			return true;
	return false;
}

json_t *effective_encode(const struct effective *chosen)
{
	json_t *json = effective_is_any(chosen) ? json_object() : NULL;
	int failed = 0;

	for (size_t i = 0; i < EFFECTIVE_MEMBERS; i++)
		if (chosen->is_known[i])
			failed |= json_object_set_new(json, rows[i].name,
						      encode(&rows[i], chosen->value[i]));
	for (size_t i = 0; i < EFFECTIVE_TEXTS; i++)
		if (chosen->text[i][0])
			failed |= json_object_set_new(json, text_names[i],
						      json_string(chosen->text[i]));
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
	return error_set(error, -EINVAL, "\"%s\" has an unknown value", row->name);
}

static int decode(const struct row *row, const json_t *json, uint64_t *value, struct error *error)
{
	bool flag = false;
	int code;

	if (row->words[0])
		return find_word(row, json, value, error);
	if (!row->is_flag)
		return json_member_count(json, row->name, value, error);
	code = json_member_flag(json, row->name, &flag, error);
	*value = flag;
	return code;
}

/* Sets the texts. Returns the name of the first one that is not a text, or NULL. */
static const char *decode_texts(struct effective *chosen, const json_t *json)
{
	const char *wrong = NULL;

	for (size_t i = 0; i < EFFECTIVE_TEXTS; i++) {
		const json_t *text = json_object_get(json, text_names[i]);

		if (json_is_string(text))
			effective_set_text(chosen, (enum effective_text)i, json_string_value(text));
		else if (text && !wrong)
			wrong = text_names[i];
	}
	return wrong;
}

int effective_decode(struct effective *chosen, const json_t *json, struct error *error)
{
	const char *wrong;
	int first = 0;

	*chosen = (struct effective){0};
	for (size_t i = 0; i < EFFECTIVE_MEMBERS; i++) {
		uint64_t value = 0;
		int code;

		if (!json_object_get(json, rows[i].name))
			continue;
		code = decode(&rows[i], json, &value, error);
		if (!code)
			effective_set(chosen, (enum effective_member)i, value);
		else if (!first)
			first = code;
	}
	wrong = decode_texts(chosen, json);
	if (wrong && !first)
		first = error_set(error, -EINVAL, "\"%s\" is not a text", wrong);
	return first;
}

void effective_merge(struct effective *into, const struct effective *from)
{
	for (size_t i = 0; i < EFFECTIVE_MEMBERS; i++) {
		into->is_known[i] =
			into->is_known[i] && from->is_known[i] && into->value[i] == from->value[i];
		if (!into->is_known[i])
			into->value[i] = 0;
	}
	for (size_t i = 0; i < EFFECTIVE_TEXTS; i++)
		if (strcmp(into->text[i], from->text[i]) != 0)
			into->text[i][0] = '\0';
}
