/* SPDX-License-Identifier: MIT */
#include "bench/plan/defaults.h"
#include "bench/test/unit.d/asked.h"

static void check_chosen(enum operation_number op, const char *from, const char *wanted)
{
	struct parameters chosen = asked(from);
	struct parameters all = asked(wanted);

	defaults_choose(&operations[op], &chosen);
	for (size_t i = 0; i < PARAMETERS; i++)
		if (parameter_get(&chosen, &parameter_table[i]) !=
		    parameter_get(&all, &parameter_table[i]))
			fail_msg("%s of '%s' is not that of '%s'", parameter_table[i].option.name,
				 from, wanted);
}

#define LAT    "access=same connect=cm trials=6 server-cq=poll tx-depth=64 rx-depth=64 cq-mod=32 "
#define STREAM "connect=cm trials=6 metric=bw server-cq=poll tx-depth=128 rx-depth=512 cq-mod=32 "
#define BW     "access=random seed=1 buffer=4m " STREAM

/* The defaults as described by --help and the manual. */
static void test_defaults(void **unused)
{
	static const char *const rows[][2] = {
		{"",								  LAT "iterations=5000"                                    },
		{"metric=bw",							 BW "duration=100ms"                                      },
		{"iterations=7",						      LAT "iterations=7 trials=1"                              },
		{"duration=2s",						       LAT "duration=2s trials=1"                               },
		{"budget=9s",							 LAT "budget=9s precision=5 iterations=5000"              },
		{"budget=9s duration=2s precision=3",                                 LAT "budget=9s duration=2s precision=3"                  },
		{"duration=2s trials=3",					      LAT "duration=2s trials=3"                               },
		{"metric=bw iterations=7",					    BW "iterations=7 trials=1"                               },
		{"metric=bw duration=2s",					     BW "duration=2s trials=1"                                },
		{"cq=event",							  LAT "cq=event server-cq=event iterations=5000"           },
		{"cq=event server-cq=adaptive",                                       LAT "cq=event server-cq=adaptive iterations=5000"        },
		{"metric=bw tx-depth=1",					      BW "tx-depth=1 cq-mod=1 duration=100ms"                  },
		{"metric=bw tx-depth=7 rx-depth=9",
		 BW "tx-depth=7 rx-depth=9 cq-mod=1 duration=100ms"									    },
		{"metric=bw tx-depth=8 cq-mod=5",                                     BW "tx-depth=8 cq-mod=5 duration=100ms"                  },
		{"tx-depth=1",							LAT "tx-depth=1 cq-mod=1 iterations=5000"                },
 /* With many queue pairs each has less depth: 8192 sends and 12288 receives in total. */
		{"metric=bw qps=24",						  BW "qps=24 duration=100ms"                               },
		{"metric=bw qps=64",						  BW "qps=64 rx-depth=192 duration=100ms"                  },
		{"metric=bw qps=1024",
		 BW "qps=1024 tx-depth=8 rx-depth=12 cq-mod=2 duration=100ms"                                                                  },
		{"metric=bw qps=1024 use-srq=1",
		 "access=same " STREAM "qps=1024 use-srq=1 tx-depth=8 cq-mod=2 duration=100ms"                                                 },
		{"metric=bw qps=16384 tx-depth=5",
		 BW "qps=16384 tx-depth=5 rx-depth=2 cq-mod=1 duration=100ms"                                                                  },
		{"metric=bw size=64k",						BW "size=64k tx-depth=32 cq-mod=8 duration=100ms"        },
		{"metric=bw size=1m",						 BW "size=1m tx-depth=2 cq-mod=1 duration=100ms"          },
		{"metric=bw size=1g",						 BW "size=1g buffer=2g tx-depth=2 cq-mod=1 duration=100ms"},
		{"metric=bw size=1g qps=33",
		 "access=same " STREAM
		 "size=1g qps=33 rx-depth=372 tx-depth=2 cq-mod=1 duration=100ms"                                                              },
		{"metric=bw size=1g qps=33 access=sequential",
		 "access=sequential buffer=64g " STREAM
		 "size=1g qps=33 rx-depth=372 tx-depth=2 cq-mod=1 duration=100ms"                                                              },
		{"metric=bw latencies=1 bidirectional=1",
		 BW "latencies=1 bidirectional=1 cq-mod=1 duration=100ms"                                                                      },
		{"metric=bw verify=1",						"access=same " STREAM "verify=1 duration=100ms"          },
		{"metric=bw verify=1 size=1m",
		 "access=same " STREAM
		 "verify=1 size=1m tx-depth=2 cq-mod=1 rx-depth=8 duration=100ms"                                                              },
		{"metric=bw verify=1 size=1g",
		 "access=same " STREAM
		 "verify=1 size=1g tx-depth=2 cq-mod=1 rx-depth=2 duration=100ms"                                                              },
		{"metric=bw latencies=1",					     BW "latencies=1 cq-mod=1 duration=100ms"                 },
		{"transport=UD",						      LAT "transport=UD connect=qp iterations=5000"            },
		{"transport=XRC use-srq=1",
		 LAT "transport=XRC use-srq=1 connect=qp iterations=5000"                                                                      },
		{"transport=SRD",
		 "access=same connect=cm trials=6 server-cq=poll tx-depth=64 rx-depth=64 cq-mod=1 transport=SRD connect=qp iterations=5000"    },
		{"transport=DC use-srq=1",					    LAT "transport=DC use-srq=1 connect=qp iterations=5000"  },
		{"mtu=1024",							  LAT "mtu=1024 connect=qp iterations=5000"                },
		{"gid-index=0",						       LAT "gid-index=0 connect=qp iterations=5000"             },
		{"server-gid-index=0",						LAT "server-gid-index=0 connect=qp iterations=5000"      },
		{"sl=1",							      LAT "sl=1 connect=qp iterations=5000"                    },
		{"flow-label=0",						      LAT "flow-label=0 connect=qp iterations=5000"            },
		{"hop-limit=3",						       LAT "hop-limit=3 connect=qp iterations=5000"             },
		{"pkey-index=0",						      LAT "pkey-index=0 connect=qp iterations=5000"            },
		{"path-bits=0",						       LAT "path-bits=0 connect=qp iterations=5000"             },
		{"cq=adaptive event-count=8",                                         "cq=adaptive event-count=8 event-period=16us " LAT
					      "server-cq=adaptive iterations=5000"                },
		{"connect=cm sl=1",						   LAT "sl=1 iterations=5000"                               },
		{"timeout=3 retries=0 hugepages=1 inline=5 trials=9 size=1m op=read",
		 LAT "iterations=5000 timeout=3 retries=0 hugepages=1 inline=5 trials=9 size=1m"
		     " op=read"														},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		check_chosen(OPERATION_SEND, rows[i][0], rows[i][1]);
	check_chosen(OPERATION_FETCH_ADD, "size=4k", LAT "size=8 iterations=5000");
	check_chosen(OPERATION_SEND, "sge=2", LAT "sge=2 inline=0 iterations=5000");
}

#define LOAD                                                                    \
	"access=random seed=1 buffer=4m connect=cm metric=load arrivals=fixed " \
	"tx-depth=128 rx-depth=512 cq-mod=1 rate=1k server-cq=poll "

/* A load has the same number of messages in flight as bw, each with a completion. */
static void test_defaults_of_loads(void **unused)
{
	check_chosen(OPERATION_SEND, "metric=load rate=1k", LOAD "trials=6 duration=200ms");
	check_chosen(OPERATION_READ, "metric=load rate=1k arrivals=poisson size=1m iterations=9",
		     LOAD "arrivals=poisson seed=1 size=1m tx-depth=2 iterations=9 trials=1");
	check_chosen(OPERATION_SEND, "metric=load rate=1k arrivals=poisson seed=7 tx-depth=9",
		     LOAD "arrivals=poisson seed=7 tx-depth=9 duration=200ms trials=6");
}

/* Choosing again changes nothing, because the server chooses again. */
static void test_choosing_twice_changes_nothing(void **unused)
{
	static const char *const texts[] = {"", "metric=bw", "metric=bw tx-depth=3 cq=event"};

	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		struct parameters once = asked(texts[i]);
		struct parameters twice;

		defaults_choose(&operations[OPERATION_WRITE], &once);
		twice = once;
		defaults_choose(&operations[OPERATION_WRITE], &twice);
		assert_memory_equal(&twice, &once, sizeof(once));
	}
}

static void test_defaults_of_access(void **unused)
{
	check_chosen(OPERATION_FETCH_ADD, "op=fetch-add metric=bw",
		     "access=same op=fetch-add size=8 " STREAM "duration=100ms");
	check_chosen(OPERATION_WRITE_NOTIFY, "op=write-notify metric=bw",
		     "access=same op=write-notify " STREAM "duration=100ms");
	check_chosen(OPERATION_WRITE, "op=write metric=bw needs=1",
		     "access=same op=write needs=1 " STREAM "duration=100ms");
	check_chosen(OPERATION_SEND, "metric=bw use-srq=1 qps=2",
		     "access=same use-srq=1 qps=2 " STREAM "duration=100ms");
	check_chosen(OPERATION_SEND, "metric=bw seed=7", BW "seed=7 duration=100ms");
	check_chosen(OPERATION_SEND, "metric=bw access=same",
		     "access=same " STREAM "duration=100ms");
	check_chosen(OPERATION_SEND, "buffer=1g",
		     LAT "iterations=5000 buffer=1g access=random seed=1");
	check_chosen(OPERATION_SEND, "buffer=1g access=same",
		     LAT "iterations=5000 buffer=1g access=same");
	check_chosen(OPERATION_READ, "op=read access=sequential",
		     LAT "op=read iterations=5000 buffer=64m access=sequential registration=once");
	check_chosen(OPERATION_SEND, "size=64m access=random",
		     LAT "size=64m iterations=5000 buffer=128m access=random seed=1");
}

/* Writes that ring are signaled; by default one doorbell stands for half of the queue depth. */
static void test_defaults_of_doorbells(void **unused)
{
	check_chosen(OPERATION_DOORBELL, "op=doorbell",
		     LAT "op=doorbell doorbell-every=1 cq-mod=1 iterations=5000");
	check_chosen(OPERATION_DOORBELL, "op=doorbell doorbell-every=100",
		     LAT "op=doorbell tx-depth=100 doorbell-every=100 cq-mod=100 iterations=5000");
	check_chosen(OPERATION_DOORBELL, "op=doorbell metric=bw",
		     BW "op=doorbell doorbell-every=64 cq-mod=64 duration=100ms");
	check_chosen(OPERATION_DOORBELL, "op=doorbell metric=bw size=1m",
		     BW "op=doorbell size=1m tx-depth=2 doorbell-every=1 cq-mod=1 duration=100ms");
	check_chosen(OPERATION_DOORBELL, "op=doorbell metric=bw doorbell-every=100",
		     BW "op=doorbell tx-depth=200 doorbell-every=100 cq-mod=100 duration=100ms");
	check_chosen(OPERATION_DOORBELL, "op=doorbell metric=bw tx-depth=10",
		     BW "op=doorbell tx-depth=10 doorbell-every=5 cq-mod=5 duration=100ms");
	check_chosen(OPERATION_DOORBELL, "op=doorbell metric=bw tx-depth=1",
		     BW "op=doorbell tx-depth=1 doorbell-every=1 cq-mod=1 duration=100ms");
	check_chosen(OPERATION_DOORBELL, "op=doorbell metric=bw latencies=1",
		     BW "op=doorbell latencies=1 doorbell-every=1 cq-mod=1 duration=100ms");
}

static void test_defaults_of_calls_and_grants(void **unused)
{
	/* Slow operations are limited by time. */
	check_chosen(OPERATION_ALLOC, "op=alloc size=64m", LAT "op=alloc size=64m duration=100ms");
	check_chosen(OPERATION_REGISTER, "op=register",
		     LAT "op=register mr-access=remote pages=touched duration=100ms");
	check_chosen(OPERATION_REGISTER, "op=register iterations=7 mr-access=local",
		     LAT "op=register mr-access=local pages=touched iterations=7 trials=1");
	check_chosen(OPERATION_DEREGISTER, "op=deregister",
		     LAT "op=deregister mr-access=remote duration=100ms");
	/* Timed posts are signaled; other calls ignore the remaining parameters. */
	check_chosen(OPERATION_POST_SEND, "op=post-send size=4k cq-mod=8",
		     LAT "op=post-send size=4k cq-mod=1 duration=100ms");
	check_chosen(OPERATION_CREATE_QP, "op=create-qp size=4k",
		     LAT "op=create-qp size=1 duration=100ms");
	check_chosen(OPERATION_CONNECT, "op=connect",
		     LAT "op=connect size=1 step=whole duration=100ms");
	check_chosen(OPERATION_CONNECT, "op=connect step=destroy",
		     LAT "op=connect size=1 step=destroy duration=100ms");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_defaults_of_loads),
		cmocka_unit_test(test_choosing_twice_changes_nothing),
		cmocka_unit_test(test_defaults_of_access),
		cmocka_unit_test(test_defaults_of_doorbells),
		cmocka_unit_test(test_defaults_of_calls_and_grants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
