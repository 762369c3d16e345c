/* SPDX-License-Identifier: MIT */
/*
 * A history from before verbmark used SQLite: a folder with documents in runs/NAME.json and labels
 * in runs/NAME.label. It is only read.
 */
#ifndef REPORTS_HISTORY_FOLDER_H
#define REPORTS_HISTORY_FOLDER_H

#include "reports/history/name.h"

struct history_folder {
	char **paths; /* of the documents, sorted by name */
	size_t count;
};

int history_folder_list(struct history_folder *folder, const char *path, struct error *error);

/* Reads the label of a document; empty if it has no label. */
int history_folder_label(struct history_label *label, const char *document, struct error *error);

/* Returns -EBADMSG if the document does not match the hash in its file name. */
int history_folder_check(const char *path, const struct history_name *name, struct error *error);

void history_folder_finish(struct history_folder *folder);

#endif
