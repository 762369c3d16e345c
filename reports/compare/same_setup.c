/* SPDX-License-Identifier: MIT */
#include "reports/compare/same_setup.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/io/json_member.h"
#include "reports/result/fingerprint.h"

/* Characters of a file name that an error quotes: the last ones, which say most. */
#define NAME_MOST 36

struct value {
	const char *before;
	const char *now;
};

static const char *short_name(const struct same_setup *alike)
{
	size_t length = strlen(alike->name);
	const char *at = length > NAME_MOST ? alike->name + length - NAME_MOST : alike->name;

	/* Do not start within a UTF-8 sequence. */
	while ((*at & 0xc0) == 0x80)
		at++;
	return at;
}

static int differ(const char *what, const struct value *value, const struct same_setup *before,
		  const struct same_setup *now, struct error *error)
{
	return error_set(error, -EXDEV, "%s is %s in %s and %s in %s", what, value->before,
			 short_name(before), value->now, short_name(now));
}

/* A value that one side does not know is not a difference. */
static bool is_other(const char *before, const char *now)
{
	return before && now && strcmp(before, now) != 0;
}

static int check_number(const char *what, uint64_t one, uint64_t other,
			const struct same_setup *before, const struct same_setup *now,
			struct error *error)
{
	char first[32];
	char second[32];

	if (one == other)
		return 0;
	snprintf(first, sizeof(first), "%" PRIu64, one);
	snprintf(second, sizeof(second), "%" PRIu64, other);
	return differ(what, &(struct value){first, second}, before, now, error);
}

static int check_known(const char *what, uint64_t one, uint64_t other,
		       const struct same_setup *before, const struct same_setup *now,
		       struct error *error)
{
	return one && other ? check_number(what, one, other, before, now, error) : 0;
}

/* Compares facts, which say more than their hash, if both results have them. */
static int check_facts(const struct result_end *one, const struct result_end *other,
		       const struct same_setup *before, const struct same_setup *now,
		       struct error *error)
{
	struct fingerprint_change change;
	int code;

	if (!one->fingerprint[0] || !other->fingerprint[0] ||
	    !strcmp(one->fingerprint, other->fingerprint))
		return 0;
	if (!fingerprint_compare(&change, one->facts, other->facts))
		return differ("hard fingerprint",
			      &(struct value){one->fingerprint, other->fingerprint}, before, now,
			      error);
	code = differ(change.fact, &(struct value){change.before, change.now}, before, now, error);
	if (change.count > 1)
		error_append(error, "%zu facts differ in all", change.count);
	return code;
}

static int check_end(const struct result_end *one, const struct result_end *other,
		     const struct same_setup *before, const struct same_setup *now,
		     struct error *error)
{
	int code = 0;

	if (is_other(one->kind, other->kind))
		code = differ("device", &(struct value){one->kind, other->kind}, before, now,
			      error);
	if (!code)
		code = check_facts(one, other, before, now, error);
	if (!code && is_other(one->link_layer, other->link_layer))
		code = differ("link layer", &(struct value){one->link_layer, other->link_layer},
			      before, now, error);
	if (!code)
		code = check_known("rate in Mb/s", one->rate_mbps, other->rate_mbps, before, now,
				   error);
	if (!code)
		code = check_known("MTU", one->mtu, other->mtu, before, now, error);
	return code;
}

static const char *program_of(const struct result *result)
{
	return result->imported ? json_member_or_empty(result->imported, "format") : "verbmark";
}

int same_setup_check(const struct same_setup *before, const struct same_setup *now,
		     struct error *error)
{
	const struct result *one = before->result;
	const struct result *other = now->result;
	const struct value programs = {program_of(one), program_of(other)};
	int code;

	/* Other programs measure different things under the same names. */
	if (is_other(programs.before, programs.now))
		return differ("the measuring program", &programs, before, now, error);
	code = check_end(&one->client, &other->client, before, now, error);
	if (code) {
		error_wrap(error, "the client");
		return code;
	}
	code = check_end(&one->server, &other->server, before, now, error);
	if (code) {
		error_wrap(error, "the server");
		return code;
	}
	if (is_other(one->clock, other->clock))
		return differ("the clock", &(struct value){one->clock, other->clock}, before, now,
			      error);
	return 0;
}

/* Collects what check_end compares. */
static json_t *make_end(const struct result_end *end)
{
	bool is_known = end->fingerprint[0];

	return json_pack("[s, s, s, s, I, I]", is_known ? end->fingerprint : end->host,
			 is_known ? "" : end->device, end->kind ? end->kind : "", end->link_layer,
			 (json_int_t)end->rate_mbps, (json_int_t)end->mtu);
}

/* Ids of imported cases omit parameters at the other program's defaults, so list them all. */
static json_t *make_parameters(const struct result *result)
{
	json_t *made = json_object();

	for (size_t i = 0; i < result->n_cases; i++) {
		json_t *all = json_copy(result->cases[i].parameters);
		char *text;

		json_object_del(all, "imported"); /* the raw output, with figures */
		json_object_del(all, "bidirectional");
		text = json_dumps(all, JSON_COMPACT | JSON_SORT_KEYS);
		if (!text || json_object_set_new(made, text, json_true())) {
			json_decref(made);
			made = NULL;
		}
		free(text);
		json_decref(all);
	}
	return made;
}

/* Starts with the program's name in place of the client, so that no verbmark key is the same. */
static json_t *make_imported(const struct result *result)
{
	return json_pack("[s, o, o, o]", program_of(result), make_end(&result->client),
			 make_end(&result->server), make_parameters(result));
}

int same_setup_key(char key[static SAME_SETUP_KEY], const struct result *result,
		   struct error *error)
{
	json_t *made = result->imported ? make_imported(result)
					: json_pack("[o, o, s]", make_end(&result->client),
						    make_end(&result->server), result->clock);
	char *text = json_dumps(made, JSON_COMPACT | JSON_SORT_KEYS);

	json_decref(made);
	if (!text)
		return error_set_errno(error, -ENOMEM, "cannot identify the setup");
	snprintf(key, SAME_SETUP_KEY, "%016" PRIx64, fingerprint_hash(text, strlen(text)));
	free(text);
	return 0;
}

bool same_setup_is_known(const struct result *result)
{
	return result->client.fingerprint[0] && result->server.fingerprint[0];
}
