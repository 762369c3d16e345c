/* SPDX-License-Identifier: MIT */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "core/test/lib/check.h"
#include "reports/document/hdr.h"

#define TOP        ((1ULL << HIST_MAX_BITS) - 1)
#define HEAD_BYTES 40
#define MOST_BYTES (HEAD_BYTES + HIST_BINS * 9)

static struct hist hist;
static struct hist decoded;
static struct error error;
static int allocations_left = -1;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

void *__wrap_malloc(size_t size)
{
	if (!allocations_left) {
		errno = ENOMEM;
		return NULL;
	}
	if (allocations_left > 0)
		allocations_left--;
	return __real_malloc(size);
}

static int reset(void **unused)
{
	hist_init(&hist);
	error = (struct error){0};
	return 0;
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void check_round_trip(void)
{
	char *text = hdr_encode(&hist, &error);

	assert_non_null(text);
	assert_memory_equal(text, "HISTF", 5);
	assert_int_equal(hdr_decode(&decoded, text, &error), 0);
	assert_memory_equal(decoded.bins, hist.bins, sizeof(hist.bins));
	assert_int_equal(decoded.count, hist.count - hist.over);
	assert_int_equal(decoded.over, 0);
	assert_int_equal(error.code, 0);
	free(text);
}

static void test_nothing(void **unused)
{
	check_round_trip();
	assert_int_equal(decoded.min, UINT64_MAX);
	assert_int_equal(decoded.max, 0);
	assert_int_equal(decoded.sum, 0);
}

static void test_one_sample(void **unused)
{
	static const uint64_t values[] = {0, 1, 2, 2047, 2048, 1234567, TOP - 1, TOP};

	for (size_t i = 0; i < ARRAY_LENGTH(values); i++) {
		size_t bin = hist_index(values[i]);

		hist_init(&hist);
		hist_add(&hist, values[i]);
		check_round_trip();
		assert_int_equal(decoded.min, hist_low(bin));
		assert_int_equal(decoded.max, hist_high(bin) - 1);
	}
}

static void test_edges(void **unused)
{
	for (unsigned int bit = 0; bit < HIST_MAX_BITS; bit++) {
		hist_add(&hist, 1ULL << bit);
		hist_add(&hist, (1ULL << bit) - 1);
		hist_add(&hist, (1ULL << bit) + 1);
	}
	check_round_trip();
}

static void test_every_bin(void **unused)
{
	for (size_t i = 0; i < HIST_BINS; i++)
		for (size_t n = 0; n < i % 5; n++)
			hist_add(&hist, hist_high(i) - 1);
	check_round_trip();
}

static void test_a_million(void **unused)
{
	uint64_t random = 88172645463325252ULL;

	for (int i = 0; i < 1000000; i++)
		hist_add(&hist, next_random(&random) >> (64 - HIST_MAX_BITS + i % 30));
	check_round_trip();
}

static void test_over_is_left_out(void **unused)
{
	hist_add(&hist, 7);
	hist_add(&hist, TOP + 1);
	check_round_trip();
	assert_int_equal(decoded.count, 1);
	assert_int_equal(decoded.max, 7);
}

/* Tests counts at the edges of every encoded length: ZigZag doubles, seven bits per byte. */
static void test_large_counts(void **unused)
{
	for (unsigned int bit = 5; bit < 64; bit++) {
		hist_init(&hist);
		hist.bins[0] = (1ULL << bit) - 1;
		hist.bins[3] = 1ULL << bit >> 3;
		hist.bins[5] = 1;
		hist.count = hist.bins[0] + hist.bins[3] + 1;
		hist.min = 0;
		hist.max = 5;
		check_round_trip();
	}
	hist_init(&hist);
	hist.bins[0] = hist.count = INT64_MAX;
	hist.min = 0;
	check_round_trip();
	hist.bins[0]++;
	assert_null(hdr_encode(&hist, &error));
	assert_contains(error.text, "9223372036854775808 samples of 0 are more than a count");
}

/* Strings from the reference implementation in Java, 2.1.11, with its figures. */
static void test_reference(void **unused)
{
	static const struct {
		const char *text;
		uint64_t count;
		uint64_t min;
		uint64_t max;
		double mean;
	} rows[] = {
		{"HISTFAAAAB54nJNpmSzMwMDAyAABzFAaxJf/DwT2H6AiAGw5BpY=",                         0,   UINT64_MAX, 0,           0                 },
		{"HISTFAAAAB94nJNpmSzMwMDAyAABzFAaxJf/DwT2HyACTABsOwaY",                         1,   0,          0,           0                 },
		{"HISTFAAAACB4nJNpmSzMwMDAxAABzFCaEYjl/wOB/QeoCBMAcvQGmQ==",                     1,   1,          1,           1                 },
 /* Highest value 3600 s. */
		{"HISTFAAAACN4nJNpmSzMwMDAxAABzFCaEch0M9ixgMH+A0QgmAkAV70Eog==",                 1,   42,         42,          42                },
 /* 2^i, i + 1 times each. */
		{"HISTFAAAAHl4nC2IWwpBUQAAz/VOGCFJSJIk6SZJ8kq6yULswp8d2IBlWJYNTFHMz0zTuT/qIYRr"
		 "+JH+O/pmEr+eYf/+n1Qm5LKFcrFb2lZuVaOa6Yb5prSkLR3pSV8GMpSRjGUiU5lJLHNZyFJWspaN"
		 "7OQgRzlJIme5fACgrylS",					703, 1,          68786585599, 7041562224.874823 },
		{"HISTFAAAADB4nJNpmSzMwMAgxAABzFCaEYjl/wOB/QeIwF95Jhamn/xAYuNbRqajixiZABKsC+Y=", 10,
		 2047,											    TOP,         13752886068.5     },
		{"HISTFAAAACl4nJNpmSzMwMAAwiDADKUZgVj+PxDYf4CKNMDAP8YGxjoglxEANu8OJw==",
		 4611686018427396350,								 1,          6,           1.0000000000000089},
 /* With automatic resizing. */
		{"HISTFAAAACZ4nJNpmSzMwMDAzgABzFCaEUzy//9v/wEicJ6f6f08RiYAehsG/g==",             2,   1000,
		 1000447,												      500596            },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		assert_int_equal(hdr_decode(&decoded, rows[i].text, &error), 0);
		assert_int_equal(decoded.count, rows[i].count);
		assert_int_equal(decoded.min, rows[i].min);
		assert_int_equal(decoded.max, rows[i].max);
		assert_near(hist_mean(&decoded), rows[i].mean, 1e-15 * rows[i].mean);
	}
	/* The last string has 1000 and 1000000. */
	assert_int_equal(decoded.bins[1000], 1);
	assert_int_equal(decoded.bins[hist_index(1000000)], 1);
}

/* The decoded deviation uses the middles of the bins. */
static void test_moments(void **unused)
{
	for (int i = 0; i < 3; i++)
		hist_add(&hist, 5001);
	check_round_trip();
	assert_near(hist_mean(&decoded), 5002, 0);
	assert_near(hist_stddev(&decoded), 0, 0);
	/* The two bins, both 4 wide, are 1000 apart. */
	for (int i = 0; i < 3; i++)
		hist_add(&hist, 6001);
	check_round_trip();
	assert_near(hist_mean(&decoded), 5502, 0);
	assert_near(hist_stddev(&decoded), 500 * sqrt(6.0 / 5), 1e-9);
}

static void check_refused(const char *text, const char *reason)
{
	error = (struct error){0};
	assert_int_equal(hdr_decode(&decoded, text, &error), -EINVAL);
	assert_int_equal(error.code, -EINVAL);
	assert_contains(error.text, "HdrHistogram string: ");
	assert_contains(error.text, reason);
	hist_init(&hist);
	assert_memory_equal(&decoded, &hist, sizeof(hist));
}

static void test_other_histograms(void **unused)
{
	/* Strings from the reference implementation with other settings. */
	check_refused("HISTFAAAACV4nJNpmSzMwMDAwgABzFCaEch0M9ixgMH+A0Tg/35mJgBmOgYS",
		      "bins beyond 137438953471");
	check_refused("HISTFAAAACN4nJNpmSzMwMDAxAABMJqRgYHZzWDHAgb7DxCBYCYAV6IEoQ==",
		      "2 significant digits, not 3");
	check_refused("HISTFAAAACR4nJNpmSzMwMDAxAABLFCakYGB2c1gxwIG+w8QgWAmAFfYBKM=",
		      "4 significant digits, not 3");
	check_refused("HISTFAAAACN4nJNpmSzMwMDAxAABzFDqBRC7GexYwGD/ASLCzwQAaJYFSA==",
		      "lowest value is 1000, not 1");
	check_refused("HISTFAAAACl4nJNpmSzMwMDAxsDAAaQYmBkggBFM8js52H+ACJxnYjqrwwQAW4sE5w==",
		      "values are shifted or scaled");
	check_refused("HISTFAAAACZ4nJNpmSzMwMDAywABzFCaEYjl/wOB/QeoyL//UHCanwsAB60QfA==",
		      "samples add up to more than 2^63");
}

static void test_no_histograms(void **unused)
{
	static const char *const rows[][2] = {
		{"",			     "truncated"                         },
		{"HISTF",                        "not base64"                        },
		{"HISTFAA=",                     "truncated"                         },
		{"HISTFAA?",                     "not base64"                        },
		{"HIST AAA",                     "not base64"                        },
		{"HISTF\xc3\xa4"
		 "A",           "not base64"                        },
		{"HI=TFAAA",                     "not base64"                        },
		{"====",			 "not base64"                        },
		{"HISTFAAAAAA=",                 "compressed data is damaged"        },
		{"HISTFAAAAAE=",                 "expected 1 bytes, found 0"         },
		{"HISTFAAAAAEA",                 "compressed data is damaged"        },
		{"HISTFP////8A",                 "expected 4294967295 bytes, found 1"},
		{"HISTIgAAAAF4nJNpmSzMwMDAyA==", "not a compressed V2 histogram"     },
	};
	char *long_one = malloc(1000001);

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		check_refused(rows[i][0], rows[i][1]);
	assert_non_null(long_one);
	memset(long_one, 'A', 1000000);
	long_one[1000000] = '\0';
	check_refused(long_one, "longer than ");
	free(long_one);
}

static char *to_base64(const uint8_t *bytes, size_t size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t length = (size + 2) / 3 * 4;
	char *text = malloc(length + 1);

	assert_non_null(text);
	memset(text, '=', length);
	for (size_t bit = 0; bit < size * 8; bit += 6) {
		unsigned int two = (unsigned int)bytes[bit / 8] << 8;

		if (bit / 8 + 1 < size)
			two |= bytes[bit / 8 + 1];
		text[bit / 6] = digits[two >> (10 - bit % 8) & 63];
	}
	text[length] = '\0';
	return text;
}

/* Packs a payload, with extra bytes after it and in the announced length. */
static char *wrap(const uint8_t *payload, size_t size, size_t more, int announced)
{
	uLongf packed_size = compressBound(size);
	uint8_t *packed = calloc(1, 8 + packed_size + more);
	uint32_t envelope[2];
	char *text;

	assert_non_null(packed);
	assert_int_equal(compress(packed + 8, &packed_size, payload, size), Z_OK);
	envelope[0] = htobe32(0x1c849314);
	envelope[1] = htobe32((uint32_t)((int)packed_size + announced));
	memcpy(packed, envelope, 8);
	text = to_base64(packed, 8 + packed_size + more);
	free(packed);
	return text;
}

static void check_payload(const uint8_t *payload, size_t size, const char *reason)
{
	char *text = wrap(payload, size, 0, 0);

	if (reason) {
		check_refused(text, reason);
	} else {
		error = (struct error){0};
		assert_int_equal(hdr_decode(&decoded, text, &error), 0);
		assert_int_equal(error.code, 0);
	}
	free(text);
}

/* Makes a header followed by counts. */
static size_t make_payload(uint8_t *payload, const void *counts, size_t size)
{
	static const uint8_t head[HEAD_BYTES] = {
		0x1c, 0x84, 0x93, 0x13, [15] = 3, [23] = 1, [27] = 0x1f,
		0xff, 0xff, 0xff, 0xff, 0x3f,     0xf0};
	uint32_t length = htobe32((uint32_t)size);

	memcpy(payload, head, sizeof(head));
	memcpy(payload + 4, &length, sizeof(length));
	memcpy(payload + HEAD_BYTES, counts, size);
	return HEAD_BYTES + size;
}

static void test_heads(void **unused)
{
	static const struct {
		size_t at;
		uint8_t value;
		const char *reason;
	} rows[] = {
		{3,  0x12, "not a V2 histogram"                          },
		{7,  2,    "expected 2 bytes of counts, found 3"         },
		{4,  0xff, "expected 4278190083 bytes of counts, found 3"},
		{11, 1,    "values are shifted or scaled"                },
		{15, 0,    "0 significant digits, not 3"                 },
		{16, 0x80, "lowest value is 9223372036854775809,"        },
		{23, 0,    "lowest value is 0, not 1"                    },
		{33, 0xf8, "values are shifted or scaled"                },
		{31, 0,    NULL					  },
	};
	uint8_t payload[HEAD_BYTES + 3];
	size_t size;

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		size = make_payload(payload, "\x00\x02\x04", 3);
		payload[rows[i].at] = rows[i].value;
		check_payload(payload, size, rows[i].reason);
	}
	assert_int_equal(decoded.bins[1], 1);
	assert_int_equal(decoded.bins[2], 2);
	for (size = 0; size < HEAD_BYTES; size++)
		check_payload(payload, size, "payload is truncated");
}

static void test_counts(void **unused)
{
	static const struct {
		const char *counts;
		size_t size;
		const char *reason;
	} rows[] = {
		{"",					     0,  NULL                      },
		{"\x80",					 1,  "last count is truncated" },
		{"\x02\xff\xff\xff\xff\xff\xff\xff\xff",         9,  "last count is truncated" },
 /* -2^63 */
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff",         9,  "bins beyond 137438953471"},
 /* 2^63 - 1 samples of 0, the maximum */
		{"\xfe\xff\xff\xff\xff\xff\xff\xff\xff",         9,  NULL                      },
 /* 2^63 - 1 of 1, and another */
		{"\x00\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11, "more than 2^63"          },
 /* -28673 */
		{"\x81\xc0\x03",				 3,  "bins beyond 137438953471"},
 /* -28672: all bins empty, and then one more count of any kind */
		{"\xff\xbf\x03",				 3,  NULL                      },
		{"\xff\xbf\x03\x00",                             4,  "bins beyond 137438953471"},
		{"\xff\xbf\x03\x01",                             4,  "bins beyond 137438953471"},
		{"\xff\xbf\x03\x02",                             4,  "bins beyond 137438953471"},
 /* -28671, and one sample in the last bin */
		{"\xfd\xbf\x03\x02",                             4,  NULL                      },
	};
	uint8_t payload[HEAD_BYTES + 16];

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		check_payload(payload, make_payload(payload, rows[i].counts, rows[i].size),
			      rows[i].reason);
	assert_int_equal(decoded.count, 1);
	assert_int_equal(decoded.bins[HIST_BINS - 1], 1);
	assert_int_equal(decoded.max, TOP);
}

/* The longest valid payload has nine bytes for every bin; one more byte is rejected. */
static void test_bombs(void **unused)
{
	size_t size = 16 << 20;
	uint8_t *payload = calloc(1, size);
	uint8_t *counts = calloc(HIST_BINS, 9);

	assert_non_null(payload);
	assert_non_null(counts);
	for (size_t i = 0; i < HIST_BINS; i++) {
		memset(counts + 9 * i, 0x80, 8);
		counts[9 * i] = 0x82;
	}
	check_payload(payload, make_payload(payload, counts, MOST_BYTES - HEAD_BYTES), NULL);
	assert_int_equal(decoded.count, HIST_BINS);
	check_payload(payload, MOST_BYTES + 1, "decompresses to more than all bins can hold");
	check_payload(payload, size, "decompresses to more than all bins can hold");
	free(payload);
	free(counts);
}

static void test_damage(void **unused)
{
	uint8_t payload[HEAD_BYTES + 3];
	size_t size = make_payload(payload, "\x00\x02\x04", 3);
	char *text = wrap(payload, size, 0, 0);
	size_t length = strlen(text);

	for (size_t i = 0; i < length; i++) {
		char kept = text[i];

		text[i] = kept == 'A' ? 'B' : 'A';
		if (text[length - 2] != '=' || i != length - 3)
			assert_int_equal(hdr_decode(&decoded, text, NULL), -EINVAL);
		text[i] = kept;
	}
	while (length-- > 0) {
		text[length] = '\0';
		assert_int_equal(hdr_decode(&decoded, text, NULL), -EINVAL);
	}
	free(text);
	text = wrap(payload, size, 0, 1);
	check_refused(text, "expected ");
	free(text);
	text = wrap(payload, size, 1, 0);
	check_refused(text, "expected ");
	free(text);
	text = wrap(payload, size, 1, 1);
	check_refused(text, "compressed data is damaged");
	free(text);
}

static void test_random_payloads(void **unused)
{
	uint64_t random = 2463534242;
	int good = 0;

	for (int i = 0; i < 2000; i++) {
		uint8_t payload[HEAD_BYTES + 64];
		uint8_t counts[64];
		uint64_t sum = 0;
		char *text;

		for (size_t at = 0; at < sizeof(counts); at++)
			counts[at] = (uint8_t)(next_random(&random) >> (56 + i % 6));
		text = wrap(payload, make_payload(payload, counts, sizeof(counts)), 0, 0);
		good += hdr_decode(&decoded, text, NULL) == 0;
		free(text);
		for (size_t bin = 0; bin < HIST_BINS; bin++)
			sum += decoded.bins[bin];
		assert_int_equal(decoded.count, sum);
	}
	assert_true(good > 100 && good < 2000);
}

static void test_without_memory(void **unused)
{
	char *text;

	hist_add(&hist, 5);
	text = hdr_encode(&hist, &error);
	assert_non_null(text);
	for (int i = 0; i < 3; i++) {
		error = (struct error){0};
		allocations_left = i;
		assert_null(hdr_encode(&hist, &error));
		allocations_left = -1;
		assert_int_equal(error.code, -ENOMEM);
	}
	for (int i = 0; i < 2; i++) {
		error = (struct error){0};
		allocations_left = i;
		assert_int_equal(hdr_decode(&decoded, text, &error), -ENOMEM);
		allocations_left = -1;
		assert_contains(error.text, "HdrHistogram string: cannot de");
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_nothing, reset),
		cmocka_unit_test_setup(test_one_sample, reset),
		cmocka_unit_test_setup(test_edges, reset),
		cmocka_unit_test_setup(test_every_bin, reset),
		cmocka_unit_test_setup(test_a_million, reset),
		cmocka_unit_test_setup(test_over_is_left_out, reset),
		cmocka_unit_test_setup(test_large_counts, reset),
		cmocka_unit_test_setup(test_reference, reset),
		cmocka_unit_test_setup(test_moments, reset),
		cmocka_unit_test_setup(test_other_histograms, reset),
		cmocka_unit_test_setup(test_no_histograms, reset),
		cmocka_unit_test_setup(test_heads, reset),
		cmocka_unit_test_setup(test_counts, reset),
		cmocka_unit_test_setup(test_bombs, reset),
		cmocka_unit_test_setup(test_damage, reset),
		cmocka_unit_test_setup(test_random_payloads, reset),
		cmocka_unit_test_setup(test_without_memory, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
