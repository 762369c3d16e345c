/* SPDX-License-Identifier: MIT */
/*
 * The runs of a folder, as verbmark kept a history before it used SQLite: documents in
 * runs/NAME.json, and what was said of them in runs/NAME.label. Nothing in it is changed.
 */
#ifndef REPORTS_HISTORY_FOLDER_H
#define REPORTS_HISTORY_FOLDER_H

#include "reports/history/name.h"

struct history_folder {
	char **paths; /* of the documents, by their names */
	size_t count;
};

int history_folder_list(struct history_folder *folder, const char *path, struct error *error);

/* Reads the label beside a document: empty where there is no label. */
int history_folder_label(struct history_label *label, const char *document, struct error *error);

/* -EBADMSG: the document is not the one that got the name of the file. */
int history_folder_check(const char *path, const struct history_name *name, struct error *error);

void history_folder_finish(struct history_folder *folder);

#endif
