/* SPDX-License-Identifier: MIT */
#include "bench/cmd/history_add.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/cli/inputs.h"
#include "reports/document/parse.h"
#include "reports/history/folder.h"

/* A result file and its text. Zeroed before use. */
struct input {
	struct result result;
	struct history_name name;
	char *text;
	size_t length;
};

static int read_input(struct input *input, const char *path, struct error *error)
{
	int code = parse_read(path, &input->text, &input->length, error);

	if (code)
		return code;
	code = parse_text(&input->result, input->text, input->length, error);
	if (!code)
		code = history_name(&input->name, &input->result, input->text, input->length,
				    error);
	return code ? error_wrap(error, "%s", path) : 0;
}

static void finish_input(struct input *input)
{
	result_finish(&input->result);
	free(input->text);
}

/* Prints why a file is not added. */
static void refuse(const struct error *why)
{
	char sentence[INPUTS_NAME];

	inputs_name(sentence, why->text);
	fprintf(stderr, "verbmark: %s\n", sentence);
}

static int add_input(struct history *history, const char *path, const struct input *input,
		     const struct history_label *label, struct error *error)
{
	static const char *const words[] = {
		[HISTORY_ADDED] = "added",
		[HISTORY_KNOWN] = "was added before",
		[HISTORY_RELABELED] = "was added before; labels updated",
	};
	const struct history_entry entry = {&input->name, &input->result, input->text,
					    input->length, label};
	char shown[INPUTS_NAME];
	enum history_added added;
	int code = history_add(&added, history, &entry, error);

	if (code)
		return code;
	inputs_name(shown, path);
	printf("%s: %s %s\n", shown, input->name.text, words[added]);
	fflush(stdout);
	return 0;
}

enum command_status history_add_files(struct history *history, const char *const *files,
				      size_t n_files, const struct history_label *label,
				      struct error *error)
{
	enum command_status status = COMMAND_GOOD;
	int code = 0;

	for (size_t i = 0; i < n_files && !code; i++) {
		struct input input = {0};
		struct error why = {0};

		if (read_input(&input, files[i], &why)) {
			refuse(&why);
			status = COMMAND_FAILED;
		} else {
			code = add_input(history, files[i], &input, label, error);
		}
		finish_input(&input);
	}
	return code ? COMMAND_FAILED : status;
}

static int read_run(struct input *input, struct history_label *label, const char *path,
		    struct error *error)
{
	int code = read_input(input, path, error);

	if (!code && history_folder_check(path, &input->name, error))
		code = error_wrap(error, "%s", path);
	return code ? code : history_folder_label(label, path, error);
}

enum command_status history_add_folder(struct history *history, const char *path,
				       struct error *error)
{
	struct history_folder folder;
	enum command_status status = COMMAND_GOOD;
	int code = history_folder_list(&folder, path, error);

	for (size_t i = 0; i < folder.count && !code; i++) {
		struct history_label label;
		struct input input = {0};
		struct error why = {0};

		if (read_run(&input, &label, folder.paths[i], &why)) {
			refuse(&why);
			status = COMMAND_FAILED;
		} else {
			code = add_input(history, folder.paths[i], &input, &label, error);
		}
		finish_input(&input);
	}
	history_folder_finish(&folder);
	return code ? COMMAND_FAILED : status;
}
