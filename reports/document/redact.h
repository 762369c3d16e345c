/* SPDX-License-Identifier: MIT */
/*
 * Removes what identifies the hosts of a document: their names and addresses, GUIDs, GIDs and MAC
 * addresses wherever they occur, serial numbers, and the kernel's command line except for options
 * that affect measurements. The result can still be loaded and merged. A name that cannot be
 * recognized as one stays.
 */
#ifndef REPORTS_DOCUMENT_REDACT_H
#define REPORTS_DOCUMENT_REDACT_H

#include <jansson.h>

#include "core/base/error.h"

/*
 * host: the host as the user gave it, which messages quote; or NULL. words: words of the command
 * line that are private as a whole.
 */
int redact_document(json_t *document, const char *host, const char *const *words, size_t n_words,
		    struct error *error);

#endif
