/* SPDX-License-Identifier: MIT */
#include "reports/history/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/io/json_member.h"
#include "reports/io/read_file.h"

#define LABEL_BYTES_MOST 65536

static int is_document(const struct dirent *entry)
{
	const char *ending = strrchr(entry->d_name, '.');

	return entry->d_name[0] != '.' && ending && !strcmp(ending, ".json");
}

static int add_path(struct history_folder *folder, const char *runs, const char *name)
{
	char **path = &folder->paths[folder->count];

	if (asprintf(path, "%s/%s", runs, name) < 0)
		return -ENOMEM;
	folder->count++;
	return 0;
}

int history_folder_list(struct history_folder *folder, const char *path, struct error *error)
{
	struct dirent **entries = NULL;
	char *runs = NULL;
	int code = -ENOMEM;
	int count = 0;

	*folder = (struct history_folder){0};
	if (asprintf(&runs, "%s/runs", path) >= 0) {
		count = scandir(runs, &entries, is_document, alphasort);
		code = count < 0 ? -errno : 0;
	}
	if (count >= 0 && !code) {
		folder->paths = calloc((size_t)count + 1, sizeof(*folder->paths));
		code = folder->paths ? 0 : -ENOMEM;
	}
	for (int i = 0; i < count; i++) {
		if (!code)
			code = add_path(folder, runs, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	free(runs);
	return code ? error_set_errno(error, code, "cannot read the runs of %s", path) : 0;
}

/* Checks labels as strictly as options: the file may come from anywhere. */
static int parse_label(struct history_label *label, const char *text, size_t length,
		       struct error *error)
{
	json_t *json = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
	int code = json_is_object(json) ? 0 : error_set(error, -EINVAL, "not a JSON object");

	if (!code)
		code = history_label_set(label->version,
					 json_string_value(json_object_get(json, "version")),
					 "\"version\"", error);
	if (!code)
		code = history_label_set(label->commit,
					 json_string_value(json_object_get(json, "commit")),
					 "\"commit\"", error);
	json_decref(json);
	return code;
}

int history_folder_label(struct history_label *label, const char *document, struct error *error)
{
	size_t stem = strlen(document) - strlen(".json");
	size_t length;
	char *text = NULL;
	char *path;
	int code;

	*label = (struct history_label){0};
	if (asprintf(&path, "%.*s.label", (int)stem, document) < 0)
		return error_set_errno(error, -ENOMEM, "cannot build a path");
	if (access(path, F_OK) && errno == ENOENT) {
		free(path);
		return 0;
	}
	code = read_whole_file(path, "a label", LABEL_BYTES_MOST, &text, &length, error);
	if (!code && parse_label(label, text, length, error))
		code = error_wrap(error, "%s", path);
	free(text);
	free(path);
	return code;
}

int history_folder_check(const char *path, const struct history_name *name, struct error *error)
{
	const char *file = strrchr(path, '/') + 1;
	size_t length = strlen(name->text);

	if (!strncmp(file, name->text, length) && !strcmp(file + length, ".json"))
		return 0;
	return error_set(error, -EBADMSG,
			 "the document has changed since it was added: its name "
			 "would be %s",
			 name->text);
}

void history_folder_finish(struct history_folder *folder)
{
	for (size_t i = 0; i < folder->count; i++)
		free(folder->paths[i]);
	free(folder->paths);
	*folder = (struct history_folder){0};
}
