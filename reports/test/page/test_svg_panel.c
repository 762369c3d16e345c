/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "core/base/compiler.h"
#include "core/test/lib/check.h"
#include "reports/page/chart.h"
#include "reports/result/digits.h"

static char *text;

static int release(void **unused)
{
	free(text);
	text = NULL;
	return 0;
}

static struct chart make_chart(void)
{
	struct chart chart = {.title = "A & B", .least = 1};

	axis_open(&chart.x, AXIS_SIZES);
	axis_open(&chart.y, AXIS_LOG);
	chart.x.title = "size";
	chart.y.title = "latency";
	chart.y.unit_name = "us";
	chart.y.unit = 1000;
	return chart;
}

static void add(struct chart *chart, const char *panel, const char *series, double x, double y)
{
	const struct svg_panel_point point = {x, y, (double)NAN, (double)NAN, "send/lat", NULL};

	chart_add(chart, panel, series, &point);
}

static void print(struct chart *chart)
{
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	chart_print(out, chart);
	assert_int_equal(fclose(out), 0);
}

static size_t count(const char *part)
{
	size_t n = 0;

	for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
		n++;
	return n;
}

/* Exact numbers have as many digits as necessary, and no more. */
static void test_numbers(void **unused)
{
	static const struct {
		double value;
		const char *exact;
		const char *with_five;
	} rows[] = {
		{64,                 "64",                 "64"         },
		{0.1,                "0.1",                "0.1"        },
		{1. / 3,             "0.3333333333333333", "0.33333"    },
		{1234567,            "1234567",            "1234567"    },
		{12400000.5,         "12400000.5",         "12400000"   },
		{6544713251.0476189, "6544713251.047619",  "6544713251" },
		{99999.7,            "99999.7",            "100000"     },
		{5e-324,             "4.94066e-324",       "4.9407e-324"},
		{1e300,              "1e+300",             "1e+300"     },
	};
	char number[HTML_NUMBER];

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		html_exact(number, rows[i].value);
		assert_string_equal(number, rows[i].exact);
		html_short(number, rows[i].value, 5);
		assert_string_equal(number, rows[i].with_five);
	}
}

static void test_sizes(void **unused)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} rows[] = {
		{0,                 "0"    },
		{64,                "64"   },
		{1000,              "1000" },
		{4096,              "4k"   },
		{1 << 20,           "1M"   },
		{1536,              "1536" },
		{UINT64_C(3) << 40, "3072G"},
	};
	char size[DIGITS_SIZE];

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		digits_size(size, rows[i].bytes);
		assert_string_equal(size, rows[i].text);
	}
}

/* Points may be added in any order; names are escaped. */
static void test_series(void **unused)
{
	struct chart chart = make_chart();

	chart.is_told_elsewhere = true;
	add(&chart, "<one>", "p50", 4096, 2000);
	add(&chart, "two", "p99", 64, 3000);
	add(&chart, "<one>", "p50", 64, 1000);
	add(&chart, "<one>", "a<b", 64, 5000);
	print(&chart);
	assert_contains(text, "<h4>A &amp; B</h4>");
	assert_contains(text, "<title>&lt;one&gt;</title>");
	assert_contains(text, "<desc>p50: from 1 us at 64 to 2 us at 4k; "
			      "a&lt;b: from 5 us at 64 to 5 us at 64.</desc>");
	assert_contains(text, "<g data-series=\"a&lt;b\"");
	assert_contains(text, " data-x=\"64\" data-y=\"1000\" data-case=\"send/lat\">"
			      "<title>p50 at 64: 1 us</title></path>\n<path d=");
	assert_int_equal(count("<svg "), 2);
	assert_int_equal(count("data-case="), 4);
	/* A series looks the same in all panels. */
	assert_int_equal(count("<g data-series=\"p99\" fill=\"#d55e00\""), 1);
	assert_int_equal(count("<table"), 0);
}

static void test_table(void **unused)
{
	struct chart chart = make_chart();
	const struct svg_panel_point with = {64, 1500, 1250, 1750, "send/lat", NULL};

	add(&chart, "one", "p50", 4096, 2000);
	chart_add(&chart, "one", "p50", &with);
	add(&chart, "one", "p99", 64, 9000);
	print(&chart);
	assert_contains(text, "<th scope=\"col\">p50, us</th><th scope=\"col\">p99, us</th></tr>");
	assert_contains(text, "<tr><th scope=\"row\" align=\"left\">one</th>"
			      "<td>64</td><td>1.50 (1.25..1.75)</td><td>9.00</td></tr>");
	assert_contains(text, "<td>4k</td><td>2.00</td><td></td></tr>\n</tbody>");
	assert_contains(text, "p50 at 64: 1.5 us (1.25..1.75)");
	assert_contains(text, " data-low=\"1250\" data-high=\"1750\"");
}

/* Names that do not fit are cut between characters where they are drawn, but not in titles. */
static void test_long_names(void **unused)
{
	struct chart chart = make_chart();
	char name[128] = "";

	for (int i = 0; i < 60; i++)
		snprintf(name + strlen(name), sizeof(name) - strlen(name), "\xc2\xb5");
	add(&chart, name, "read/registered-once", 64, 1000);
	add(&chart, name, "read/registered-each", 64, 1000);
	add(&chart, name, "read", 64, 1000);
	print(&chart);
	snprintf(name + strlen(name), sizeof(name) - strlen(name), "</title>");
	assert_contains(text, name);
	assert_contains(text, "\xc2\xb5\xe2\x80\xa6</text>");
	assert_contains(text, ">read/registered-once</text>");
	/* Two names per row. */
	assert_contains(text, "y=\"46\">read</text>");
}

static void test_bounds(void **unused)
{
	struct chart chart = make_chart();
	char name[32];

	for (int i = 0; i < CHART_PANELS + 2; i++) {
		snprintf(name, sizeof(name), "panel %d", i);
		for (int j = 0; j < CHART_SERIES + 1; j++) {
			char series[32];

			snprintf(series, sizeof(series), "series %d", j);
			add(&chart, name, series, 64, 1);
		}
	}
	for (int i = 0; i < 2 * CHART_POINTS; i++)
		add(&chart, "panel 0", "series 0", i + 100, 1);
	assert_int_equal(chart.n_points, CHART_POINTS);
	print(&chart);
	assert_int_equal(count("<svg "), CHART_PANELS);
	assert_int_equal(count("data-case="), CHART_POINTS);
	assert_contains(text, " more values do not fit in this figure.");
}

/* Lines need two points, and values that are not finite are not drawn. */
static void test_too_few_points(void **unused)
{
	struct chart chart = make_chart();

	chart.least = 2;
	add(&chart, "one", "p50", 64, 1);
	add(&chart, "one", "p99", 128, 1);
	add(&chart, "one", "p50", 128, (double)NAN);
	add(&chart, "one", "p50", HUGE_VAL, 1);
	print(&chart);
	assert_string_equal(text, "");
}

static void test_level(void **unused)
{
	struct chart chart = make_chart();

	chart.level = (struct svg_panel_level){5e6, "the limit"};
	add(&chart, "one", "p50", 64, 1000);
	print(&chart);
	assert_contains(text, "<g data-level data-either data-value=\"5e+06\"");
	assert_contains(text, "data-most=\"5e+06\"");
	assert_contains(text, ">the limit</text>");
}

/* The name of each series in the legend finds its marks. */
static void test_legend(void **unused)
{
	struct chart chart = make_chart();

	add(&chart, "one", "p50", 64, 1000);
	add(&chart, "one", "<", 64, 2000);
	add(&chart, "two", "p50", 64, 1000);
	print(&chart);
	assert_int_equal(count("<g data-label=\"p50\">"), 2);
	assert_int_equal(count("<g data-series=\"p50\""), 2);
	assert_int_equal(count("<g data-label=\"&lt;\">"), 1);
	assert_int_equal(count("<g data-series=\"&lt;\""), 1);
}

/*
 * The axis of values, and everything along it, also exists with the other scale. Pixels by hand: x
 * is from 52 to 348, y from 207 up to 43; 10 is halfway from 1 to 100 on a logarithmic axis, and at
 * one tenth from 0 to 100 on a linear one.
 */
static void test_other_scale(void **unused)
{
	struct chart chart = make_chart();

	add(&chart, "one", "p50", 64, 1000);
	add(&chart, "one", "p50", 128, 10000);
	add(&chart, "one", "p50", 256, 100000);
	print(&chart);
	assert_contains(text, " d=\"M52.0 207.0L200.0 125.0L348.0 43.0\""
			      " data-d=\"M52.0 205.4L200.0 190.6L348.0 43.0\"/>");
	assert_contains(text, "<path d=\"M200.0 125.0m0-3a3 3 0 1 1-.01 0z\""
			      " data-d=\"M200.0 190.6\" data-x=\"128\"");
	assert_contains(text, "<g data-axis=\"y\" data-scale=\"log\" data-either data-unit");
	assert_contains(text, "<g data-axis=\"y\" data-scale=\"linear\" data-either "
			      "display=\"none\" data-unit");
	assert_int_equal(count("data-axis=\"x\""), 1);
}

/* A panel without a value above zero has no logarithmic scale. */
static void test_no_other_scale(void **unused)
{
	struct chart chart = make_chart();

	axis_open(&chart.y, AXIS_LINEAR);
	chart.y.title = "latency";
	add(&chart, "one", "p50", 64, 1000);
	add(&chart, "two", "p50", 64, 0);
	print(&chart);
	assert_int_equal(count("data-d=") + count("data-either"), 0);
}

/* If the interval is unknown, only the point is drawn. */
static void test_intervals(void **unused)
{
	struct chart chart = make_chart();
	const struct svg_panel_point with = {2, 1, 1.5, 2.5, "send/lat", NULL};
	const struct svg_panel_point without = {3, 2, (double)NAN, (double)NAN, "read/lat", NULL};

	chart.mark = SVG_PANEL_INTERVALS;
	chart.is_told_elsewhere = true;
	axis_open(&chart.x, AXIS_RATIO);
	chart_add(&chart, "one", "p50", &with);
	chart_add(&chart, "one", "p50", &without);
	print(&chart);
	assert_int_equal(count("data-case="), 2);
	assert_int_equal(count("stroke-width=\"2\""), 1);
	assert_contains(text, "<title>send/lat, p50: 2 (1.5..2.5)</title>");
	assert_contains(text, "<title>read/lat, p50: 3</title>");
	assert_null(strstr(text, "nan"));
}

#define on_text(test) cmocka_unit_test_teardown(test, release)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers), cmocka_unit_test(test_sizes),
		on_text(test_series),           on_text(test_table),
		on_text(test_long_names),       on_text(test_bounds),
		on_text(test_too_few_points),   on_text(test_level),
		on_text(test_legend),           on_text(test_intervals),
		on_text(test_other_scale),      on_text(test_no_other_scale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
