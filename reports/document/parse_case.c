/* SPDX-License-Identifier: MIT */
#include "reports/document/parse_case.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory_choice.h"
#include "reports/document/parse.h"
#include "reports/document/parse_breakdown.h"
#include "reports/document/parse_pace.h"
#include "reports/document/parse_trial.h"
#include "reports/document/restore.h"
#include "reports/io/json_member.h"
#include "reports/result/sum_check.h"

/* Parses the trials; the case's messages, duration and costs are their sums. */
static int parse_trials(struct result_case *line, const json_t *json, struct error *error)
{
	const json_t *member;
	json_t *trials;
	size_t i;
	int code = json_member_array(json, "trials", &trials, error);

	if (!code && json_array_size(trials) > PARSE_TRIALS_MOST)
		return error_set(error, -E2BIG, "%zu trials exceed the maximum of %d",
				 json_array_size(trials), PARSE_TRIALS_MOST);
	json_array_foreach(trials, i, member)
	{
		struct result_trial trial = {0};

		if (parse_trial(&trial, member, json, line->is_imported, error)) {
			error_wrap(error, "trial %zu", i + 1);
			return -EINVAL;
		}
		if (sum_check_trial_is_beyond(line, &trial))
			return error_set(error, -EINVAL, "trial %zu: the sums overflow", i + 1);
		code = result_add_trial(line, &trial, NULL, NULL, error);
		if (code)
			return code;
	}
	return code;
}

static int parse_kind(enum result_kind *kind, const json_t *latency, struct error *error)
{
	static const enum result_kind kinds[] = {RESULT_HALF, RESULT_FULL, RESULT_COMPLETION,
						 RESULT_CALL};
	char name[32] = "";

	if (json_member_text(latency, "kind", name, sizeof(name), error))
		return -EINVAL;
	for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++) {
		*kind = kinds[i];
		if (!strcmp(result_kind_name(*kind), name))
			return 0;
	}
	return error_set(error, -EINVAL, "\"kind\" is not half, full, completion or call");
}

static int parse_latency(struct result_case *line, const json_t *json, struct error *error)
{
	json_t *latency;
	int code = json_member_object(json, "latency_ns", &latency, error);

	if (code)
		return code;
	/* The pooled figures are computed from the trials. */
	if (line->is_imported && !json_object_get(latency, "histogram")) {
		code = parse_kind(&line->kind, latency, error);
		return code ? error_wrap(error, "latency_ns") : result_take_figures(line, error);
	}
	line->latency = hist_create();
	if (!line->latency)
		return error_set_errno(error, -ENOMEM, "cannot keep a histogram");
	code = parse_kind(&line->kind, latency, error);
	if (!code)
		code = restore_hist(line->latency, latency, error);
	if (code)
		error_wrap(error, "latency_ns");
	return code;
}

static int parse_warmup(struct result_case *line, const json_t *json, struct error *error)
{
	json_t *warmup;
	int code = json_member_object(json, "warmup_latency_ns", &warmup, error);

	if (code)
		return code;
	line->warmup = hist_create();
	if (!line->warmup)
		return error_set_errno(error, -ENOMEM, "cannot keep a histogram");
	code = restore_hist(line->warmup, warmup, error);
	if (code)
		error_wrap(error, "warmup_latency_ns");
	return code;
}

static int check_bandwidth(const struct result_case *line, const json_t *bandwidth,
			   struct error *error)
{
	uint64_t messages;
	uint64_t duration_ns;
	uint64_t bytes;

	if (json_member_count(bandwidth, "messages", &messages, error) ||
	    json_member_count(bandwidth, "duration_ns", &duration_ns, error) ||
	    json_member_count(bandwidth, "bytes", &bytes, error))
		return -EINVAL;
	if (messages != line->messages || duration_ns != line->duration_ns)
		return error_set(error, -EINVAL, "messages and duration do not match the trials");
	if (!duration_ns)
		return error_set(error, -EINVAL, "duration is 0");
	if ((unsigned __int128)messages * line->size != bytes)
		return error_set(error, -EINVAL,
				 "%" PRIu64 " messages of %" PRIu64 " bytes are not %" PRIu64
				 " bytes",
				 messages, line->size, bytes);
	return 0;
}

static int parse_bandwidth(struct result_case *line, const json_t *json, struct error *error)
{
	json_t *bandwidth;
	int code = json_member_object(json, "bandwidth", &bandwidth, error);

	if (code)
		return code;
	line->windows = malloc(sizeof(*line->windows));
	if (!line->windows)
		return error_set_errno(error, -ENOMEM, "cannot keep the windows");
	code = check_bandwidth(line, bandwidth, error);
	if (!code && line->is_imported) {
		rate_windows_init(line->windows, 1);
		rate_windows_forget(line->windows, line->messages);
	} else if (!code)
		code = restore_windows(line->windows, bandwidth, line->size, error);
	if (code)
		error_wrap(error, "bandwidth");
	return code;
}

static int parse_shares(struct result_case *line, const json_t *json, struct error *error)
{
	struct shares *shares = &line->shares;
	unsigned __int128 messages = 0;
	json_t *object;
	int code = json_member_object(json, "shares", &object, error);

	if (!code)
		code = shares_decode(shares, object, error);
	for (size_t i = 0; i < (size_t)shares->threads * shares->qps && !code; i++)
		messages += shares->messages[i];
	if (!code && messages != line->messages)
		code = error_set(error, -EINVAL, "messages of the threads do not add up");
	if (code)
		error_wrap(error, "shares");
	return code;
}

static int parse_receivers(struct result_case *line, const json_t *json, struct error *error)
{
	json_t *list;
	int code = json_member_array(json, "receivers", &list, error);

	if (!code)
		code = receivers_decode(&line->receivers, list, error);
	for (size_t i = 0; i < line->receivers.count && !code; i++)
		if (line->receivers.receiver[i].arrived > line->sent ||
		    line->receivers.receiver[i].lost > line->sent)
			code = error_set(error, -EINVAL, "messages that were not sent");
	if (code)
		error_wrap(error, "receivers");
	return code;
}

static int parse_flows(struct result_case *line, const json_t *json, struct error *error)
{
	unsigned __int128 messages = 0;
	json_t *object;
	int code = json_member_object(json, "flows", &object, error);

	if (!code)
		code = flows_decode(&line->flows, object, error);
	for (size_t i = 0; i < line->flows.count && !code; i++)
		messages += line->flows.flow[i].messages;
	if (!code && messages != line->messages)
		code = error_set(error, -EINVAL, "messages of the flows do not add up");
	if (code)
		error_wrap(error, "flows");
	return code;
}

static int check_costs(const struct result_case *line, const json_t *json, struct error *error)
{
	struct result_cost client = {0};
	struct result_cost server = {0};
	int code = parse_trial_costs(&client, &server, json, error);

	if (!code && (memcmp(&client, &line->client, sizeof(client)) != 0 ||
		      memcmp(&server, &line->server, sizeof(server)) != 0))
		code = error_set(error, -EINVAL, "\"cpu\" is not the sum of the trials");
	return code;
}

/* A placement that is missing, or has no CPUs, is unknown. */
static int parse_place(struct result_place *place, const json_t *placement, const char *name,
		       struct error *error)
{
	unsigned int node;
	json_t *json;

	*place = (struct result_place){.numa_node = -1};
	if (!json_object_get(placement, name))
		return 0;
	if (json_member_object(placement, name, &json, error) ||
	    json_member_text(json, "cpus", place->cpus, sizeof(place->cpus), error))
		return -EINVAL;
	if (!json_object_get(json, "numa_node"))
		return 0;
	if (json_member_small(json, "numa_node", INT_MAX, &node, error))
		return -EINVAL;
	place->numa_node = (int)node;
	return 0;
}

static int parse_placement(struct result_case *line, const json_t *json, struct error *error)
{
	json_t *placement;
	int code;

	if (!json_object_get(json, "placement"))
		return 0;
	if (json_member_object(json, "placement", &placement, error))
		return -EINVAL;
	code = parse_place(&line->client_place, placement, "client", error);
	if (!code)
		code = parse_place(&line->server_place, placement, "server", error);
	if (code)
		error_wrap(error, "placement");
	return code;
}

static int parse_chosen(struct result_case *line, const json_t *json, struct error *error)
{
	const struct {
		const char *name;
		struct effective *chosen;
	} ends[] = {
		{"client", &line->client_chosen},
		{"server", &line->server_chosen},
	};
	json_t *chosen;
	int code = 0;

	if (!json_object_get(json, "chosen"))
		return 0;
	if (json_member_object(json, "chosen", &chosen, error))
		return -EINVAL;
	for (size_t i = 0; i < ARRAY_LENGTH(ends) && !code; i++) {
		json_t *end;

		if (!json_object_get(chosen, ends[i].name))
			continue;
		code = json_member_object(chosen, ends[i].name, &end, error);
		if (!code)
			code = effective_decode(ends[i].chosen, end, error);
	}
	if (code)
		error_wrap(error, "chosen");
	return code;
}

static int parse_figures(struct result_case *line, const json_t *json, struct error *error)
{
	bool has_latency = json_object_get(json, "latency_ns") != NULL;
	bool has_bandwidth = json_object_get(json, "bandwidth") != NULL;
	int code = 0;

	if ((has_latency || has_bandwidth) != (line->n_trials > 0))
		return error_set(error, -EINVAL,
				 "figures without trials, or trials without figures");
	/* Only complete cases have figures. */
	if ((line->status == RESULT_COMPLETE) != (line->n_trials > 0))
		return error_set(error, -EINVAL, "status is %s, but the case has %s",
				 result_status_name(line->status),
				 line->n_trials ? "figures" : "no figures");
	if (has_latency)
		code = parse_latency(line, json, error);
	if (has_latency && !code && json_object_get(json, "warmup_latency_ns"))
		code = parse_warmup(line, json, error);
	if (has_latency && !code && json_object_get(json, "load"))
		code = parse_pace(line, json, error);
	if (has_latency && !code && json_object_get(json, "breakdown_ns"))
		code = parse_breakdown(line, json, error);
	if (has_bandwidth && !code)
		code = parse_bandwidth(line, json, error);
	if (line->n_trials && !code && json_object_get(json, "shares"))
		code = parse_shares(line, json, error);
	if (line->n_trials && !code && json_object_get(json, "flows"))
		code = parse_flows(line, json, error);
	if (line->n_trials && !code && json_object_get(json, "receivers"))
		code = parse_receivers(line, json, error);
	return code || !line->n_trials || line->is_imported ? code : check_costs(line, json, error);
}

/* Rejects members that imported cases cannot have. */
static int check_imported(const json_t *json, struct error *error)
{
	static const char *const ours[] = {"beside",
					   "breakdown_ns",
					   "chosen",
					   "counters",
					   "cpu",
					   "flows",
					   "load",
					   "loss",
					   "placement",
					   "receivers",
					   "semantics",
					   "shares",
					   "warmup_latency_ns"};

	for (size_t i = 0; i < ARRAY_LENGTH(ours); i++)
		if (json_object_get(json, ours[i]))
			return error_set(error, -EINVAL, "imported case has \"%s\"", ours[i]);
	return 0;
}

/* Keeps all members that are parsed nowhere else, under the names of options. */
static int parse_parameters(struct result_case *line, json_t *json, struct error *error)
{
	static const char *const others[] = {"id",          "transport",
					     "trials",      "status",
					     "error",       "latency_ns",
					     "bandwidth",   "cpu",
					     "loss",        "counters",
					     "semantics",   "placement",
					     "chosen",      "warmup_latency_ns",
					     "load",        "saturated",
					     "shares",      "beside",
					     "flows",       "receivers",
					     "breakdown_ns"};
	const char *name;
	json_t *value;
	bool is_kept = (line->parameters = json_object()) != NULL;

	json_object_foreach(json, name, value)
	{
		char key[64];
		char *mark;
		size_t i = 0;

		while (i < ARRAY_LENGTH(others) && strcmp(others[i], name) != 0)
			i++;
		if (i < ARRAY_LENGTH(others) || strlen(name) >= sizeof(key))
			continue;
		if (!json_member_is_printable(name) ||
		    (json_is_string(value) && !json_member_is_printable(json_string_value(value))))
			return error_set(error, -EINVAL, "a parameter is not printable");
		snprintf(key, sizeof(key), "%s", name);
		for (mark = strchr(key, '_'); mark; mark = strchr(mark, '_'))
			*mark = '-';
		/* Times keep their unit as it is. */
		mark = strrchr(key, '-');
		if (mark && !strcmp(mark, "-ns"))
			*mark = '_';
		is_kept = is_kept && !json_object_set(line->parameters, key, value);
	}
	line->counters = json_incref(json_object_get(json, "counters"));
	line->needs = json_incref(json_object_get(json, "semantics"));
	return is_kept ? 0 : error_set_errno(error, -ENOMEM, "cannot keep the parameters");
}

int parse_status(enum result_status *status, const json_t *object, struct error *error)
{
	static const enum result_status all[] = {RESULT_INTERRUPTED, RESULT_COMPLETE, RESULT_FAILED,
						 RESULT_SKIPPED};
	char name[32] = "";

	if (json_member_text(object, "status", name, sizeof(name), error))
		return -EINVAL;
	for (size_t i = 0; i < ARRAY_LENGTH(all); i++) {
		*status = all[i];
		if (!strcmp(result_status_name(*status), name))
			return 0;
	}
	return error_set(error, -EINVAL, "\"status\" is not a known status");
}

static int parse_words(struct result_case *line, const json_t *json, json_t *texts,
		       struct error *error)
{
	const struct {
		const char *name;
		const char **word;
	} rows[] = {
		{"op",        &line->op       },
		{"metric",    &line->metric   },
		{"cq",        &line->cq       },
		{"server_cq", &line->server_cq},
		{"transport", &line->transport},
	};
	int code = 0;

	for (size_t i = 0; i < ARRAY_LENGTH(rows) && !code; i++)
		if (!line->is_imported || rows[i].word != &line->server_cq)
			code = json_member_plain_word(json, rows[i].name, texts, rows[i].word,
						      error);
	if (line->is_imported)
		line->server_cq = line->cq;
	return code;
}

static int parse_beside(struct result_case *line, const json_t *json, json_t *texts,
			struct error *error)
{
	json_t *beside;
	int code = json_member_object(json, "beside", &beside, error);

	if (!code)
		code = json_member_text(beside, "case", line->beside, sizeof(line->beside), error);
	return code ? code : json_member_word(beside, "by", texts, &line->by, error);
}

static int parse_rest(struct result_case *line, json_t *json, json_t *texts, struct error *error)
{
	int code = line->is_imported ? check_imported(json, error) : 0;

	if (!code)
		code = parse_words(line, json, texts, error);
	if (!code)
		code = json_member_count(json, "size", &line->size, error);
	if (!code)
		code = parse_status(&line->status, json, error);
	if (!code && json_object_get(json, "error"))
		code = json_member_text(json, "error", line->error, sizeof(line->error), error);
	if (!code && json_object_get(json, "beside"))
		code = parse_beside(line, json, texts, error);
	if (!code)
		code = parse_parameters(line, json, error);
	if (!code)
		code = parse_placement(line, json, error);
	if (!code)
		code = parse_chosen(line, json, error);
	if (!code)
		code = parse_trials(line, json, error);
	return code ? code : parse_figures(line, json, error);
}

/* Replaces one part of an id, which begins with a slash, if there is room. */
static void replace_part(char id[static CASE_ID], const char *part, const char *by)
{
	size_t length = strlen(part);
	char *at = strstr(id, part);
	char rest[CASE_ID];

	if (!at || strlen(id) - length + strlen(by) >= CASE_ID)
		return;
	snprintf(rest, sizeof(rest), "%s", at + length);
	snprintf(at, CASE_ID - (size_t)(at - id), "%s%s", by, rest);
}

/* Older versions wrote a kind of memory as it was given; its spellings are one kind. */
static int spell_memory(struct result_case *line, const char *end, struct error *error)
{
	const char *given = json_string_value(json_object_get(line->parameters, end));
	char *const ids[] = {line->id, line->beside, line->pace ? line->pace->maximum_case : NULL};
	struct memory_choice choice;
	char part[CASE_ID];
	char by[CASE_ID];

	if (!given || memory_find(given, &choice, NULL) || !strcmp(given, choice.text))
		return 0;
	snprintf(part, sizeof(part), "/%s-%s", end, given);
	snprintf(by, sizeof(by), "/%s-%s", end, choice.text);
	for (size_t i = 0; i < ARRAY_LENGTH(ids) && ids[i]; i++)
		replace_part(ids[i], part, by);
	if (json_object_set_new(line->parameters, end, json_string(choice.text)))
		return error_set_errno(error, -ENOMEM, "cannot keep the parameters");
	return 0;
}

int parse_case(struct result_case *line, json_t *json, json_t *texts, struct error *error)
{
	int code = json_member_text(json, "id", line->id, sizeof(line->id), error);

	if (code)
		return code;
	/* A spreadsheet takes some other characters for the start of a formula. */
	if (!isalnum((unsigned char)line->id[0]))
		return error_set(error, -EINVAL,
				 "id: '%.60s' does not begin with a letter or a digit", line->id);
	code = parse_rest(line, json, texts, error);
	if (!code)
		code = spell_memory(line, "memory", error);
	if (!code)
		code = spell_memory(line, "server-memory", error);
	if (code)
		error_wrap(error, "%.120s", line->id);
	return code;
}
