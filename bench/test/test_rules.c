/* SPDX-License-Identifier: MIT */
#include "bench/rules.h"
#include "bench/test/asked.h"

/* Made up: both of them in one. */
static const struct op atomic = {.name = "atomic", .shape.is_atomic = true};

static void check_chosen(const struct op *op, const char *from, const char *wanted)
{
	struct parameters chosen = asked(from);
	struct parameters all = asked(wanted);

	rules_choose(op, &chosen);
	for (size_t i = 0; i < PARAMETERS; i++)
		if (parameter_get(&chosen, &parameter_table[i]) !=
		    parameter_get(&all, &parameter_table[i]))
			fail_msg("%s of '%s' is not that of '%s'", parameter_table[i].option.name,
				 from, wanted);
}

#define LAT "connect=cm trials=6 server-cq=poll tx-depth=64 rx-depth=64 cq-mod=32 "
#define BW  "connect=cm trials=6 metric=bw server-cq=poll tx-depth=128 rx-depth=512 cq-mod=32 "

/* What --help and the manual say of the defaults. */
static void test_choices(void **unused)
{
	static const char *const rows[][2] = {
		{"",								  LAT "iterations=5000"                            },
		{"metric=bw",							 BW "duration=100ms"                              },
		{"iterations=7",						      LAT "iterations=7 trials=1"                      },
		{"duration=2s",						       LAT "duration=2s trials=1"                       },
		{"duration=2s trials=3",					      LAT "duration=2s trials=3"                       },
		{"metric=bw iterations=7",					    BW "iterations=7 trials=1"                       },
		{"metric=bw duration=2s",					     BW "duration=2s trials=1"                        },
		{"cq=event",							  LAT "cq=event server-cq=event iterations=5000"   },
		{"cq=event server-cq=adaptive",                                       LAT "cq=event server-cq=adaptive iterations=5000"},
		{"metric=bw tx-depth=1",					      BW "tx-depth=1 cq-mod=1 duration=100ms"          },
		{"metric=bw tx-depth=7 rx-depth=9",
		 BW "tx-depth=7 rx-depth=9 cq-mod=1 duration=100ms"								    },
		{"metric=bw tx-depth=8 cq-mod=5",                                     BW "tx-depth=8 cq-mod=5 duration=100ms"          },
		{"tx-depth=1",							LAT "tx-depth=1 cq-mod=1 iterations=5000"        },
		{"metric=bw size=64k",						BW "size=64k tx-depth=32 cq-mod=8 duration=100ms"},
		{"metric=bw size=1m",						 BW "size=1m tx-depth=2 cq-mod=1 duration=100ms"  },
		{"metric=bw size=1g",						 BW "size=1g tx-depth=2 cq-mod=1 duration=100ms"  },
		{"metric=bw latencies=1 bidirectional=1",
		 BW "latencies=1 bidirectional=1 cq-mod=1 duration=100ms"                                                              },
		{"metric=bw verify=1",						BW "verify=1 duration=100ms"                     },
		{"metric=bw verify=1 size=1m",
		 BW "verify=1 size=1m tx-depth=2 cq-mod=1 rx-depth=8 duration=100ms"                                                   },
		{"metric=bw verify=1 size=1g",
		 BW "verify=1 size=1g tx-depth=2 cq-mod=1 rx-depth=2 duration=100ms"                                                   },
		{"metric=bw latencies=1",					     BW "latencies=1 cq-mod=1 duration=100ms"         },
		{"transport=UD",						      LAT "transport=UD connect=qp iterations=5000"    },
		{"mtu=1024",							  LAT "mtu=1024 connect=qp iterations=5000"        },
		{"gid-index=0",						       LAT "gid-index=0 connect=qp iterations=5000"     },
		{"sl=1",							      LAT "sl=1 connect=qp iterations=5000"            },
		{"connect=cm sl=1",						   LAT "sl=1 iterations=5000"                       },
		{"timeout=3 retries=0 hugepages=1 inline=5 trials=9 size=1m op=read",
		 LAT "iterations=5000 timeout=3 retries=0 hugepages=1 inline=5 trials=9 size=1m"
		     " op=read"													},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		check_chosen(&op_send, rows[i][0], rows[i][1]);
	check_chosen(&atomic, "size=4k", LAT "size=8 iterations=5000");
}

/* What is chosen once stays as it is: the server chooses again. */
static void test_choices_last(void **unused)
{
	static const char *const texts[] = {"", "metric=bw", "metric=bw tx-depth=3 cq=event"};

	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		struct parameters once = asked(texts[i]);
		struct parameters twice;

		rules_choose(&op_write, &once);
		twice = once;
		rules_choose(&op_write, &twice);
		assert_memory_equal(&twice, &once, sizeof(once));
	}
}

static void test_refusals(void **unused)
{
	static const struct {
		const struct op *op;
		const char *text;
		const char *sentence;
	} rows[] = {
		{&op_send,         "",						NULL				       },
		{&op_send,         "metric=bw",                                       NULL                                       },
		{&op_read,         "metric=bw tx-depth=1 cq-mod=1",                   NULL                                       },
		{&op_write,        "tx-depth=16384 cq-mod=16384",                     NULL                                       },
		{&op_write_notify, "metric=bw",                                       NULL                                       },
		{&op_write_notify, "metric=bw post-list=2",
		 "a post list is of one operation, without notifications"                                                        },
		{&op_send,         "tx-depth=4 cq-mod=5",
		 "--cq-mod exceeds --tx-depth: the queue would fill and stay full"                                               },
		{&op_send,         "metric=bw cq-mod=129",
		 "--cq-mod exceeds --tx-depth: the queue would fill and stay full"                                               },
		{&op_send,         "mtu=4096",					NULL                                       },
		{&op_send,         "mtu=1000",					"an MTU is 256, 512, 1024, 2048 or 4096"   },
		{&op_send,         "metric=bw needs=1 think=1us",                     NULL                                       },
		{&op_send,         "needs=1",					 "--needs is for bw on RC, in one direction"},
		{&op_send,         "metric=bw needs=1 transport=UD",
		 "--needs is for bw on RC, in one direction"								     },
		{&op_write,        "metric=bw bidirectional=1 think=1us",
		 "--think is for a server that answers: not for both ways at once"                                               },
		{&op_send,         "metric=bw verify=1 transport=UD bidirectional=1", NULL                                       },
		{&op_send,         "metric=bw verify=1 post-list=4",                  NULL                                       },
		{&op_read,         "metric=bw verify=1",                              NULL                                       },
		{&op_read_notify,  "metric=bw verify=1",                              NULL                                       },
		{&op_write,        "metric=bw verify=1",
		 "--verify of bw is for send and read: a write overwrites the last"                                              },
		{&op_write_imm,    "metric=bw verify=1",
		 "--verify of bw is for send and read: a write overwrites the last"                                              },
		{&op_write_notify, "metric=bw verify=1",
		 "--verify of bw is for send and read: a write overwrites the last"                                              },
		{&op_fetch_add,    "metric=bw verify=1",                              "--verify is for operations with a payload"},
		{&op_send,         "verify=1 transport=UC size=8",                    NULL                                       },
		{&op_send,         "verify=1 transport=UD size=7",
		 "--verify on UC and UD takes 8 bytes, of writes 9, for a number"                                                },
		{&op_write,        "verify=1 transport=UC size=9",                    NULL                                       },
		{&op_write,        "verify=1 transport=UC size=8",
		 "--verify on UC and UD takes 8 bytes, of writes 9, for a number"                                                },
		{&op_write,        "verify=1 cq=event",
		 "--verify: nothing tells the target of such a write when to look"                                               },
		{&op_send,         "iterations=1 duration=1s",                        "-n and -D exclude each other"             },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct parameters wanted = asked(rows[i].text);
		const char *found;

		rules_choose(rows[i].op, &wanted);
		found = rules_refuse(rows[i].op, &wanted);
		if (!rows[i].sentence)
			assert_null(found);
		else
			assert_string_equal(found, rows[i].sentence);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choices),
		cmocka_unit_test(test_choices_last),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
