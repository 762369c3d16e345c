/* SPDX-License-Identifier: MIT */
/*
 * Results as 'verbmark report' reads them: loaded, shown and merged. The input has one result, or
 * two separated by a zero byte. Documents of loaded and merged results must load and be the same
 * again.
 */
#include <string.h>

#include "core/fuzz/fuzz.h"
#include "reports/document/document.h"
#include "reports/document/merge.h"
#include "reports/document/parse.h"
#include "reports/document/redact.h"
#include "reports/fuzz/mutate.h"
#include "reports/fuzz/nowhere.h"
#include "reports/page/page.h"
#include "reports/table/table.h"

MUTATE_JSON('\0')

static void show(const struct result *result)
{
	FILE *out = nowhere();
	struct table table;
	struct table_count count;
	struct page page;

	table_open(&table, &(struct terminal){.out = out}, NULL, result);
	for (size_t i = 0; i < result->n_cases; i++)
		table_line(&table, &result->cases[i]);
	count = table_foot(&table);
	FUZZ_CHECK(count.complete <= count.wanted && count.wanted <= result->n_cases);
	FUZZ_CHECK(!page_open(&page));
	page_add(page.body, &(struct charts){.result = result}, "name");
	FUZZ_CHECK(!page_print(&page, out, ""));
}

/* Checks that the document of a result loads and is the same again. */
static void check_document(const struct result *result)
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

static void check_redaction(const struct result *result)
{
	static const char *const words[] = {"n02", "out.json"};
	json_t *made = document_make(result);
	json_t *document = json_deep_copy(made);
	struct error error = {0};

	FUZZ_CHECK(!redact_document(document, words[0], words, ARRAY_LENGTH(words), &error));
	json_decref(document);
	json_decref(made);
}

static int add(struct result *merged, const struct result *result)
{
	struct error error = {0};
	int code = merge_add(merged, result, &error);

	fuzz_check_error(code, &error);
	return code;
}

static int read_result(struct result *result, const uint8_t *bytes, size_t size)
{
	struct error error = {0};
	int code = parse_text(result, (const char *)bytes, size, &error);

	fuzz_check_error(code, &error);
	return code;
}

/* Merges the first result with a second one, which may be the same. */
static void try_merge(const struct result *first, const uint8_t *bytes, size_t size)
{
	struct result merged = {0};
	struct result result;

	FUZZ_CHECK(!add(&merged, first));
	if (!read_result(&result, bytes, size)) {
		struct error twice = {0};

		fuzz_check_error(merge_check_new(&merged, &result, &twice), &twice);
		if (!add(&merged, &result)) {
			show(&merged);
			check_document(&merged);
		}
		result_finish(&result);
	}
	result_finish(&merged);
}

/* Imported results cannot be merged. */
static void refuse_merge(const struct result *imported)
{
	struct result merged = {0};

	FUZZ_CHECK(add(&merged, imported));
	result_finish(&merged);
}

/* Selects a check by a hash of the input, so that any change may select another one. */
static size_t pick(const uint8_t *bytes, size_t size, size_t ways)
{
	uint32_t hash = 2166136261; /* FNV-1a */

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * 16777619;
	return hash % ways;
}

/* Runs only one check: all together need ten times as long as reading. */
static void try_one(const struct result *result, const uint8_t *bytes, size_t size)
{
	switch (pick(bytes, size, 4)) {
	case 0:
		show(result);
		break;
	case 1:
		check_document(result);
		break;
	case 2:
		check_redaction(result);
		break;
	default:
		if (result->imported)
			refuse_merge(result);
		else
			try_merge(result, bytes, size);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const uint8_t *zero = size ? memchr(bytes, '\0', size) : NULL;
	size_t length = zero ? (size_t)(zero - bytes) : size;
	struct result result;

	if (read_result(&result, bytes, length))
		return 0;
	if (zero && !result.imported)
		try_merge(&result, zero + 1, size - length - 1);
	else
		try_one(&result, bytes, length);
	result_finish(&result);
	return 0;
}
