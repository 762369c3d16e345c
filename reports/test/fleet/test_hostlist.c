/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <unistd.h>

#include "reports/fleet/hostlist.h"
#include "reports/test/lib/checked_fleet.h"

#define NAMES_MOST 8

/* 'scontrol show hostnames' of Slurm 22.05 expands the lists to the names. */
static const struct {
	const char *names[NAMES_MOST];
	const char *list;
} lists[] = {
	{{NULL},					       ""		     },
	{{"n003"},					     "n003"                 },
	{{"login"},					    "login"                },
	{{"n018", "n003", "n017", "n003"},                     "n[003,017-018]"       },
	{{"n9", "n10", "n11"},				 "n[9-11]"              },
	{{"n09", "n10"},				       "n[09-10]"             },
	{{"n9", "n010"},				       "n[9,010]"             },
	{{"n1", "n01", "n02"},				 "n[1,01-02]"           },
	{{"gpu2", "cpu1", "gpu1", "login"},                    "cpu1,gpu[1-2],login"  },
	{{"n02-ib", "n01-ib", "n01-ib"},                       "n01-ib,n02-ib"        },
	{{"n", "n1", "n2"},				    "n,n[1-2]"             },
	{{"10.0.0.1", "10.0.0.2", "10.0.1.3"},                 "10.0.0.[1-2],10.0.1.3"},
	{{"r1n1", "r1n2", "r2n1"},                             "r1n[1-2],r2n1"        },
	{{"999", "1000"},				      "[999-1000]"           },
	{{"n123456789012345678901", "n123456789012345678902"},
	 "n123[456789012345678901-"
	 "456789012345678902]"							},
};

static void test_lists(void **unused)
{
	for (size_t i = 0; i < ARRAY_LENGTH(lists); i++) {
		size_t count = 0;
		char *list;

		while (count < NAMES_MOST && lists[i].names[count])
			count++;
		list = hostlist_make(lists[i].names, count);
		assert_string_equal(list, lists[i].list);
		free(list);
	}
}

static void check_file(const char *wanted)
{
	char path[] = "/tmp/hostlist.XXXXXX";
	int fd = mkstemp(path);
	char text[64] = "";
	FILE *file;

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(fleet_bad_nodes_write(&fleet, path, NULL), 0);
	file = fopen(path, "re");
	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	unlink(path);
	assert_string_equal(text, wanted);
}

static void test_bad_nodes(void **unused)
{
	check_file("n[003-004,017]\n");
	fleet.blames[0].culprit = FLEET_CULPRIT_LINK;
	check_file("n[003-004]\n");
	fleet.nodes[N004].presence = FLEET_PRESENT;
	fleet.n_blames = 0;
	check_file("");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
		cmocka_unit_test_setup_teardown(test_bad_nodes, checked_open, checked_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
