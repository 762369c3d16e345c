/* SPDX-License-Identifier: MIT */
/* Common code of the fuzzers of imported formats. */
#ifndef REPORTS_FUZZ_IMPORTED_H
#define REPORTS_FUZZ_IMPORTED_H

#include "core/fuzz/fuzz.h"
#include "reports/document/document.h"
#include "reports/document/parse.h"
#include "reports/fuzz/nowhere.h"
#include "reports/import/import.h"
#include "reports/page/page.h"
#include "reports/table/table.h"

typedef int imported_adder(struct import *import, const char *text, size_t length,
			   struct error *error);

static inline void imported_show(const struct result *result)
{
	struct table table;
	struct page page;

	table_open(&table, &(struct terminal){.out = nowhere()}, NULL, result);
	for (size_t i = 0; i < result->n_cases; i++)
		table_line(&table, &result->cases[i]);
	table_foot(&table);
	FUZZ_CHECK(!page_open(&page));
	page_add(page.body, &(struct charts){.result = result}, "name");
	FUZZ_CHECK(!page_print(&page, nowhere(), ""));
}

/* Checks that the document of a result loads and is the same again. */
static inline void imported_check(const struct result *result)
{
	json_t *document = document_make(result);
	struct error error = {0};
	struct result again;
	json_t *made;

	FUZZ_CHECK(document);
	if (parse_document(&again, document, &error)) {
		fprintf(stderr, "%s\n", error.text);
		FUZZ_CHECK(!"our own document is rejected");
	}
	made = document_make(&again);
	FUZZ_CHECK(json_equal(made, document));
	json_decref(made);
	result_finish(&again);
	json_decref(document);
}

static inline int imported_try(imported_adder *add, const uint8_t *bytes, size_t size)
{
	struct error error = {0};
	struct import import;
	struct result result;
	int code = import_begin(&import, "0.0.0", &error);

	FUZZ_CHECK(!code);
	code = add(&import, (const char *)bytes, size, &error);
	if (!code)
		code = import_finish(&import, &result, &error);
	/* The error text may quote any bytes; the caller makes it printable. */
	FUZZ_CHECK(code <= 0 && code == error.code && !code == !error.text[0]);
	if (!code) {
		imported_show(&result);
		imported_check(&result);
		result_finish(&result);
	}
	import_close(&import);
	return 0;
}

#endif
