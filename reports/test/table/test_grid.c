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
	grid_text(&(struct terminal){.out = out}, &grid);
	assert_shown("name        us  remark\n"
		     "a, b|< 12345.5  say \"so\"\n"
		     "\xc2\xb5          0.5  \n");
}

/* Single rows have the given column widths, whatever the width of other rows. */
static void test_text_row(void **unused)
{
	const struct terminal terminal = {.out = out};
	const char *next;

	fill();
	grid_text_titles(&terminal, &grid);
	next = grid_text_row(&terminal, &grid, grid_cells(&grid));
	fputc('\n', out);
	grid_text_row(&terminal, &grid, next);
	assert_shown("name\n"
		     "   us  remark\n"
		     "a, b|<\n"
		     " 12345.5  say \"so\"\n"
		     "\xc2\xb5\n"
		     "  0.5  ");
}

/* A long title takes two lines; a heading shares the first if both fit. */
static void test_two_lines(void **unused)
{
	const struct terminal terminal = {.out = out};
	const struct grid_column columns[] = {
		{"",			 GRID_WORDS,   8},
		{"thousands every second",   GRID_FIGURES, 0},
		{"CPU us/msg client/server", GRID_WORDS,   0},
	};

	grid.n_columns = 0;
	grid_add_columns(&grid, columns, ARRAY_LENGTH(columns));
	grid_fit(&grid);
	grid_text_heading(&terminal, &grid, "SHORT");
	grid_text_heading(&terminal, &grid, "A LONG HEADING");
	grid_text_titles(&terminal, &grid);
	assert_shown("SHORT    thousands every  CPU us/msg\n"
		     "A LONG HEADING\n"
		     "         thousands every  CPU us/msg\n"
		     "                  second  client/server\n");
}

/* The column of the highest rank goes first; without a rank, a column stays. */
static void test_squeeze(void **unused)
{
	const struct terminal narrow = {.out = out, .width = 12};

	fill();
	grid_rank(&grid, "us", 1);
	grid_rank(&grid, "remark", 2);
	grid_rank(&grid, "none", 3);
	grid_fit(&grid);
	assert_int_equal(grid_width(&grid), 6 + 1 + 7 + 2 + 8);
	grid_squeeze(&grid, 24);
	assert_false(grid.views[2].is_hidden);
	grid_squeeze(&grid, 23);
	assert_true(grid.views[2].is_hidden);
	assert_false(grid.views[1].is_hidden);
	grid_text(&narrow, &grid);
	assert_shown("name  \na, b|<\n\xc2\xb5     \n");
}

/* Words at the end of a row continue below themselves. */
static void test_wrapped_words(void **unused)
{
	fill();
	grid_text(&(struct terminal){.out = out, .width = 20}, &grid);
	assert_shown("name        us  remark\n"
		     "a, b|< 12345.5  say\n"
		     "                \"so\"\n"
		     "\xc2\xb5          0.5  \n");
}

static const char *color(const char *cell)
{
	return *cell == 'a' ? terminal_red : NULL;
}

static void test_colors(void **unused)
{
	fill();
	grid.views[0].color = color;
	grid_text(&(struct terminal){.out = out, .is_colored = true}, &grid);
	assert_shown("\033[2mname\033[m        \033[2mus\033[m  \033[2mremark\033[m\n"
		     "\033[31ma, b|<\033[m 12345.5  say \"so\"\n"
		     "\xc2\xb5          0.5  \n");
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
	grid_text(&(struct terminal){.out = out}, &grid);
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
	grid_text(&(struct terminal){.out = out}, &grid);
	assert_shown("error\nnot enough memory for this table\n");
}

#define on_grid(test) cmocka_unit_test_setup_teardown(test, open_grid, close_grid)

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_grid(test_text),    on_grid(test_text_row),
		on_grid(test_colors),  on_grid(test_two_lines),
		on_grid(test_squeeze), on_grid(test_wrapped_words),
		on_grid(test_csv),     on_grid(test_markdown),
		on_grid(test_page),    on_grid(test_markdown_without_room),
		on_grid(test_no_rows), on_grid(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
