/* SPDX-License-Identifier: MIT */
#include "reports/document/hdr.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define COOKIE            0x1c849313 /* V2, counts in LEB128 */
#define COOKIE_COMPRESSED 0x1c849314
#define DIGITS            3
#define LOWEST            1
#define HIGHEST           ((1ULL << HIST_MAX_BITS) - 1)
#define RATIO_ONE         0x3ff0000000000000 /* 1.0 */
#define COUNT_BYTES       9
#define MOST_BYTES        (sizeof(struct head) + HIST_BINS * COUNT_BYTES)

/* Both structures are big-endian. */
struct envelope {
	uint32_t cookie;
	uint32_t length; /* of the zlib stream that follows */
};

struct head {
	uint32_t cookie;
	uint32_t length; /* of the counts that follow */
	uint32_t offset;
	uint32_t digits;
	uint64_t lowest;
	uint64_t highest;
	uint64_t ratio; /* the bits of a double */
};

_Static_assert(HIST_SUB_BITS == 10, "3 significant digits need 2^10 bins per power of two");
_Static_assert(sizeof(struct head) == 40, "the header must have no padding");

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static size_t base64_length(size_t size)
{
	return (size + 2) / 3 * 4;
}

static char *base64_encode(const uint8_t *bytes, size_t size)
{
	char *text = malloc(base64_length(size) + 1);
	char *at = text;

	if (!text)
		return NULL;
	for (size_t i = 0; i < size; i += 3) {
		uint32_t word = (uint32_t)bytes[i] << 16;

		if (i + 1 < size)
			word |= (uint32_t)bytes[i + 1] << 8;
		if (i + 2 < size)
			word |= bytes[i + 2];
		*at++ = digits[word >> 18];
		*at++ = digits[word >> 12 & 63];
		*at++ = digits[word >> 6 & 63];
		*at++ = digits[word & 63];
	}
	if (size % 3)
		at[-1] = '=';
	if (size % 3 == 1)
		at[-2] = '=';
	*at = '\0';
	return text;
}

/* bytes has room for three bytes per four characters. */
static int base64_decode(uint8_t *bytes, size_t *size, const char *text, size_t length)
{
	size_t padding = 0;
	uint32_t word = 0;

	while (padding < 2 && padding < length && text[length - padding - 1] == '=')
		padding++;
	if (length % 4)
		return -EINVAL;
	*size = 0;
	for (size_t i = 0; i < length; i++) {
		const char *digit = i < length - padding ? strchr(digits, text[i]) : digits;

		if (!digit)
			return -EINVAL;
		word = word << 6 | (uint32_t)(digit - digits);
		if (i % 4 != 3)
			continue;
		bytes[(*size)++] = (uint8_t)(word >> 16);
		bytes[(*size)++] = (uint8_t)(word >> 8);
		bytes[(*size)++] = (uint8_t)word;
	}
	*size -= padding;
	return 0;
}

/* ZigZag, with seven bits per byte, except for the ninth byte, which has eight. */
static uint8_t *put_count(uint8_t *at, int64_t count)
{
	uint64_t rest = (uint64_t)count << 1 ^ (uint64_t)(count >> 63);

	for (int i = 1; i < COUNT_BYTES && rest > 0x7f; i++) {
		*at++ = (uint8_t)(rest | 0x80);
		rest >>= 7;
	}
	*at++ = (uint8_t)rest;
	return at;
}

/* Returns NULL if the count is truncated. */
static const uint8_t *get_count(const uint8_t *at, const uint8_t *end, int64_t *count)
{
	uint64_t word = 0;
	unsigned int shift = 0;

	while (at < end && (*at & 0x80) && shift < 7 * (COUNT_BYTES - 1)) {
		word |= (uint64_t)(*at++ & 0x7f) << shift;
		shift += 7;
	}
	if (at == end)
		return NULL;
	word |= (uint64_t)*at++ << shift;
	*count = (int64_t)(word >> 1 ^ -(word & 1));
	return at;
}

/* Encodes a run of empty bins; a single one is a 0. */
static uint8_t *put_gap(uint8_t *at, size_t bins)
{
	if (!bins)
		return at;
	return put_count(at, bins == 1 ? 0 : -(int64_t)bins);
}

/* Encodes counts up to the last bin in use, and at least one, like the reference. */
static uint8_t *put_counts(uint8_t *at, const struct hist *hist)
{
	size_t next = 0;

	for (size_t i = hist_first(hist), end = hist_end(hist); i < end; i++) {
		if (!hist->bins[i])
			continue;
		at = put_gap(at, i - next);
		at = put_count(at, (int64_t)hist->bins[i]);
		next = i + 1;
	}
	return next ? at : put_gap(at, 1);
}

/* Returns the maximum size: a count for each bin, and the gap before the first. */
static size_t payload_room(const struct hist *hist)
{
	return sizeof(struct head) + (hist_end(hist) - hist_first(hist) + 1) * COUNT_BYTES;
}

static size_t put_payload(uint8_t *bytes, const struct hist *hist)
{
	uint8_t *end = put_counts(bytes + sizeof(struct head), hist);
	size_t size = (size_t)(end - bytes);
	struct head head = {
		.cookie = htobe32(COOKIE),
		.length = htobe32((uint32_t)(size - sizeof(head))),
		.digits = htobe32(DIGITS),
		.lowest = htobe64(LOWEST),
		.highest = htobe64(HIGHEST),
		.ratio = htobe64(RATIO_ONE),
	};

	memcpy(bytes, &head, sizeof(head));
	return size;
}

static int check_counts(const struct hist *hist, struct error *error)
{
	for (size_t i = hist_first(hist), end = hist_end(hist); i < end; i++)
		if (hist->bins[i] > INT64_MAX)
			return error_set(error, -EOVERFLOW,
					 "HdrHistogram: %" PRIu64 " samples of %" PRIu64
					 " are more than a count can hold",
					 hist->bins[i], hist_low(i));
	return 0;
}

char *hdr_encode(const struct hist *hist, struct error *error)
{
	size_t room = payload_room(hist);
	uLongf packed_size = compressBound(room);
	struct envelope envelope = {.cookie = htobe32(COOKIE_COMPRESSED)};
	uint8_t *payload;
	uint8_t *packed;
	char *text = NULL;

	if (check_counts(hist, error))
		return NULL;
	payload = malloc(room);
	packed = malloc(sizeof(envelope) + packed_size);
	if (payload && packed &&
	    compress2(packed + sizeof(envelope), &packed_size, payload, put_payload(payload, hist),
		      Z_BEST_COMPRESSION) == Z_OK) {
		envelope.length = htobe32((uint32_t)packed_size);
		memcpy(packed, &envelope, sizeof(envelope));
		text = base64_encode(packed, sizeof(envelope) + packed_size);
	}
	free(payload);
	free(packed);
	if (!text)
		error_set_errno(error, -ENOMEM, "HdrHistogram: cannot encode");
	return text;
}

static int take_head(const struct head *head, size_t counts_size, struct error *error)
{
	if (be32toh(head->cookie) != COOKIE)
		return error_set(error, -EINVAL, "not a V2 histogram");
	if (be32toh(head->digits) != DIGITS)
		return error_set(error, -EINVAL, "%" PRIu32 " significant digits, not %d",
				 be32toh(head->digits), DIGITS);
	if (be64toh(head->lowest) != LOWEST)
		return error_set(error, -EINVAL, "lowest value is %" PRIu64 ", not %d",
				 be64toh(head->lowest), LOWEST);
	if (head->offset || be64toh(head->ratio) != RATIO_ONE)
		return error_set(error, -EINVAL, "values are shifted or scaled");
	if (be32toh(head->length) != counts_size)
		return error_set(error, -EINVAL, "expected %" PRIu32 " bytes of counts, found %zu",
				 be32toh(head->length), counts_size);
	return 0;
}

static int take_counts(struct hist *hist, const uint8_t *at, const uint8_t *end,
		       struct error *error)
{
	size_t bin = 0;

	while (at < end) {
		int64_t count;

		at = get_count(at, end, &count);
		if (!at)
			return error_set(error, -EINVAL, "last count is truncated");
		/* A negative count is a number of empty bins. */
		if (count < -(int64_t)(HIST_BINS - bin) || (count >= 0 && bin == HIST_BINS))
			return error_set(error, -EINVAL, "bins beyond %llu", HIGHEST);
		if (count < 0)
			bin += (size_t)-count;
		else
			hist->bins[bin++] = (uint64_t)count;
	}
	return 0;
}

/*
 * Computes count, sum and squares. A sum below 2^63 bounds the number of samples above 0, and fewer
 * than 2^63 samples are 0, so neither overflows. The squares stay below 2^100.
 */
static int add_up(struct hist *hist, struct error *error)
{
	unsigned __int128 sum = 0;

	for (size_t i = 0; i < HIST_BINS; i++) {
		uint64_t count = hist->bins[i];
		uint64_t low;
		uint64_t middle;

		if (!count)
			continue;
		low = hist_low(i);
		middle = low + (hist_high(i) - low) / 2;
		sum += (unsigned __int128)count * middle;
		if (sum > INT64_MAX)
			return error_set(error, -EINVAL, "samples add up to more than 2^63");
		hist->count += count;
		hist->sum_squares += (unsigned __int128)count * middle * middle;
		if (hist->min == UINT64_MAX)
			hist->min = low;
		hist->max = hist_high(i) - 1;
	}
	hist->sum = (uint64_t)sum;
	return 0;
}

static int take_payload(struct hist *hist, const uint8_t *bytes, size_t size, struct error *error)
{
	struct head head;
	int code;

	if (size < sizeof(head))
		return error_set(error, -EINVAL, "payload is truncated");
	memcpy(&head, bytes, sizeof(head));
	code = take_head(&head, size - sizeof(head), error);
	if (!code)
		code = take_counts(hist, bytes + sizeof(head), bytes + size, error);
	return code ? code : add_up(hist, error);
}

/* payload has room for MOST_BYTES, the most that a valid string can decompress to. */
static int unpack(uint8_t *payload, uLongf *size, const uint8_t *packed, size_t packed_size,
		  struct error *error)
{
	struct envelope envelope;
	uLong left;
	uLong used;
	int code;

	if (packed_size < sizeof(envelope))
		return error_set(error, -EINVAL, "truncated");
	left = used = packed_size - sizeof(envelope);
	memcpy(&envelope, packed, sizeof(envelope));
	if (be32toh(envelope.cookie) != COOKIE_COMPRESSED)
		return error_set(error, -EINVAL, "not a compressed V2 histogram");
	if (be32toh(envelope.length) != left)
		return error_set(error, -EINVAL, "expected %" PRIu32 " bytes, found %lu",
				 be32toh(envelope.length), left);
	*size = MOST_BYTES;
	code = uncompress2(payload, size, packed + sizeof(envelope), &used);
	if (code == Z_MEM_ERROR)
		return error_set_errno(error, -ENOMEM, "cannot decompress");
	if (code == Z_BUF_ERROR)
		return error_set(error, -EINVAL, "decompresses to more than all bins can hold");
	if (code != Z_OK || used != left)
		return error_set(error, -EINVAL, "compressed data is damaged");
	return 0;
}

static int decode(struct hist *hist, const char *text, size_t length, struct error *error)
{
	uint8_t *packed = malloc(length / 4 * 3 + 1);
	uint8_t *payload = malloc(MOST_BYTES);
	size_t packed_size;
	uLongf size = 0;
	int code;

	if (!packed || !payload)
		code = error_set_errno(error, -ENOMEM, "cannot decode");
	else if (base64_decode(packed, &packed_size, text, length))
		code = error_set(error, -EINVAL, "not base64");
	else
		code = unpack(payload, &size, packed, packed_size, error);
	if (!code)
		code = take_payload(hist, payload, size, error);
	free(packed);
	free(payload);
	return code;
}

int hdr_decode(struct hist *hist, const char *text, struct error *error)
{
	size_t most = base64_length(sizeof(struct envelope) + compressBound(MOST_BYTES));
	size_t length = strnlen(text, most + 1);
	int code;

	hist_init(hist);
	if (length > most)
		code = error_set(error, -EINVAL, "longer than %zu characters", most);
	else
		code = decode(hist, text, length, error);
	if (code) {
		hist_init(hist);
		error_wrap(error, "HdrHistogram string");
	}
	return code;
}
