/* SPDX-License-Identifier: MIT */
#include "bench/cmd/history_add.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cli/inputs.h"
#include "bench/cmd/command.h"
#include "reports/document/parse.h"
#include "reports/history/files.h"
#include "reports/io/json_member.h"

static int take_label(char label[static HISTORY_LABEL], const char *text, const char *name,
		      struct error *error)
{
	size_t length = text ? strlen(text) : 0;

	label[0] = '\0';
	if (length >= HISTORY_LABEL)
		return error_set(error, -EINVAL, "--%s is longer than %d bytes", name,
				 HISTORY_LABEL - 1);
	if (text && json_member_is_formula(text))
		return error_set(error, -EINVAL,
				 "--%s begins as a formula of spreadsheets does: with =, +, - or @",
				 name);
	if (text)
		memcpy(label, text, length + 1);
	return 0;
}

/* As it will be read again: what is said of a run may not spoil it. */
static int make_label(struct history_label *label, const struct history_add *add,
		      struct error *error)
{
	struct history_label again;
	char *text;
	int code = take_label(label->version, add->version, "version", error);

	if (!code)
		code = take_label(label->commit, add->commit, "commit", error);
	if (code)
		return code;
	text = history_label_make(label);
	if (!text)
		return error_set_errno(error, -ENOMEM, "cannot keep the label");
	code = history_label_read(&again, text, strlen(text), error);
	if (!code && memcmp(&again, label, sizeof(again)) != 0)
		code = -EINVAL;
	free(text);
	return code ? error_set(error, code, "--version or --commit is no text in UTF-8") : 0;
}

int history_add_check(const struct history_add *add, struct error *error)
{
	struct history_label label = {0};

	return make_label(&label, add, error);
}

/* Whether it can be read, and what it is called. */
static int name_file(char name[static HISTORY_NAME], const char *text, size_t length,
		     struct error *error)
{
	struct result result;
	int code = parse_text(&result, text, length, error);

	if (!code)
		code = history_name_result(name, &result, text, length, error);
	result_finish(&result);
	return code;
}

/* -EINVAL: it is no result, and whose error that is was told. */
static int add_file(struct history *history, const char *path, const struct history_label *label,
		    struct error *error)
{
	static const char *const words[] = {
		[HISTORY_NEW] = "added",
		[HISTORY_THERE] = "is there already",
		[HISTORY_LABELLED] = "was there, and is labelled anew",
	};
	struct error why = {0};
	enum history_kept kept;
	char name[HISTORY_NAME];
	char shown[INPUTS_NAME];
	size_t length;
	char *text;
	int code = parse_read(path, &text, &length, &why);

	inputs_name(shown, path);
	if (!code) {
		code = name_file(name, text, length, &why);
		if (code)
			error_wrap(&why, "%s", path);
	}
	if (code) {
		char sentence[INPUTS_NAME];

		inputs_name(sentence, why.text);
		fprintf(stderr, "verbmark: %s\n", sentence);
		free(text);
		return -EINVAL;
	}
	code = history_files_keep(&kept, history->folder,
				  &(struct history_document){name, text, length, label}, error);
	free(text);
	if (!code) {
		printf("%s: %s %s\n", shown, name, words[kept]);
		fflush(stdout);
	}
	return code;
}

int history_add(struct history *history, const struct history_add *add, struct error *error)
{
	struct history_label label = {0};
	int status = COMMAND_GOOD;
	bool has_any = false;

	if (make_label(&label, add, error) || history_files_make(history->folder, error))
		return COMMAND_FAILED;
	for (size_t i = 0; i < add->n_files; i++) {
		int code = add_file(history, add->files[i], &label, error);

		has_any = has_any || !code;
		if (code)
			status = COMMAND_FAILED;
		if (code && code != -EINVAL)
			break;
	}
	if (!has_any)
		return status;
	/* Of what was said to be added nothing is lost: the next one who comes puts it there. */
	if (history_do(history, HISTORY_ADD, NULL, NULL, error)) {
		error_append(error, "the runs are kept, and only the index is behind");
		return COMMAND_FAILED;
	}
	return status;
}
