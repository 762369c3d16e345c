/* SPDX-License-Identifier: MIT */
#include "reports/result/shares.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reports/io/json_member.h"
#include "reports/result/fairness.h"

#define NS_PER_S 1e9

int shares_open(struct shares *shares, unsigned int threads, unsigned int qps, struct error *error)
{
	uint64_t *duration_ns = calloc(threads, sizeof(*duration_ns));
	uint64_t *messages = calloc((size_t)threads * qps, sizeof(*messages));

	shares_close(shares);
	if (!duration_ns || !messages) {
		free(duration_ns);
		free(messages);
		error_set_errno(error, -ENOMEM, "cannot store the results of each thread");
		return -ENOMEM;
	}
	shares->threads = threads;
	shares->qps = qps;
	shares->duration_ns = duration_ns;
	shares->messages = messages;
	return 0;
}

void shares_close(struct shares *shares)
{
	free(shares->duration_ns);
	free(shares->messages);
	*shares = (struct shares){0};
}

int shares_add(struct shares *into, const struct shares *from, struct error *error)
{
	int code = into->threads ? 0 : shares_open(into, from->threads, from->qps, error);

	if (code)
		return code;
	if (into->threads != from->threads || into->qps != from->qps)
		return error_set(error, -EINVAL,
				 "%u threads with %u queue pairs each, but %u with %u before",
				 from->threads, from->qps, into->threads, into->qps);
	for (size_t i = 0; i < into->threads; i++)
		into->duration_ns[i] += from->duration_ns[i];
	for (size_t i = 0; i < (size_t)into->threads * into->qps; i++)
		into->messages[i] += from->messages[i];
	return 0;
}

bool shares_are_several(const struct shares *shares)
{
	return shares->threads > 1 || shares->qps > 1;
}

static uint64_t of_qp(const struct shares *shares, unsigned int thread, unsigned int qp)
{
	return shares->messages[(size_t)thread * shares->qps + qp];
}

uint64_t shares_of_thread(const struct shares *shares, unsigned int thread)
{
	uint64_t sum = 0;

	for (unsigned int qp = 0; qp < shares->qps; qp++)
		sum += of_qp(shares, thread, qp);
	return sum;
}

static double rate(const struct shares *shares, unsigned int thread, uint64_t messages)
{
	uint64_t duration_ns = shares->duration_ns[thread];

	return duration_ns ? (double)messages * NS_PER_S / (double)duration_ns : 0;
}

double shares_thread_rate(const struct shares *shares, unsigned int thread)
{
	return rate(shares, thread, shares_of_thread(shares, thread));
}

double shares_qp_rate(const struct shares *shares, unsigned int thread, unsigned int qp)
{
	return rate(shares, thread, of_qp(shares, thread, qp));
}

double shares_thread_fairness(const struct shares *shares)
{
	struct fairness fairness = {0};

	for (unsigned int i = 0; i < shares->threads; i++)
		fairness_take(&fairness, shares_thread_rate(shares, i));
	return fairness_index(&fairness);
}

double shares_qp_fairness(const struct shares *shares)
{
	struct fairness fairness = {0};

	for (unsigned int i = 0; i < shares->threads; i++)
		for (unsigned int qp = 0; qp < shares->qps; qp++)
			fairness_take(&fairness, shares_qp_rate(shares, i, qp));
	return fairness_index(&fairness);
}

void shares_print(const struct shares *shares, char text[static 96])
{
	size_t used = (size_t)snprintf(text, 96, "fairness");

	if (shares->threads > 1)
		used += (size_t)snprintf(text + used, 96 - used, " %.3f of %u threads",
					 shares_thread_fairness(shares), shares->threads);
	if (shares->qps > 1)
		snprintf(text + used, 96 - used, "%s %.3f of %u queue pairs",
			 shares->threads > 1 ? "," : "", shares_qp_fairness(shares),
			 shares->threads * shares->qps);
}

static json_t *encode_rate(uint64_t messages, double per_s, uint64_t message_bytes)
{
	return json_pack("{s:I, s:f, s:f}", "messages", (json_int_t)messages, "messages_per_s",
			 per_s, "bytes_per_s", per_s * (double)message_bytes);
}

static json_t *encode_thread(const struct shares *shares, unsigned int thread,
			     uint64_t message_bytes)
{
	json_t *made = encode_rate(shares_of_thread(shares, thread),
				   shares_thread_rate(shares, thread), message_bytes);
	json_t *qps = json_array();
	int failed = 0;

	for (unsigned int qp = 0; qp < shares->qps; qp++)
		failed |= json_array_append_new(qps, encode_rate(of_qp(shares, thread, qp),
								 shares_qp_rate(shares, thread, qp),
								 message_bytes));
	failed |= json_object_set_new(made, "duration_ns",
				      json_integer((json_int_t)shares->duration_ns[thread]));
	failed |= json_object_set_new(made, "queue_pairs", qps);
	if (!failed)
		return made;
	json_decref(made);
	return NULL;
}

json_t *shares_encode(const struct shares *shares, uint64_t message_bytes)
{
	double of_threads = shares_thread_fairness(shares);
	double of_qps = shares_qp_fairness(shares);
	json_t *threads = json_array();
	json_t *fairness = json_object();
	json_t *made;
	int failed = 0;

	for (unsigned int i = 0; i < shares->threads; i++)
		failed |= json_array_append_new(threads, encode_thread(shares, i, message_bytes));
	if (!isnan(of_threads))
		failed |= json_object_set_new(fairness, "threads", json_real(of_threads));
	if (!isnan(of_qps))
		failed |= json_object_set_new(fairness, "queue_pairs", json_real(of_qps));
	made = json_pack("{s:o, s:o}", "threads", threads, "fairness", fairness);
	if (!failed)
		return made;
	json_decref(made);
	return NULL;
}

static int decode_thread(struct shares *shares, unsigned int thread, const json_t *json,
			 struct error *error)
{
	uint64_t *messages = &shares->messages[(size_t)thread * shares->qps];
	json_t *qps;
	int code = json_member_count(json, "duration_ns", &shares->duration_ns[thread], error);

	if (!code)
		code = json_member_array(json, "queue_pairs", &qps, error);
	if (!code && json_array_size(qps) != shares->qps)
		code = error_set(error, -EINVAL, "threads have different numbers of queue pairs");
	for (unsigned int i = 0; i < shares->qps && !code; i++)
		code = json_member_count(json_array_get(qps, i), "messages", &messages[i], error);
	return code;
}

int shares_decode(struct shares *shares, const json_t *json, struct error *error)
{
	json_t *threads;
	json_t *qps;
	int code = json_member_array(json, "threads", &threads, error);

	if (!code)
		code = json_member_array(json_array_get(threads, 0), "queue_pairs", &qps, error);
	if (code)
		return code;
	if (!json_array_size(qps) || json_array_size(threads) * json_array_size(qps) > SHARES_MOST)
		return error_set(error, -EINVAL, "invalid number of queue pairs");
	code = shares_open(shares, (unsigned int)json_array_size(threads),
			   (unsigned int)json_array_size(qps), error);
	for (unsigned int i = 0; i < shares->threads && !code; i++)
		code = decode_thread(shares, i, json_array_get(threads, i), error);
	return code;
}
