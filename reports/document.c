/* SPDX-License-Identifier: MIT */
#include "reports/document.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reports/statistic.h"

/* Everything here is well below 2^63, which is as far as JSON's integers go. */
static json_t *number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *make_bins(const struct hist *hist)
{
	json_t *bins = json_array();

	for (size_t i = 0; i < HIST_BINS; i++) {
		if (!hist->bins[i])
			continue;
		json_array_append_new(bins, json_pack("[o, o, o]", number(hist_low(i)),
						      number(hist_high(i)), number(hist->bins[i])));
	}
	return bins;
}

static json_t *make_histogram(const struct hist *hist)
{
	return json_pack("{s:s, s:i, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "scheme", "log2-linear",
			 "sub_bits", HIST_SUB_BITS, "unit", "ns", "count", number(hist->count),
			 "sum", number(hist->sum), "min", number(hist->min), "max",
			 number(hist->max), "over", number(hist->over), "bins", make_bins(hist));
}

static json_t *make_latency(const struct result_case *line)
{
	const struct hist *hist = line->latency;
	json_t *latency = json_pack("{s:o, s:s}", "count", number(hist->count), "kind",
				    result_kind_name(line->kind));

	for (size_t i = 0; i < n_statistics; i++)
		if (statistics[i].is_known(hist, &statistics[i]))
			json_object_set_new(latency, statistics[i].key,
					    json_real(statistics[i].value(hist, &statistics[i])));
	json_object_set_new(latency, "histogram", make_histogram(hist));
	return latency;
}

static json_t *make_cost(const struct result_cost *cost)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "messages", number(cost->messages),
			 "user_ns", number(cost->user_ns), "system_ns", number(cost->system_ns),
			 "voluntary_switches", number(cost->voluntary_switches),
			 "involuntary_switches", number(cost->involuntary_switches), "cq_events",
			 number(cost->cq_events), "completions", number(cost->completions));
}

static json_t *make_case(const struct result_case *line)
{
	json_t *object = json_pack("{s:s, s:s, s:s, s:o, s:s, s:s, s:s, s:s}", "id", line->id, "op",
				   line->op, "metric", line->metric, "size", number(line->size),
				   "cq", line->cq, "server_cq", line->server_cq, "transport", "RC",
				   "status", result_status_name(line->status));

	if (line->error[0])
		json_object_set_new(object, "error", json_string(line->error));
	if (!line->latency)
		return object;
	json_object_set_new(object, "warmup_messages", number(line->warmup_messages));
	json_object_set_new(object, "duration_ns", number(line->duration_ns));
	json_object_set_new(object, "latency_ns", make_latency(line));
	json_object_set_new(object, "cpu",
			    json_pack("{s:o, s:o}", "client", make_cost(&line->client), "server",
				      make_cost(&line->server)));
	return object;
}

static json_t *make_end(const struct result_end *end)
{
	return json_pack("{s:s, s:s, s:i, s:s, s:s, s:o, s:i}", "host", end->host, "device",
			 end->device, "port", (int)end->port, "address", end->address, "link_layer",
			 end->link_layer, "rate_mbps", number(end->rate_mbps), "mtu",
			 (int)end->mtu);
}

json_t *document_make(const struct result *result)
{
	json_t *cases = json_array();

	for (size_t i = 0; i < result->n_cases; i++)
		json_array_append_new(cases, make_case(&result->cases[i]));
	return json_pack("{s:s, s:{s:s, s:s}, s:{s:s, s:s, s:s, s:O, s:{s:s, s:o, s:f}}, "
			 "s:{s:o, s:o}, s:o}",
			 "schema", DOCUMENT_SCHEMA, "tool", "name", "verbmark", "version",
			 result->version, "run", "started", result->started, "finished",
			 result->finished, "status", result_status_name(result->status), "command",
			 result->command, "clock", "kind", result->clock, "hz",
			 number(result->clock_hz), "drift_ppm", result->clock_drift_ppm, "hosts",
			 "client", make_end(&result->client), "server", make_end(&result->server),
			 "cases", cases);
}

static int write_stream(const json_t *document, FILE *out)
{
	errno = 0;
	if (json_dumpf(document, out, JSON_INDENT(1)) || fputc('\n', out) == EOF || fflush(out))
		return errno ? -errno : -EIO;
	return 0;
}

/*
 * A device or a pipe is written to as it is: a file renamed over it would take its
 * place. -EISDIR is for a folder.
 */
static int is_special(const char *path)
{
	struct stat found;

	if (stat(path, &found) || S_ISREG(found.st_mode))
		return 0;
	return S_ISDIR(found.st_mode) ? -EISDIR : 1;
}

static int write_special(const json_t *document, const char *path)
{
	FILE *out = fopen(path, "we");
	int code;

	if (!out)
		return -errno;
	code = write_stream(document, out);
	if (fclose(out) && !code)
		code = -errno;
	return code;
}

/* It can only be read by setting it. */
static mode_t current_umask(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return mask;
}

static char *temporary_name(const char *path)
{
	char *name;

	return asprintf(&name, "%s.XXXXXX", path) < 0 ? NULL : name;
}

static int write_file(const json_t *document, const char *path)
{
	char *name = temporary_name(path);
	int fd = name ? mkstemp(name) : -1;
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	int code = 0;

	if (!out) {
		code = -errno;
		if (fd >= 0)
			close(fd);
	} else {
		code = write_stream(document, out);
		/* mkstemp makes it private; a result is as public as any new file. */
		if (!code && fchmod(fd, 0666 & ~current_umask()))
			code = -errno;
		if (fclose(out) && !code)
			code = -errno;
	}
	if (!code && rename(name, path))
		code = -errno;
	if (code && fd >= 0)
		unlink(name);
	free(name);
	return code;
}

static int write_path(const json_t *document, const char *path)
{
	int special = is_special(path);

	if (!strcmp(path, "-"))
		return write_stream(document, stdout);
	if (special < 0)
		return special;
	return special ? write_special(document, path) : write_file(document, path);
}

int document_write(const struct result *result, const char *path, struct error *error)
{
	json_t *document = document_make(result);
	int code;

	if (!document)
		return error_set_errno(error, -ENOMEM, "cannot make the document");
	code = write_path(document, path);
	json_decref(document);
	if (code)
		return error_set_errno(error, code, "cannot write %s", path);
	return 0;
}

static int try_path(const char *path)
{
	int special = is_special(path);
	int code = 0;
	char *name;
	int fd;

	if (special)
		return special < 0 ? special : access(path, W_OK) ? -errno : 0;
	name = temporary_name(path);
	fd = name ? mkstemp(name) : -1;
	if (fd < 0) {
		code = -errno;
	} else {
		close(fd);
		unlink(name);
	}
	free(name);
	return code;
}

int document_check(const char *path, struct error *error)
{
	int code = strcmp(path, "-") ? try_path(path) : 0;

	return code ? error_set_errno(error, code, "cannot write %s", path) : 0;
}
