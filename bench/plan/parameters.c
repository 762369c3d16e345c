/* SPDX-License-Identifier: MIT */
#include "bench/plan/parameters.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include "bench/cli/value.h"
#include "bench/plan/group.h"
#include "bench/plan/memory_name.h"
#include "bench/plan/pin.h"
#include "bench/plan/rate.h"
#include "core/base/printable.h"

static const char stride[] = "stride=";

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

static const char *word_at(const struct parameter *parameter, uint64_t i)
{
	return option_value_at(&parameter->option.values, i)->name;
}

/* An error lists that many words, and of more the first ones. */
#define WORDS_LISTED 12
#define WORDS_SHOWN  8

static const char *no_such_word(const struct parameter *parameter)
{
	const struct option_row *option = &parameter->option;
	bool is_long = option->values.count > WORDS_LISTED;
	char list[256] = "";
	size_t used = 0;

	for (uint64_t i = 0; i < (is_long ? WORDS_SHOWN : option->values.count); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
					 word_at(parameter, i));
	if (is_long)
		return complain("is not one of %s, ...; --%s help lists all", list, option->name);
	return complain("is not one of %s", list);
}

static const char *parse_word(const struct parameter *parameter, const char *text, uint64_t *value)
{
	for (uint64_t i = 0; i < parameter->option.values.count; i++) {
		if (!strcasecmp(word_at(parameter, i), text)) {
			*value = i;
			return NULL;
		}
	}
	return no_such_word(parameter);
}

static const char *check_range(const struct parameter *parameter, uint64_t value);

static const char no_such_access[] = "is not one of same, sequential, random, stride=SIZE";

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

static const char *parse_memory(const char *text, uint64_t *value)
{
	struct error error = {0};

	return memory_name_find(text, value, &error) ? complain("%s", error.text) : NULL;
}

static const char *parse_flag(const char *text, uint64_t *value)
{
	*value = text[0] == '1';
	return (text[0] == '0' || text[0] == '1') && !text[1] ? NULL : "must be 0 or 1";
}

static const char *not_a_rate(const struct parameter *parameter)
{
	return !strcmp(parameter->option.name, "rate-limit")
		       ? "is not a bit rate from 1kb/s to 4Tb/s (e.g. 10Gb/s)"
		       : "is not a rate (e.g. 100k, 10Gb/s or 10%)";
}

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
	case PARAMETER_MEMORY:
		return parse_memory(text, value);
	case PARAMETER_GROUP:
		return group_parse(text, value);
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
		return rate_parse(text, value) ? NULL : not_a_rate(parameter);
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
		snprintf(text, size, "%s", word_at(parameter, value));
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
		snprintf(text, size, "%s", word_at(parameter, value));
		break;
	case PARAMETER_MEMORY:
		snprintf(text, size, "%s", memory_name_text(value));
		break;
	case PARAMETER_GROUP:
		group_print(value, text, size);
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
	char text[PARAMETER_TEXT];

	switch (parameter->type) {
	case PARAMETER_FLAG:
		return json_boolean(value);
	case PARAMETER_COUNT:
	case PARAMETER_SIZE:
	case PARAMETER_TIME:
		return json_integer((json_int_t)value);
	case PARAMETER_PLACE:
	case PARAMETER_PIN:
		if (value <= parameter->most)
			return json_integer((json_int_t)value);
		break;
	case PARAMETER_WORD:
	case PARAMETER_ACCESS:
	case PARAMETER_RATE:
	case PARAMETER_MEMORY:
	case PARAMETER_GROUP:
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
		return not_a_rate(parameter);
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
	if (parameter->type == PARAMETER_MEMORY)
		return "must be a kind of memory (e.g. \"host\")";
	if (parameter->type == PARAMETER_GROUP)
		return "must be a multicast address (e.g. \"239.1.2.3\")";
	if (!json_is_integer(json) || json_integer_value(json) < 0)
		return no_such_number(parameter);
	*value = (uint64_t)json_integer_value(json);
	return check_range(parameter, *value);
}

static const char nanoseconds[] = "_ns";

void parameter_key(char key[static PARAMETER_KEY], const struct parameter *parameter)
{
	snprintf(key, PARAMETER_KEY, "%s%s", parameter->option.name,
		 parameter->type == PARAMETER_TIME ? nanoseconds : "");
}

const struct parameter *parameter_of_key(const char *key)
{
	char own[PARAMETER_KEY];

	for (size_t i = 0; i < PARAMETERS; i++) {
		parameter_key(own, &parameter_table[i]);
		if (!strcmp(own, key))
			return &parameter_table[i];
	}
	return NULL;
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
	return word_at(parameter_find(name), value);
}

int parameters_encode(const struct parameters *from, json_t *object)
{
	int code = 0;

	for (size_t i = 0; i < PARAMETERS; i++) {
		const struct parameter *parameter = &parameter_table[i];
		uint64_t value = parameter_get(from, parameter);
		char key[PARAMETER_KEY];

		parameter_key(key, parameter);
		if (value != PARAMETER_AUTO)
			code |= json_object_set_new(object, key,
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
		const struct parameter *parameter = parameter_of_key(name);
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
		char value[PARAMETER_TEXT] = "";

		if (!is_in_id(from, parameter))
			continue;
		if (parameter->type != PARAMETER_FLAG)
			parameter_print(parameter, parameter_get(from, parameter), value,
					sizeof(value));
		used += (size_t)snprintf(id + used, size - used, "%s%s%s", used ? "/" : "", mark,
					 value);
	}
}

bool parameters_need_pairs(const struct parameters *parameters)
{
	return !parameters_has(parameters, TRANSPORT_BY_CM) || parameters->mtu != PARAMETER_AUTO ||
	       parameters->gid_index != PARAMETER_AUTO ||
	       parameters->server_gid_index != PARAMETER_AUTO || parameters->sl ||
	       parameters->tos || parameters->flow_label != PARAMETER_AUTO ||
	       parameters->hop_limit != PARAMETER_AUTO ||
	       parameters->pkey_index != PARAMETER_AUTO || parameters->path_bits != PARAMETER_AUTO;
}
