/* SPDX-License-Identifier: MIT */
/*
 * gate_side SAMPLE STATE [KEY=VALUE...] run ...: stands in for a verbmark that is one side of a
 * gate. Reads a plan from standard input and writes a result for it, derived from the document
 * SAMPLE, with made-up figures: a p50 of 10 us and 1 GB/s, multiplied by lat= and bw=, with a
 * standard deviation of noise=. The n-th run with a STATE always has the same noise. warm=S: cases
 * of 4k report a warm-up of S seconds.
  *
 * Only in run N: outlier=N is ten times slower, once=N has a failed case, stumbles=N writes no
 * result. From run N on: broken=N has a failed case, dies=N writes no result, garbage=N writes
 * something else, hangs=N writes nothing, lingers=N leaves behind a child that holds standard
 * error open, losses=N reports loss counters, late=N sleeps for 20 seconds, moves=N comes from
 * another machine. kernel=NAME: the kernel of its hosts; revision=HEX: the revision of the
 * program, in hexadecimal digits.
 */
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LATENCY_NS  10000.0
#define BYTES_PER_S 1e9

static char **words;
static int n_words;
static unsigned long number; /* of the current run, from 1 */

static _Noreturn void die(const char *why)
{
	fprintf(stderr, "verbmark: %s\n", why);
	exit(1);
}

static const char *word_of(const char *key)
{
	size_t length = strlen(key);

	for (int i = 0; i < n_words; i++)
		if (!strncmp(words[i], key, length) && words[i][length] == '=')
			return words[i] + length + 1;
	return NULL;
}

static double factor_of(const char *key, double otherwise)
{
	const char *word = word_of(key);

	return word ? strtod(word, NULL) : otherwise;
}

static bool is_now(const char *key)
{
	const char *word = word_of(key);

	return word && number == strtoul(word, NULL, 10);
}

static bool is_since(const char *key)
{
	const char *word = word_of(key);

	return word && number >= strtoul(word, NULL, 10);
}

/* Steps splitmix64. */
static uint64_t draw(uint64_t *seed)
{
	uint64_t z = *seed += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* Draws a factor from a normal distribution around 1. */
static double draw_factor(uint64_t *seed, double deviation)
{
	double a = ((double)(draw(seed) >> 11) + 1) / 9007199254740993.0;
	double b = (double)(draw(seed) >> 11) / 9007199254740992.0;

	return 1 + deviation * sqrt(-2 * log(a)) * cos(2 * M_PI * b);
}

static json_t *first_of(const json_t *product, const char *key)
{
	return json_array_get(json_object_get(product, key), 0);
}

static void scale(json_t *json_case, const char *figures, const char *figure, double wanted)
{
	json_t *trial = NULL;
	size_t i = 0;

	json_array_foreach(json_object_get(json_case, "trials"), i, trial)
	{
		json_t *values = json_object_get(trial, figures);
		double factor = wanted / json_number_value(json_object_get(values, figure));
		const char *key = NULL;
		json_t *value = NULL;

		json_object_set_new(json_object_get(trial, "warmup"), "converged", json_true());
		json_object_foreach(values, key, value)
			json_real_set(value, json_real_value(value) * factor);
	}
}

/* The sample's first complete case measures latency, its second one bandwidth. */
static json_t *make_case(json_t *sample, const json_t *product, double factor, uint64_t *seed)
{
	const char *op = json_string_value(first_of(product, "op"));
	const char *metric = json_string_value(first_of(product, "metric"));
	json_t *size = first_of(product, "size");
	long long bytes = size ? json_integer_value(size) : 64;
	bool is_latency = !strcmp(metric, "lat");
	double wanted = is_latency ? LATENCY_NS * factor : BYTES_PER_S / factor;
	json_t *json_case = json_deep_copy(
		json_array_get(json_object_get(sample, "cases"), is_latency ? 0 : 1));
	double warm = factor_of("warm", 0);
	json_t *trial = NULL;
	size_t i = 0;

	json_object_set_new(json_case, "op", json_string(op));
	json_object_set_new(json_case, "id",
			    bytes % 1024
				    ? json_sprintf("%s/%s/%lld/poll", op, metric, bytes)
				    : json_sprintf("%s/%s/%lldk/poll", op, metric, bytes / 1024));
	if (bytes == 4096 && warm > 0)
		json_array_foreach(json_object_get(json_case, "trials"), i, trial)
			json_object_set_new(json_object_get(trial, "warmup"), "duration_ns",
					    json_integer((json_int_t)(1e9 * warm)));
	wanted *= factor_of(metric, 1) * draw_factor(seed, factor_of("noise", 0.01));
	scale(json_case, is_latency ? "latency_ns" : "bandwidth",
	      is_latency ? "p50" : "bytes_per_s", wanted);
	return json_case;
}

static void break_case(json_t *json_case)
{
	json_object_del(json_case, "latency_ns");
	json_object_del(json_case, "bandwidth");
	json_object_set_new(json_case, "trials", json_array());
	json_object_set_new(json_case, "status", json_string("failed"));
	json_object_set_new(json_case, "error", json_string("no completion for 5 s"));
}

static json_t *make_revision(const char *digits)
{
	char text[128] = "";
	size_t length = strlen(digits) / 2;

	if (length > sizeof(text))
		die("revision= is too long");
	for (size_t i = 0; i < length; i++) {
		char pair[] = {digits[2 * i], digits[2 * i + 1], '\0'};

		text[i] = (char)strtol(pair, NULL, 16);
	}
	return json_stringn(text, length);
}

static void describe_hosts(json_t *hosts, const char *state)
{
	const char *kernel = word_of("kernel");
	const char *revision = word_of("revision");
	const char *end = NULL;
	json_t *host = NULL;

	json_object_foreach(hosts, end, host)
	{
		json_t *facts = json_pack("{s:{s:s}, s:{s:s}}", "kernel", "release",
					  kernel ? kernel : "6.1", "tool", "compiler", state);

		if (revision)
			json_object_set_new(json_object_get(facts, "tool"), "revision",
					    make_revision(revision));
		json_object_set_new(host, "facts", facts);
		json_object_set_new(host, "hard_fingerprint",
				    json_string(kernel || is_since("moves") ? "fedcba9876543210"
									    : "0123456789abcdef"));
	}
}

/* Counts runs by the length of a file, and stores the words of the command line. */
static void note_run(const char *state, char **all)
{
	char path[4096];
	FILE *file = fopen(state, "a+");

	if (!file || fputc('.', file) == EOF || fflush(file))
		die("cannot count runs");
	number = (unsigned long)ftell(file);
	fclose(file);
	snprintf(path, sizeof(path), "%s.words", state);
	json_t *list = json_array();

	for (; *all; all++)
		json_array_append_new(list, json_string(*all));
	if (json_dump_file(list, path, 0))
		die("cannot keep the words");
	json_decref(list);
}

static void linger(void)
{
	if (fork())
		return;
	setsid();
	if (!freopen("/dev/null", "w", stdout))
		_exit(1);
	sleep(90);
	_exit(0);
}

static uint64_t seed_of(const char *state)
{
	uint64_t seed = 14695981039346656037u;
	const char *name = strrchr(state, '/');

	for (name = name ? name + 1 : state; *name; name++)
		seed = (seed ^ (unsigned char)*name) * 1099511628211u;
	return seed ^ (number << 32);
}

int main(int argc, char **argv)
{
	if (argc < 4)
		die("usage: gate_side SAMPLE STATE [KEY=VALUE...] run ...");
	words = argv + 3;
	while (words[n_words] && strcmp(words[n_words], "run"))
		n_words++;
	const char *state = argv[2];

	note_run(state, argv);
	if (is_since("dies") || is_now("stumbles"))
		die("the card has caught fire");
	if (is_since("hangs"))
		sleep(600);
	if (is_since("late"))
		sleep(20);
	if (is_since("lingers"))
		linger();
	if (is_since("garbage"))
		return puts("perhaps") == EOF;

	json_t *sample = json_load_file(argv[1], 0, NULL);
	json_t *plan = json_loadf(stdin, 0, NULL);
	json_t *cases = json_array();
	json_t *product = NULL;
	uint64_t seed = seed_of(state);
	size_t i = 0;

	if (!sample || !plan)
		die("no sample, or no plan");
	json_array_foreach(plan, i, product) json_array_append_new(
		cases, make_case(sample, product, is_now("outlier") ? 10 : 1, &seed));
	if (is_since("broken") || is_now("once"))
		break_case(json_array_get(cases, 0));
	if (is_since("losses"))
		json_array_foreach(cases, i, product) json_object_set_new(
			product, "counters",
			json_pack("{s:{s:i}, s:{}}", "client", "packet_seq_err", 3, "server"));
	describe_hosts(json_object_get(sample, "hosts"), state);
	json_object_set_new(sample, "cases", cases);
	json_object_set_new(json_object_get(sample, "run"), "status", json_string("complete"));
	json_object_del(sample, "warnings");
	int code = json_dumpf(sample, stdout, JSON_COMPACT) || fflush(stdout);

	json_decref(plan);
	json_decref(sample);
	return code;
}
