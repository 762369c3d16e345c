/* SPDX-License-Identifier: MIT */
#include "reports/document/redact.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/compiler.h"
#include "reports/result/kernel_cmdline.h"

static const char gone[] = "redacted";

/* A host name, whole or up to its first dot, and its replacement. */
struct name {
	const char *text;
	size_t length;
	const char *instead;
};

/* For each side two names, and the host as the user gave it, each whole and up to its first dot. */
#define NAMES_MAX 10

struct names {
	struct name name[NAMES_MAX];
	size_t count;
};

static bool is_one_of(const char *text, const char *const *texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(texts[i], text))
			return true;
	return false;
}

/* Returns the longest name that starts here as a whole word, or NULL. */
static const struct name *name_at(const struct names *names, const char *text, const char *at)
{
	const struct name *found = NULL;

	if (at > text && isalnum((unsigned char)at[-1]))
		return NULL;
	for (size_t i = 0; i < names->count; i++) {
		const struct name *name = &names->name[i];

		if (!strncasecmp(at, name->text, name->length) &&
		    !isalnum((unsigned char)at[name->length]) &&
		    (!found || name->length > found->length))
			found = name;
	}
	return found;
}

/* Matches GUIDs and MAC addresses. Times and PCI addresses have only two colons. */
static bool is_grouped(const char *word)
{
	size_t colons = 0;

	for (const char *at = word; *at; at++) {
		colons += *at == ':';
		if (*at != ':' && !isxdigit((unsigned char)*at))
			return false;
	}
	return colons >= 3;
}

static bool is_address(const char *word)
{
	struct in6_addr address;

	return inet_pton(AF_INET, word, &address) == 1 ||
	       inet_pton(AF_INET6, word, &address) == 1 || is_grouped(word);
}

static void put_name(struct names *names, struct name name)
{
	if (names->count < NAMES_MAX)
		names->name[names->count++] = name;
}

/* Adds a name, whole and up to its first dot; addresses have no such part. */
static void add_name(struct names *names, const char *text, const char *instead)
{
	size_t length = text ? strlen(text) : 0;
	size_t host = text ? strcspn(text, ".") : 0;

	if (length)
		put_name(names, (struct name){text, length, instead});
	if (host && host < length && !is_address(text))
		put_name(names, (struct name){text, host, instead});
}

/* Adds the names of one side and of its facts. */
static void add_end(struct names *names, const json_t *end, const char *instead)
{
	const json_t *facts = json_object_get(end, "facts");

	add_name(names, json_string_value(json_object_get(end, "host")), instead);
	add_name(names, json_string_value(json_object_get(facts, "host")), instead);
}

/* Finds all names. They point into hosts and wanted, which messages quote. */
static void find_names(struct names *names, const json_t *hosts, const char *wanted)
{
	static const char *const ends[] = {"client", "server"};

	for (size_t i = 0; i < ARRAY_LENGTH(ends); i++)
		add_end(names, json_object_get(hosts, ends[i]), ends[i]);
	add_name(names, wanted, gone);
}

/* Returns the length of the address that starts here, without its port; 0: none. */
static size_t address_at(const char *text, const char *at)
{
	static const char letters[] = "0123456789abcdefABCDEF:.";
	size_t length = strspn(at, letters);
	char word[64];

	if (at > text && (isalnum((unsigned char)at[-1]) || strchr(":.", at[-1])))
		return 0;
	if (length >= sizeof(word) || isalnum((unsigned char)at[length]))
		return 0;
	/* Exclude punctuation after the address. */
	if (length > 1 && strchr(":.", at[length - 1]) && at[length - 2] != ':')
		length--;
	while (length) {
		snprintf(word, sizeof(word), "%.*s", (int)length, at);
		if (is_address(word))
			return length;
		do
			length--;
		while (length && !strchr(":.", at[length]));
	}
	return 0;
}

/* Matches 8-4-4-4-12 hexadecimal digits. */
static bool is_uuid(const char *at)
{
	for (size_t i = 0; i < 36; i++) {
		bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (is_dash ? at[i] != '-' : !isxdigit((unsigned char)at[i]))
			return false;
	}
	return true;
}

/* Returns the length of digits that may be a GUID, a MAC address or a UUID; 0: none. */
static size_t digits_at(const char *text, const char *at)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	size_t length = strspn(at, digits);
	bool is_behind = at > text && isxdigit((unsigned char)at[-1]);
	bool is_hex = at > text && tolower((unsigned char)at[-1]) == 'x';

	if (!is_behind && is_uuid(at))
		return 36;
	/* Decimal digits may be a large number, such as of bytes. */
	return length >= 12 && !is_behind && (is_hex || strspn(at, "0123456789") < length) ? length
											   : 0;
}

static void scrub(FILE *out, const struct names *names, const char *text, bool is_version)
{
	const char *at = text;

	while (*at) {
		const struct name *name = name_at(names, text, at);
		size_t length = is_version ? 0 : address_at(text, at);

		if (!length && !is_version)
			length = digits_at(text, at);
		if (name)
			fputs(name->instead, out);
		else if (length)
			fputs(gone, out);
		else
			fputc(*at, out);
		at += name ? name->length : length ? length : 1;
	}
}

/* Returns NULL if memory runs out. */
static json_t *scrubbed(const struct names *names, const char *text, bool is_version)
{
	char *made = NULL;
	size_t length;
	FILE *out = open_memstream(&made, &length);
	json_t *json;

	if (!out)
		return NULL;
	scrub(out, names, text, is_version);
	json = fclose(out) ? NULL : json_string(made);
	free(made);
	return json;
}

/* Versions look like addresses, and hashes like GUIDs. */
static bool is_version(const char *key)
{
	static const char *const keys[] = {
		"fw_ver",
		"driver_version",
		"driver_srcversion",
		"version",
		"library",
		"provider",
		"libc",
		"compiler",
		"release",
		"revision",
		"rdma_driver_version",
		"rdma_driver_srcversion",
	};

	return is_one_of(key, keys, ARRAY_LENGTH(keys));
}

static bool is_private(const char *key)
{
	static const char *const keys[] = {
		"serial", "serial_number", "uuid", "node_guid", "sys_image_guid",
		"guid",   "port_guid",     "gid",  "gids",      "mac",
	};

	return is_one_of(key, keys, ARRAY_LENGTH(keys));
}

/* Redacts free text only; words that the schema defines stay. */
static int walk(json_t *json, const struct names *names)
{
	const char *key;
	json_t *value;
	void *next;
	size_t i;
	int code = 0;

	json_object_foreach_safe(json, next, key, value)
	{
		if (is_private(key))
			code |= json_object_del(json, key);
		else if (!strcmp(key, "code"))
			continue;
		else if (json_is_string(value))
			code |= json_object_set_new(
				json, key,
				scrubbed(names, json_string_value(value), is_version(key)));
		else
			code |= walk(value, names);
	}
	json_array_foreach(json, i, value)
	{
		if (json_is_string(value))
			code |= json_array_set_new(
				json, i, scrubbed(names, json_string_value(value), false));
		else
			code |= walk(value, names);
	}
	return code;
}

static int shorten_cmdline(json_t *facts)
{
	json_t *kernel = json_object_get(facts, "kernel");
	const char *line = json_string_value(json_object_get(kernel, "cmdline"));
	char kept[KERNEL_CMDLINE_KEPT];

	if (!line)
		return 0;
	return kernel_cmdline_keep(line, kept)
		       ? -1
		       : json_object_set_new(kernel, "cmdline", json_string(kept));
}

/* In an imported result, a side or its device may be unknown. */
static int redact_end(json_t *end, const char *instead, const struct names *names)
{
	const char *device = json_string_value(json_object_get(end, "device"));
	json_t *facts = json_object_get(end, "facts");
	int code = shorten_cmdline(facts);

	if (!end)
		return 0;
	code |= walk(facts, names);
	code |= json_object_set_new(end, "host", json_string(instead));
	code |= json_object_set_new(end, "address", json_string(gone));
	if (device)
		code |= json_object_set_new(end, "device", scrubbed(names, device, false));
	return code;
}

/* A flow's end is a thread, which has a number instead of a name. */
static bool is_thread(const char *text)
{
	return !strncmp(text, "client ", 7) || !strncmp(text, "server ", 7);
}

/* Redacts anything but threads. */
static int redact_flows(json_t *flows, const struct names *names)
{
	static const char *const ends[] = {"from", "to"};
	int code = walk(flows, names);
	json_t *flow;
	size_t i;

	json_array_foreach(json_object_get(flows, "flows"), i, flow)
	{
		for (size_t j = 0; j < ARRAY_LENGTH(ends); j++) {
			const char *text = json_string_value(json_object_get(flow, ends[j]));

			if (text && !is_thread(text))
				code |= json_object_set_new(flow, ends[j], json_string(gone));
		}
	}
	return code;
}

static int redact_cases(json_t *cases, const struct names *names)
{
	json_t *line;
	size_t i;
	int code = 0;

	json_array_foreach(cases, i, line)
	{
		const char *text = json_string_value(json_object_get(line, "error"));

		if (text)
			code |= json_object_set_new(line, "error", scrubbed(names, text, false));
		code |= redact_flows(json_object_get(line, "flows"), names);
	}
	return code;
}

/* Returns the length of a word that is not private: all of it, or an option name before a value. */
static size_t public_length(const char *word, const char *const *words, size_t n_words)
{
	const char *value = word[0] == '-' ? strchr(word, '=') : NULL;

	if (value && is_one_of(value + 1, words, n_words))
		return (size_t)(value + 1 - word);
	return is_one_of(word, words, n_words) ? 0 : strlen(word);
}

static int redact_command(json_t *command, const char *const *words, size_t n_words)
{
	json_t *word;
	size_t i;
	int code = 0;

	json_array_foreach(command, i, word)
	{
		const char *text = json_string_value(word);
		size_t length = text ? public_length(text, words, n_words) : 0;

		if (text && text[length])
			code |= json_array_set_new(command, i,
						   json_sprintf("%.*s%s", (int)length, text, gone));
	}
	return code;
}

int redact_document(json_t *document, const char *host, const char *const *words, size_t n_words,
		    struct error *error)
{
	json_t *hosts = json_object_get(document, "hosts");
	json_t *before = json_deep_copy(hosts);
	json_t *command = json_object_get(json_object_get(document, "run"), "command");
	const json_t *turns = json_object_get(document, "turns");
	struct names names = {0};
	const json_t *turn;
	size_t i;
	int code = before ? redact_command(command, words, n_words) : -1;

	find_names(&names, before, host);
	code |= walk(command, &names);
	code |= redact_end(json_object_get(hosts, "client"), "client", &names);
	code |= redact_end(json_object_get(hosts, "server"), "server", &names);
	code |= walk(json_object_get(document, "warnings"), &names);
	code |= redact_cases(json_object_get(document, "cases"), &names);
	json_array_foreach(turns, i, turn) code |= walk(json_object_get(turn, "missing"), &names);
	json_decref(before);
	return code ? error_set_errno(error, -ENOMEM, "cannot redact the document") : 0;
}
