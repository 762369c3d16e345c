/* SPDX-License-Identifier: MIT */
/*
 * The files of a history: documents as they came, byte for byte, in runs/NAME.json of its
 * folder, and what was said of them in runs/NAME.label. They are the truth; all else is made
 * of them. A document is there once it is whole and on the disk, and its label before it.
 */
#ifndef REPORTS_HISTORY_FILES_H
#define REPORTS_HISTORY_FILES_H

#include "reports/history/name.h"
#include "reports/table/sentences.h"

/* What tells a file from what it was when it was looked at last. */
struct history_file {
	char name[HISTORY_NAME];
	int64_t number;
	int64_t size;
	int64_t changed_ns;
	int64_t label_size; /* -1: it has none */
	int64_t label_changed_ns;
};

struct history_files {
	struct history_file *list; /* by their names */
	size_t count;
	size_t n_strangers; /* that have no name of a run */
};

enum history_kept {
	HISTORY_NEW,
	HISTORY_THERE,
	HISTORY_LABELLED, /* it was there, and is called otherwise now */
};

/* For who has a lock of the history: a long rebuild is told, and what hangs is not waited for. */
#define HISTORY_WAIT_S 60

/* Has it alone, until the descriptor is closed; -EBUSY: somebody has had it for all that time. */
int history_files_lock(int fd);

/* The folder with all that it has to have; -ENOENT, -EROFS, ...: and it cannot be made. */
int history_files_make(const char *folder, struct error *error);

/* A document under its name, and what is said of it: empty members leave what was said. */
struct history_document {
	const char *name;
	const char *text;
	size_t length;
	const struct history_label *label;
};

int history_files_keep(enum history_kept *kept, const char *folder,
		       const struct history_document *document, struct error *error);

/* All that have a name; what has none is said. */
int history_files_list(struct history_files *files, const char *folder, said *say, void *owner,
		       struct error *error);

void history_files_finish(struct history_files *files);

/* A document, which the caller frees: -EBADMSG where it is not the one that was kept. */
int history_files_read(const char *folder, const char *name, char **text, size_t *length,
		       struct error *error);

/* Empty where there is none. */
int history_files_label(struct history_label *label, const char *folder, const char *name,
			struct error *error);

#endif
