/* SPDX-License-Identifier: MIT */
/*
 * Command lines, one word per line. Each word is also parsed as a value of every kind. Values that
 * are accepted must be the same after printing and parsing them again.
 */
#include <string.h>

#include "bench/cli/cpulist.h"
#include "bench/cli/value.h"
#include "bench/cmd/command.h"
#include "bench/fuzz/nearly.h"
#include "bench/plan/plan.h"
#include "core/fuzz/fuzz.h"

#define WORDS_MOST 32
#define TEXT_MOST  1024

static void try_values(const char *word)
{
	char text[64];
	unsigned int ms;
	uint64_t value;
	uint64_t again;

	if (value_size(word, &value)) {
		value_print_size(value, text, sizeof(text));
		FUZZ_CHECK(value_size(text, &again) && again == value);
	}
	if (value_time(word, &value)) {
		value_print_time(value, text, sizeof(text));
		FUZZ_CHECK(value_time(text, &again) && again == value);
	}
	if (value_duration(word, &ms))
		FUZZ_CHECK(ms <= INT32_MAX && value_time(word, &value) && value == ms * 1000000ULL);
	if (value_count(word, 3, 65535, &value))
		FUZZ_CHECK(value >= 3 && value <= 65535 && word[strspn(word, "0123456789")] == 0);
}

static void try_list(const char *word, const struct parameter *parameter)
{
	static struct value_list list;
	static struct value_list again;
	const char *wrong = value_list_parse(&list, parameter, word);
	const json_t *culprit;
	json_t *json;

	if (wrong)
		return;
	FUZZ_CHECK(list.count && list.count <= VALUE_LIST_MOST);
	for (size_t i = 0; i < list.count; i++)
		for (size_t j = 0; j < i; j++)
			FUZZ_CHECK(list.item[i] != list.item[j]);
	json = value_list_encode(&list, parameter);
	/* In plans, flags and times have other JSON types than plain numbers. */
	FUZZ_CHECK(!value_list_decode(&again, parameter, json, &culprit));
	FUZZ_CHECK(again.count == list.count &&
		   !memcmp(again.item, list.item, list.count * sizeof(list.item[0])));
	json_decref(json);
}

static void try_cpus(const char *word)
{
	struct cpulist list;
	struct cpulist again;
	char text[2 * TEXT_MOST];

	if (!cpulist_parse(&list, word))
		return;
	FUZZ_CHECK(cpulist_count(&list));
	cpulist_print(&list, text, sizeof(text));
	FUZZ_CHECK(strstr(text, "...") ||
		   (cpulist_parse(&again, text) && !memcmp(&again, &list, sizeof(list))));
}

static void try_limits(const char *word)
{
	static struct threshold_list limits;
	const struct table_unit *unit = NULL;

	limits.count = 0;
	threshold_parse_below(word, &limits);
	threshold_parse_above(word, &limits);
	FUZZ_CHECK(limits.count <= THRESHOLDS_MOST);
	for (size_t i = 0; i < limits.count; i++)
		FUZZ_CHECK(limits.limit[i].unit && limits.limit[i].bound > 0);
	table_parse_unit(word, &unit);
}

static void try_serve(int argc, char *argv[])
{
	/* Large enough for the settings of any command. */
	static union {
		char bytes[1024];
		void *pointer;
	} settings;
	struct error error = {0};

	memset(&settings, 0, sizeof(settings));
	option_parse(command_serve.options, argc, argv, &settings, &error);
	memset(&settings, 0, sizeof(settings));
	option_parse(command_devices.options, argc, argv, &settings, &error);
}

/* Skips command lines with plan files, which have their own fuzzer, or with many cases. */
static bool is_small(int argc, char *argv[])
{
	static struct plan plan;
	struct error error = {0};
	int code;
	size_t count;

	memset(&plan, 0, sizeof(plan));
	code = option_parse(&plan_options, argc, argv, &plan, &error);
	FUZZ_CHECK(code > 0 || code == error.code);
	count = product_count(&plan.asked);
	return !code && !plan.file && !plan.all_sizes && count && count <= NEARLY_MOST / 16;
}

static void try_run(int argc, char *argv[])
{
	struct error error = {0};
	struct plan plan;
	int code;

	if (!is_small(argc, argv))
		return;
	code = plan_open(&plan, argc, argv, &error);
	FUZZ_CHECK(code <= 0 && code == error.code);
	FUZZ_CHECK(code || plan.n_cases);
	plan_close(&plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char text[TEXT_MOST + 1];
	char name[] = "verbmark";
	char *argv[WORDS_MOST + 1] = {name};
	int argc = 1;
	char *next;

	if (size > TEXT_MOST)
		return 0;
	memcpy(text, bytes, size);
	text[size] = '\0';
	for (char *word = text; word && argc < WORDS_MOST; word = next) {
		next = strchr(word, '\n');
		if (next)
			*next++ = '\0';
		argv[argc++] = word;
		try_values(word);
		try_list(word, &parameter_table[(strlen(word) + size) % PARAMETERS]);
		try_cpus(word);
		try_limits(word);
	}
	try_serve(argc, argv);
	try_run(argc, argv);
	return 0;
}
