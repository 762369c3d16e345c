/* SPDX-License-Identifier: MIT */
/*
 * HdrHistogram strings. The first byte selects the form of the rest: the string, its compressed
 * bytes, its uncompressed payload, or the counts alone, since random changes to compressed bytes
 * would rarely decompress.
 */
#include <endian.h>
#include <string.h>
#include <zlib.h>

#include "core/fuzz/fuzz.h"
#include "reports/document/hdr.h"

#define MOST 4096

enum form {
	FORM_TEXT,
	FORM_PACKED,
	FORM_PAYLOAD,
	FORM_COUNTS,
	FORMS,
};

/* The header of the format for three digits and our bins, except for the length of the counts. */
static const uint8_t head[] = {0x1c, 0x84, 0x93, 0x13, 0,    0,    0, 0, 0, 0, 0, 0, 0, 0,
			       0,    3,    0,    0,    0,    0,    0, 0, 0, 1, 0, 0, 0, 0x1f,
			       0xff, 0xff, 0xff, 0xff, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0};

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";

static void encode(char *text, const uint8_t *bytes, size_t size)
{
	size_t i;

	for (i = 0; i < size; i += 3) {
		uint32_t word = (uint32_t)bytes[i] << 16;

		word |= i + 1 < size ? (uint32_t)bytes[i + 1] << 8 : 0;
		word |= i + 2 < size ? bytes[i + 2] : 0;
		*text++ = digits[word >> 18];
		*text++ = digits[word >> 12 & 63];
		*text++ = digits[i + 1 < size ? word >> 6 & 63 : 64];
		*text++ = digits[i + 2 < size ? word & 63 : 64];
	}
	*text = '\0';
}

/* Compresses a payload and adds the outer header: cookie and length. Returns the size. */
static size_t wrap(uint8_t *into, size_t room, const uint8_t *payload, size_t size)
{
	uint32_t words[2] = {htobe32(0x1c849314)};
	uLongf packed = room - sizeof(words);

	FUZZ_CHECK(compress2(into + sizeof(words), &packed, payload, size, 0) == Z_OK);
	words[1] = htobe32((uint32_t)packed);
	memcpy(into, words, sizeof(words));
	return packed + sizeof(words);
}

static void make_text(char *text, enum form form, const uint8_t *bytes, size_t size)
{
	static uint8_t payload[sizeof(head) + MOST];
	static uint8_t packed[2 * sizeof(payload)];
	uint32_t length = htobe32((uint32_t)size);

	switch (form) {
	case FORM_PACKED:
		encode(text, bytes, size);
		return;
	case FORM_PAYLOAD:
		encode(text, packed, wrap(packed, sizeof(packed), bytes, size));
		return;
	case FORM_COUNTS:
		memcpy(payload, head, sizeof(head));
		memcpy(payload + 4, &length, sizeof(length));
		memcpy(payload + sizeof(head), bytes, size);
		encode(text, packed, wrap(packed, sizeof(packed), payload, sizeof(head) + size));
		return;
	case FORM_TEXT:
	case FORMS:
		memcpy(text, bytes, size);
		text[size] = '\0';
		return;
	}
}

static void check_hist(const struct hist *hist, const struct hist *again)
{
	uint64_t count = 0;

	for (size_t i = 0; i < HIST_BINS; i++)
		count += hist->bins[i];
	FUZZ_CHECK(count == hist->count && !hist->over);
	FUZZ_CHECK(!count || (hist->min <= hist->max && hist->max < 1ULL << HIST_MAX_BITS));
	FUZZ_CHECK(again->count == count && again->sum == hist->sum && !again->over);
	FUZZ_CHECK(again->min == hist->min && again->max == hist->max);
	FUZZ_CHECK(again->sum_squares == hist->sum_squares);
	FUZZ_CHECK(!memcmp(hist->bins, again->bins, sizeof(hist->bins)));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static char text[8 * MOST];
	static struct hist hist;
	static struct hist again;
	struct error error = {0};
	char *made;
	int code;

	if (!size || size > MOST)
		return 0;
	make_text(text, bytes[0] % FORMS, bytes + 1, size - 1);
	code = hdr_decode(&hist, text, &error);
	fuzz_check_error(code, &error);
	if (code) {
		FUZZ_CHECK(!hist.count && !hist.sum);
		return 0;
	}
	/* Encoding is slow: one bit of the first byte decides whether to check it. */
	if (!(bytes[0] & FORMS))
		return 0;
	made = hdr_encode(&hist, &error);
	FUZZ_CHECK(made && !hdr_decode(&again, made, &error));
	check_hist(&hist, &again);
	free(made);
	return 0;
}
