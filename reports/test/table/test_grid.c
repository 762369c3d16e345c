/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "core/test/lib/check.h"
#include "reports/page/table.h"
#include "reports/table/grid.h"
#include "reports/table/markdown_writer.h"

static struct grid grid;
static FILE *out;
static char *text;
static size_t length;

static int open_grid(void **unused)
{
	static const struct grid_column columns[] = {
		{"name",   GRID_WORDS,   0},
		{"us",     GRID_FIGURES, 4},
		{"remark", GRID_WORDS,   0},
	};

	grid_open(&grid);
	grid_add_columns(&grid, columns, ARRAY_LENGTH(columns));
	out = open_memstream(&text, &length);
	return !out;
}

static int close_grid(void **unused)
{
	grid_close(&grid);
	fclose(out);
	free(text);
	return 0;
}

static void fill(void)
{
	grid_begin(&grid, "%s", "a, ");
	grid_put(&grid, "%c|<", 'b');
	grid_put(&grid, "%.1f", 12345.5);
	grid_put(&grid, "say \"%s\"", "so");
	/* Two bytes are one character. */
	grid_put(&grid, "\xc2\xb5");
	grid_put_exact(&grid, 0.5);
	grid_put_exact(&grid, (double)NAN);
}

static void assert_shown(const char *wanted)
{
	fflush(out);
	assert_string_equal(text, wanted);
}

static void test_text(void **unused)
{
	fill();
	grid_text(out, &grid);
	assert_shown("name        us  remark\n"
		     "a, b|< 12345.5  say \"so\"\n"
		     "\xc2\xb5          0.5  \n");
}

/* Single rows have the given column widths, whatever the width of other rows. */
static void test_text_row(void **unused)
{
	const char *next;

	fill();
	grid_text_row(out, &grid, NULL);
	fputc('\n', out);
	next = grid_text_row(out, &grid, grid_cells(&grid));
	fputc('\n', out);
	grid_text_row(out, &grid, next);
	assert_shown("name   us  remark\n"
		     "a, b|< 12345.5  say \"so\"\n"
		     "\xc2\xb5  0.5  ");
}

static void test_csv(void **unused)
{
	fill();
	grid_csv(out, &grid);
	assert_shown("name,us,remark\n"
		     "\"a, b|<\",12345.5,\"say \"\"so\"\"\"\n"
		     "\xc2\xb5,0.5,\n");
}

static void test_markdown(void **unused)
{
	struct markdown page = {.out = out, .room = 1000};

	fill();
	markdown_grid(&page, &grid);
	assert_shown("\n| name | us | remark |\n"
		     "| :-- | --: | :-- |\n"
		     "| a, b\\|&#60; | 12345.5 | say \"so\" |\n"
		     "| \xc2\xb5 | 0.5 |  |\n");
}

/* Both lines of titles count as one. */
static void test_markdown_without_room(void **unused)
{
	struct markdown page = {.out = out};

	fill();
	markdown_grid(&page, &grid);
	assert_shown("");
	assert_int_equal(page.left_out, 3);
}

static void test_page(void **unused)
{
	fill();
	page_table(out, &grid);
	assert_shown(
		"<div class=\"table\" tabindex=\"0\"><table border=\"1\" cellspacing=\"0\" cellpadding=\"4\">\n"
		"<thead align=\"right\"><tr><th scope=\"col\" align=\"left\">name</th>"
		"<th scope=\"col\">us</th><th scope=\"col\" align=\"left\">remark</th></tr>\n"
		"</thead>\n<tbody align=\"right\">\n"
		"<tr><th scope=\"row\" align=\"left\">a, b|&lt;</th>"
		"<td>12345.5</td><td align=\"left\">say &quot;so&quot;</td></tr>\n"
		"<tr><th scope=\"row\" align=\"left\">\xc2\xb5</th>"
		"<td>0.5</td><td align=\"left\"></td></tr>\n"
		"</tbody>\n</table></div>\n");
}

static void test_no_rows(void **unused)
{
	struct markdown page = {.out = out, .room = 1000};

	markdown_grid(&page, &grid);
	grid_text(out, &grid);
	grid_csv(out, &grid);
	assert_shown("name   us  remark\nname,us,remark\n");
}

/* If rows are missing, the table says so. */
static void test_no_memory(void **unused)
{
	fill();
	fclose(grid.memory);
	grid.memory = NULL;
	grid_put(&grid, "more");
	grid_text(out, &grid);
	assert_shown("error\nnot enough memory for this table\n");
}

#define on_grid(test) cmocka_unit_test_setup_teardown(test, open_grid, close_grid)

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_grid(test_text),    on_grid(test_text_row),
		on_grid(test_csv),     on_grid(test_markdown),
		on_grid(test_page),    on_grid(test_markdown_without_room),
		on_grid(test_no_rows), on_grid(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
