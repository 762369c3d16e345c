/* SPDX-License-Identifier: MIT */
#include "bench/cmd/redact.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/plan/plan.h"
#include "reports/document/document.h"
#include "reports/document/redact.h"

/* Words before the options: verbmark run. */
#define COMMAND_HEAD 2

/* Returns pointers to the words of the array, without its first, or NULL if out of memory. */
static char **make_argv(const json_t *command, int *argc)
{
	size_t count = json_array_size(command);
	char **argv = calloc(count + 1, sizeof(*argv));

	for (size_t i = 1; i < count && argv; i++) {
		const char *word = json_string_value(json_array_get(command, i));

		/* The parser does not write to them. */
		word = word ? word : "";
		memcpy(&argv[i - 1], &word, sizeof(word));
	}
	*argc = count ? (int)count - 1 : 0;
	return argv;
}

static void add_word(const char **words, size_t *count, const char *word)
{
	if (word)
		words[(*count)++] = word;
}

/* Treats every word as private: this version does not understand the command. */
static size_t all_words(const char **words, int argc, char **argv)
{
	size_t count = 0;

	for (int i = COMMAND_HEAD - 1; i < argc; i++)
		add_word(words, &count, argv[i]);
	return count;
}

/* Finds hosts, commands to reach them, and paths, which can contain user names. */
static size_t private_words(const char **words, const char **host, int argc, char **argv)
{
	struct error ignored = {0};
	struct plan plan = {0};
	size_t count = 0;

	*host = NULL;
	if (argc && option_parse(&plan_options, argc, argv, &plan, &ignored))
		return all_words(words, argc, argv);
	*host = plan.host;
	add_word(words, &count, plan.host);
	add_word(words, &count, plan.launch);
	add_word(words, &count, plan.secret_file);
	add_word(words, &count, plan.json);
	add_word(words, &count, plan.save_dir);
	add_word(words, &count, plan.samples);
	add_word(words, &count, plan.payload);
	add_word(words, &count, plan.file);
	return count;
}

/* Take the command from the result, because redacting changes the document. */
static int redact(json_t *document, const json_t *command, struct error *error)
{
	int argc;
	char **argv = make_argv(command, &argc);
	const char **words = calloc((size_t)argc + 8, sizeof(*words));
	const char *host;
	size_t n_words;
	int code;

	if (argv && words) {
		n_words = private_words(words, &host, argc, argv);
		code = redact_document(document, host, words, n_words, error);
	} else {
		code = error_set_errno(error, -ENOMEM, "cannot redact the document");
	}
	free(argv);
	free(words);
	return code;
}

int redact_write(const struct result *result, const char *path, struct error *error)
{
	json_t *made = document_make(result);
	/* The document shares values with the result, which must not change. */
	json_t *document = json_deep_copy(made);
	int code;

	json_decref(made);
	if (!document)
		return error_set_errno(error, -ENOMEM, "cannot make the document");
	code = redact(document, result->command, error);
	if (!code)
		code = document_save(document, path, error);
	json_decref(document);
	return code;
}
