/* SPDX-License-Identifier: MIT */
#include "bench/host/advice/advice.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bench/host/advice/rule.h"
#include "core/base/printable.h"
#include "core/verbs/device_kind.h"

bool advice_what(struct advice_words *words, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(words->what, sizeof(words->what), format, args);
	va_end(args);
	return true;
}

bool advice_mend(struct advice_words *words, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(words->mend, sizeof(words->mend), format, args);
	va_end(args);
	return true;
}

static const json_t *member(const json_t *facts, const char *section, const char *key)
{
	return json_object_get(json_object_get(facts, section), key);
}

const char *advice_text(const json_t *facts, const char *section, const char *key)
{
	return json_string_value(member(facts, section, key));
}

bool advice_number(const json_t *facts, const char *section, const char *key, json_int_t *number)
{
	const json_t *value = member(facts, section, key);

	*number = json_integer_value(value);
	return json_is_integer(value);
}

bool advice_is_true(const json_t *facts, const char *section, const char *key)
{
	return json_is_true(member(facts, section, key));
}

bool advice_is_false(const json_t *facts, const char *section, const char *key)
{
	return json_is_false(member(facts, section, key));
}

const char *advice_device(const json_t *facts)
{
	const char *name = advice_text(facts, "device", "name");

	return name ? name : "the device";
}

bool advice_is_link(const json_t *facts, const char *link_layer)
{
	const char *found = advice_text(facts, "port", "link_layer");

	return found && !strcmp(found, link_layer);
}

bool advice_is_soft(const json_t *facts)
{
	const char *kind = advice_text(facts, "device", "kind");

	return kind && !strcmp(kind, device_kind_name(DEVICE_KIND_SOFT));
}

bool advice_is_hardware(const json_t *facts)
{
	return advice_is_false(facts, "device", "software");
}

json_t *advice_finding(const char *code, bool spoils, const char *host, const char *what,
		       const char *why, const char *mend)
{
	char name[64];
	char found[ADVICE_TEXT];
	char reason[ADVICE_TEXT];
	char command[ADVICE_TEXT];

	printable_copy(name, sizeof(name), host);
	printable_copy(found, sizeof(found), what);
	printable_copy(reason, sizeof(reason), why);
	printable_copy(command, sizeof(command), mend);
	return json_pack("{s:s, s:b, s:s, s:s, s:s, s:s}", "code", code, "spoils", spoils, "host",
			 name, "what", found, "why", reason, "mend", command);
}

const struct result_case *advice_worst(const struct result *result, advice_measure *measure,
				       const void *of, uint64_t least, uint64_t *most)
{
	const struct result_case *worst = NULL;

	*most = 0;
	for (size_t i = 0; i < result->n_cases; i++) {
		uint64_t found = measure(&result->cases[i], of);

		if (found < least || found <= *most)
			continue;
		worst = &result->cases[i];
		*most = found;
	}
	return worst;
}

bool advice_has(const json_t *array, const json_t *value)
{
	for (size_t i = 0; i < json_array_size(array); i++)
		if (json_equal(json_array_get(array, i), value))
			return true;
	return false;
}

/* Two ends on one machine count the same events, but not until exactly the same time. */
static bool is_reported(const json_t *findings, const json_t *finding)
{
	for (size_t i = 0; i < json_array_size(findings); i++) {
		const json_t *other = json_array_get(findings, i);

		if (json_equal(json_object_get(other, "code"), json_object_get(finding, "code")) &&
		    json_equal(json_object_get(other, "host"), json_object_get(finding, "host")))
			return true;
	}
	return false;
}

static void apply(json_t *findings, const struct advice_table *table, const struct advice_end *end,
		  const struct advice_end *peer)
{
	const char *host = json_string_value(json_object_get(end->facts, "host"));

	for (size_t i = 0; i < table->count; i++) {
		const struct advice_rule *rule = &table->rules[i];
		struct advice_words words = {0};
		json_t *finding;

		if (!rule->finds(end, peer, &words))
			continue;
		finding = advice_finding(rule->code, rule->spoils, host ? host : "this host",
					 words.what, rule->why,
					 words.mend[0] || !rule->mend ? words.mend : rule->mend);
		if (table == &advice_of_machine ? !is_reported(findings, finding)
						: !advice_has(findings, finding))
			json_array_append(findings, finding);
		json_decref(finding);
	}
}

json_t *advice_make(const struct advice_end *client, const struct advice_end *server)
{
	static const struct advice_table *const tables[] = {&advice_of_device, &advice_of_bus,
							    &advice_of_host, &advice_of_machine,
							    &advice_of_change};
	const struct advice_end *ends[] = {client, server};
	json_t *findings = json_array();

	if (!findings)
		return NULL;
	for (size_t end = 0; end < ARRAY_LENGTH(ends); end++)
		for (size_t i = 0; ends[end] && i < ARRAY_LENGTH(tables); i++)
			apply(findings, tables[i], ends[end], NULL);
	if (server)
		apply(findings, &advice_of_pair, client, server);
	return findings;
}

size_t advice_count_spoiling(const json_t *findings)
{
	size_t count = 0;

	for (size_t i = 0; i < json_array_size(findings); i++)
		count += json_is_true(json_object_get(json_array_get(findings, i), "spoils"));
	return count;
}
