/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "bench/cli/option.h"
#include "bench/test/unit.d/words.h"

struct target {
	const char *name;
	const char *operand;
	const struct option_value *color;
	unsigned int wait_ms;
	uint16_t port;
	bool all;
	bool bare;
};

static const struct option_value names[] = {
	{"red",   "the color of fire" },
	{"green", "the color of grass"},
};

// clang-format off
static const struct option_row rows[] = {
	{"all", 'a', NULL, option_flag, offsetof(struct target, all),
	 "everything", .group = OPTION_WHAT},
	{"bare", 'b', NULL, option_flag, offsetof(struct target, bare),
	 "without extra", .group = OPTION_HOW, .is_rare = true},
	{"name", 'n', "NAME", option_text, offsetof(struct target, name),
	 "what to call", .group = OPTION_WHAT, .may_repeat = true},
	{"port", 'p', "PORT", option_port, offsetof(struct target, port),
	 "where to", .group = OPTION_WHERE},
	{"wait", 0, "TIME", option_duration, offsetof(struct target, wait_ms),
	 "how long", .group = OPTION_HOW},
	{"color", 0, "NAME", NULL, offsetof(struct target, color),
	 "which color", .group = OPTION_WHAT, .values = OPTION_VALUES(names)},
};
// clang-format on
static const struct option_table with_operand = {.rows = rows,
						 .count = ARRAY_LENGTH(rows),
						 .operand = "HOST",
						 .operand_offset =
							 offsetof(struct target, operand)};
static const struct option_table without_operand = {.rows = rows, .count = ARRAY_LENGTH(rows)};

static bool equal(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static void test_good_lines(void **unused)
{
	static const struct {
		const char *line;
		struct target target;
	} good[] = {
		{"",                {0}						},
		{"--all",           {.all = true}                                      },
		{"-a",              {.all = true}				      },
		{"-ab",             {.all = true, .bare = true}                        },
		{"-a|-a|--all",     {.all = true}                                      },
		{"--port|8",        {.port = 8}					},
		{"--port=8",        {.port = 8}					},
		{"-p|8",            {.port = 8}					},
		{"-p8",             {.port = 8}					},
		{"-abp8",           {.all = true, .bare = true, .port = 8}             },
		{"-abp|8",          {.all = true, .bare = true, .port = 8}             },
		{"--name=a=b",      {.name = "a=b"}                                    },
		{"-n=b",            {.name = "=b"}                                     },
		{"--name|-a",       {.name = "-a"}                                     },
		{"--name|--",       {.name = "--"}                                     },
		{"-n|--help",       {.name = "--help"}                                 },
		{"--wait|500ms",    {.wait_ms = 500}                                   },
		{"a.example",       {.operand = "a.example"}                           },
		{"-a|a.example|-b", {.operand = "a.example", .all = true, .bare = true}},
		{"-",               {.operand = "-"}                                   },
		{"--|-a",           {.operand = "-a"}                                  },
		{"-b|--|--help",    {.operand = "--help", .bare = true}                },
		{"a.example|--",    {.operand = "a.example"}                           },
		{"--al|--ba",       {.all = true, .bare = true}                        },
		{"--n=b",           {.name = "b"}                                      },
		{"-nc|-nb",         {.name = "b"}                                      },
		{"--color|red",     {.color = &names[0]}                               },
		{"--col=green",     {.color = &names[1]}                               },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(good); i++) {
		const struct target *wanted = &good[i].target;
		struct target target = {0};
		struct error error = {0};
		struct words words;

		words_init(&words, good[i].line);
		assert_int_equal(
			option_parse(&with_operand, words.argc, words.argv, &target, &error), 0);
		assert_int_equal(error.code, 0);
		assert_true(equal(target.name, wanted->name));
		assert_true(equal(target.operand, wanted->operand));
		assert_int_equal(target.wait_ms, wanted->wait_ms);
		assert_int_equal(target.port, wanted->port);
		assert_int_equal(target.all, wanted->all);
		assert_int_equal(target.bare, wanted->bare);
		assert_ptr_equal(target.color, wanted->color);
	}
}

static void check_refusal(const struct option_table *table, const char *line, const char *text)
{
	struct target target = {0};
	struct error error = {0};
	struct words words;

	words_init(&words, line);
	assert_int_equal(option_parse(table, words.argc, words.argv, &target, &error), -EINVAL);
	assert_int_equal(error.code, -EINVAL);
	assert_string_equal(error.text, text);
}

static void test_bad_lines(void **unused)
{
	static const char *const bad[][2] = {
		{"--size",              "unknown option '--size'; see --help"                  },
		{"--size=red",          "unknown option '--size'; see --help"                  },
		{"--allx",              "unknown option '--allx'; did you mean '--all'?"       },
		{"--prot|1",            "unknown option '--prot'; did you mean '--port'?"      },
		{"--helpp",             "unknown option '--helpp'; did you mean '--help'?"     },
		{"--h",                 "option '--h' is ambiguous: --help, --help-all"        },
		{"--=x",                "unknown option '--'; see --help"                      },
		{"---all",              "unknown option '---all'; did you mean '--all'?"       },
		{"-x",                  "unknown option '-x'; see --help"                      },
		{"-ax",                 "unknown option '-x'; see --help"                      },
		{"-a-",                 "unknown option '--'; see --help"                      },
		{"--all=yes",           "--all takes no value"                                 },
		{"--all=",              "--all takes no value"                                 },
		{"--port",              "--port needs a value: PORT"                           },
		{"-p",                  "--port needs a value: PORT"                           },
		{"-abp",                "--port needs a value: PORT"                           },
		{"--port|65536",        "--port: '65536' is not a port number (0 to 65535)"    },
		{"-p-1",                "--port: '-1' is not a port number (0 to 65535)"       },
		{"--port=",             "--port: '' is not a port number (0 to 65535)"         },
		{"-p|8|-p|x",           "--port is given twice"                                },
		{"-p|8|--port=8",       "--port is given twice"                                },
		{"--name=",             "--name: '' is empty"                                  },
		{"--name|",             "--name: '' is empty"                                  },
		{"--wait|10d",          "--wait: '10d' is not a time (e.g. 10s or 500ms)"      },
		{"--color|grene",       "--color: unknown value 'grene'; did you mean 'green'?"},
		{"--color|blue",        "--color: unknown value 'blue'; use red or green"      },
		{"a.example|b.example", "unexpected argument 'b.example': HOST is 'a.example'" },
		{"a.example|--|-a",     "unexpected argument '-a': HOST is 'a.example'"        },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++)
		check_refusal(&with_operand, bad[i][0], bad[i][1]);
	check_refusal(&without_operand, "a.example", "unexpected argument 'a.example'");
	check_refusal(&without_operand, "--|-a", "unexpected argument '-a'");
}

/* The error has a bounded length, even if a value is as long as a command line may be. */
static void test_long_value(void **unused)
{
	struct target target = {0};
	struct error error = {0};
	struct words words;
	char line[4096];

	memset(line, '7', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	memcpy(line, "--port=", 7);
	words_init(&words, line);
	assert_int_equal(option_parse(&with_operand, words.argc, words.argv, &target, &error),
			 -EINVAL);
	assert_contains(error.text, "--port: '7777");
	line[2] = 'x';
	words_init(&words, line);
	error.code = 0;
	assert_int_equal(option_parse(&with_operand, words.argc, words.argv, &target, &error),
			 -EINVAL);
	assert_contains(error.text, "unknown option '--xort'");
}

static void check_request(const char *line, enum option_request request, bool has_values)
{
	const struct option_values *values;
	struct target target = {0};
	struct error error = {0};
	struct words words;

	words_init(&words, line);
	assert_int_equal(option_parse(&with_operand, words.argc, words.argv, &target, &error),
			 request);
	assert_int_equal(error.code, 0);
	assert_int_equal(option_find_request(&with_operand, words.argc, words.argv, &values),
			 request);
	assert_ptr_equal(values, has_values ? &rows[5].values : NULL);
}

static void test_requests(void **unused)
{
	check_request("--help", OPTION_HELP, false);
	check_request("-h", OPTION_HELP, false);
	check_request("-a|--help|--nonsense", OPTION_HELP, false);
	check_request("a|-h|b", OPTION_HELP, false);
	check_request("-p|8|--help-all|--help", OPTION_HELP_ALL, false);
	check_request("--help-a", OPTION_HELP_ALL, false);
	check_request("--color|help", OPTION_LIST, true);
	check_request("a|--col=help|-h", OPTION_LIST, true);
}

/* Options that are part of larger rows, in a table that another one chains to. */
struct part {
	struct option_row option;
	unsigned int number;
};

static const struct part parts[] = {
	{{.name = "list",
	  .letter = 'l',
	  .argument = "[N]",
	  .help = "may be alone",
	  .group = OPTION_WHAT},
	 7},
	{{.name = "size",
	  .letter = 's',
	  .argument = "SIZE",
	  .help = "may not",
	  .group = OPTION_WHAT},
	 8},
	{{.name = "room",
	  .argument = "[ SIZE]",
	  .help = "may be the next word",
	  .group = OPTION_WHAT},
	 9},
};

/* The last arguments of take_part(). */
static struct {
	unsigned int number;
	const char *text;
	void *target;
} given;

static const char *take_part(const struct option_row *row, const char *text, void *target)
{
	const struct part *part = (const void *)row;

	given.number = part->number;
	given.text = text;
	given.target = target;
	return text && *text == '!' ? "is refused" : NULL;
}

static const struct option_table second = {.rows = &parts[0].option,
					   .count = ARRAY_LENGTH(parts),
					   .stride = sizeof(parts[0]),
					   .parse = take_part,
					   .operand = "NOBODY"};
static const struct option_table chained = {.rows = rows,
					    .count = ARRAY_LENGTH(rows),
					    .operand = "HOST",
					    .operand_offset = offsetof(struct target, operand),
					    .next = &second};

/* An optional value may be the next word only if the row says so. */
static void test_chained_table(void **unused)
{
	static const struct {
		const char *line;
		const char *text;
		const char *operand;
		unsigned int number;
		bool all;
		bool bare;
	} good[] = {
		{"--size|4k", "4k", NULL, 8, false, false},
		{"--size=4k", "4k", NULL, 8, false, false},
		{"-s4k",      "4k", NULL, 8, false, false},
		{"-abs|4k",   "4k", NULL, 8, true,  true },
		{"--list",    NULL, NULL, 7, false, false},
		{"--list=3",  "3",  NULL, 7, false, false},
		{"--list=",   "",   NULL, 7, false, false},
		{"-l",        NULL, NULL, 7, false, false},
		{"--list|3",  NULL, "3",  7, false, false},
		{"-l|3",      NULL, "3",  7, false, false},
		{"-la",       NULL, NULL, 7, true,  false},
		{"--room",    NULL, NULL, 9, false, false},
		{"--room|4k", "4k", NULL, 9, false, false},
		{"--room=4k", "4k", NULL, 9, false, false},
		{"--room|h4", NULL, "h4", 9, false, false},
		{"h4|--room", NULL, "h4", 9, false, false},
		{"--room|-a", NULL, NULL, 9, true,  false},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(good); i++) {
		struct target target = {0};
		struct error error = {0};
		struct words words;

		memset(&given, 0, sizeof(given));
		words_init(&words, good[i].line);
		assert_int_equal(option_parse(&chained, words.argc, words.argv, &target, &error),
				 0);
		assert_int_equal(given.number, good[i].number);
		assert_true(equal(given.text, good[i].text));
		assert_ptr_equal(given.target, given.number ? &target : NULL);
		assert_int_equal(target.all, good[i].all);
		assert_int_equal(target.bare, good[i].bare);
		assert_true(equal(target.operand, good[i].operand));
	}
}

static void test_chained_table_rejects(void **unused)
{
	static const char *const bad[][2] = {
		{"--size",          "--size needs a value: SIZE"                     },
		{"-s",              "--size needs a value: SIZE"                     },
		{"--size|!",        "--size: '!' is refused"                         },
		{"--list=!",        "--list: '!' is refused"                         },
		{"--list|--list=3", "--list is given twice"                          },
		{"-l3",             "unknown option '-3'; see --help"                },
		{"--lsit",          "unknown option '--lsit'; did you mean '--list'?"},
		{"--all=3",         "--all takes no value"                           },
		{"-Y",              "unknown option '-Y'; see --help"                },
		{"a|b",             "unexpected argument 'b': HOST is 'a'"           },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++)
		check_refusal(&chained, bad[i][0], bad[i][1]);
}

static bool is_other_than_list(const struct option_row *row)
{
	return strcmp(row->name, "list") != 0;
}

/* Describes only "list"; the other rows are accepted, but not listed. */
static const char *say_less(const struct option_row *row)
{
	return strcmp(row->name, "list") != 0 ? NULL : "less than that";
}

static const struct option_table first_of_second = {.next = &second, .hides = is_other_than_list};
static const struct option_table less_of_second = {
	.next = &second, .hides = is_other_than_list, .says = say_less};

static void check_printed(const struct option_table *table, bool with_all, const char *wanted)
{
	char text[1024] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	assert_non_null(out);
	option_print(table, with_all, out);
	fclose(out);
	assert_string_equal(text, wanted);
}

static void test_printed_options(void **unused)
{
	check_printed(&with_operand, false,
		      "What to measure:\n"
		      "  -a, --all                   everything\n"
		      "  -n, --name NAME             what to call\n"
		      "      --color NAME            which color\n"
		      "\nHow to measure:\n"
		      "      --wait TIME             how long\n"
		      "\nWhere to measure:\n"
		      "  -p, --port PORT             where to\n"
		      "\nHelp:\n"
		      "  -h, --help                  show this help\n"
		      "      --help-all              show all options\n");
	check_printed(&second, false,
		      "What to measure:\n"
		      "  -l, --list[=N]              may be alone\n"
		      "  -s, --size SIZE             may not\n"
		      "      --room [SIZE]           may be the next word\n"
		      "\nHelp:\n"
		      "  -h, --help                  show this help\n");
	check_printed(&first_of_second, true,
		      "What to measure:\n"
		      "  -l, --list[=N]              may be alone\n"
		      "\nHelp:\n"
		      "  -h, --help                  show this help\n");
	check_printed(&less_of_second, true,
		      "What to measure:\n"
		      "  -l, --list[=N]              less than that\n"
		      "\nHelp:\n"
		      "  -h, --help                  show this help\n");
	check_printed(&chained, true,
		      "What to measure:\n"
		      "  -a, --all                   everything\n"
		      "  -n, --name NAME             what to call\n"
		      "      --color NAME            which color\n"
		      "  -l, --list[=N]              may be alone\n"
		      "  -s, --size SIZE             may not\n"
		      "      --room [SIZE]           may be the next word\n"
		      "\nHow to measure:\n"
		      "  -b, --bare                  without extra\n"
		      "      --wait TIME             how long\n"
		      "\nWhere to measure:\n"
		      "  -p, --port PORT             where to\n"
		      "\nHelp:\n"
		      "  -h, --help                  show this help\n"
		      "      --help-all              show all options\n");
}

static void test_wrapped_text(void **unused)
{
	char text[512] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	assert_non_null(out);
	option_print_wrapped(out, "one two three four", 72, 4);
	option_print_wrapped(out, "four letters", 76, 70);
	option_print_wrapped(out, "longer-than-a-line-may-be", 70, 60);
	fclose(out);
	assert_string_equal(text,
			    "one two\n    three four\n"
			    "four\n"
			    "                                                                      "
			    "letters\n"
			    "longer-than-a-line-may-be\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_lines),
		cmocka_unit_test(test_bad_lines),
		cmocka_unit_test(test_long_value),
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_chained_table),
		cmocka_unit_test(test_chained_table_rejects),
		cmocka_unit_test(test_printed_options),
		cmocka_unit_test(test_wrapped_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
