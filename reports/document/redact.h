/* SPDX-License-Identifier: MIT */
/*
 * Takes out of a document whose hosts it is from: their names and addresses, GUIDs,
 * GIDs and MAC addresses wherever they are found, serial numbers, and of the kernel's
 * command line all but what a measurement depends on. What is left is a document that
 * can be loaded and merged as before. What nobody could know for a name stays.
 */
#ifndef REPORTS_DOCUMENT_REDACT_H
#define REPORTS_DOCUMENT_REDACT_H

#include <jansson.h>

#include "core/base/error.h"

/*
 * host: as the user wrote it, so that messages do, too; or NULL. words: of the command
 * line, which are private as a whole.
 */
int redact_document(json_t *document, const char *host, const char *const *words, size_t n_words,
		    struct error *error);

#endif
