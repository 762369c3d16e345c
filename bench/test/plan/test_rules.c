/* SPDX-License-Identifier: MIT */
#include "bench/plan/defaults.h"
#include "bench/plan/rules.h"
#include "bench/test/unit.d/asked.h"

static const char too_many_qps[] =
	"--qps times --threads exceeds 4096 queue pairs, the limit for --connect qp";
static const struct {
	enum operation_number op;
	const char *text;
	const char *sentence;
} refusals[] = {
	{OPERATION_SEND,         "",						NULL					       },
	{OPERATION_SEND,         "metric=bw",				       NULL					       },
	{OPERATION_READ,         "metric=bw tx-depth=1 cq-mod=1",                   NULL                                               },
	{OPERATION_WRITE,        "tx-depth=16384 cq-mod=16384",                     NULL                                               },
	{OPERATION_WRITE_NOTIFY, "metric=bw",                                       NULL                                               },
	{OPERATION_WRITE_NOTIFY, "metric=bw post-list=2",
	 "--post-list does not support notifications and doorbells"								    },
	{OPERATION_SEND,         "tx-depth=4 cq-mod=5",
	 "--cq-mod exceeds --tx-depth: the queue would fill and stay full"                                                             },
	{OPERATION_SEND,         "metric=bw cq-mod=129",
	 "--cq-mod exceeds --tx-depth: the queue would fill and stay full"                                                             },
	{OPERATION_SEND,         "mtu=4096",					NULL					       },
	{OPERATION_SEND,         "mtu=1000",					"--mtu must be 256, 512, 1024, 2048 or 4096"       },
	{OPERATION_SEND,         "metric=bw qps=4096 threads=4",                    NULL                                               },
	{OPERATION_SEND,         "metric=bw qps=4097 threads=4",
	 "--qps times --threads exceeds 16384 queue pairs"									     },
	{OPERATION_SEND,         "metric=bw qps=4096 connect=qp",                   NULL                                               },
	{OPERATION_SEND,         "metric=bw qps=4097 connect=qp",                   too_many_qps                                       },
	{OPERATION_SEND,         "metric=bw qps=4097 transport=UC",                 too_many_qps                                       },
	{OPERATION_WRITE,        "metric=bw qps=1025 threads=4 mtu=1024",           too_many_qps                                       },
	{OPERATION_SEND,         "metric=bw needs=1 think=1us",                     NULL                                               },
	{OPERATION_SEND,         "needs=1",					 "--needs applies only to bw on RC in one direction"},
	{OPERATION_SEND,         "metric=bw needs=1 transport=UD",
	 "--needs applies only to bw on RC in one direction"									   },
	{OPERATION_WRITE,        "metric=bw bidirectional=1 think=1us",
	 "--think and --bidirectional cannot be used together"									 },
	{OPERATION_SEND,         "metric=bw verify=1 transport=UD bidirectional=1", NULL                                               },
	{OPERATION_SEND,         "metric=bw verify=1 post-list=4",                  NULL                                               },
	{OPERATION_READ,         "metric=bw verify=1",                              NULL                                               },
	{OPERATION_READ_NOTIFY,  "metric=bw verify=1",                              NULL                                               },
	{OPERATION_WRITE,        "metric=bw verify=1",
	 "--verify with bw applies only to send and read: a write overwrites the last one"                                             },
	{OPERATION_WRITE_IMM,    "metric=bw verify=1",
	 "--verify with bw applies only to send and read: a write overwrites the last one"                                             },
	{OPERATION_WRITE_NOTIFY, "metric=bw verify=1",
	 "--verify with bw applies only to send and read: a write overwrites the last one"                                             },
	{OPERATION_FETCH_ADD,    "metric=bw verify=1",
	 "--verify applies only to operations with a payload"									  },
	{OPERATION_SEND,         "verify=1 transport=UC size=8",                    NULL                                               },
	{OPERATION_SEND,         "verify=1 transport=UD size=7",
	 "--verify on UC and UD needs 8 bytes (writes: 9) for a number; use a larger --size"                                           },
	{OPERATION_WRITE,        "verify=1 transport=UC size=9",                    NULL                                               },
	{OPERATION_WRITE,        "verify=1 transport=UC size=8",
	 "--verify on UC and UD needs 8 bytes (writes: 9) for a number; use a larger --size"                                           },
	{OPERATION_WRITE,        "verify=1 cq=event",
	 "--verify of write latency needs --cq poll on both sides"								     },
	{OPERATION_WRITE,        "verify=1 server-memory=nic",
	 "--verify of write latency needs memory that the CPU can poll; use write-imm"                                                 },
	{OPERATION_WRITE,        "verify=1 memory=odp",                             NULL                                               },
	{OPERATION_SEND,         "inline=8 memory=nic",
	 "--inline needs memory that the CPU can read on both sides"                                                                   },
	{OPERATION_SEND,         "inline=0 memory=nic",                             NULL                                               },
	{OPERATION_SEND,         "metric=bw threads=2 memory=file:/x",
	 "memory with a path needs --threads 1"											},
	{OPERATION_SEND,         "memory=odp:implicit server-memory=odp:implicit",  NULL                                               },
	{OPERATION_READ,         "memory=odp:implicit",                             NULL                                               },
	{OPERATION_READ,         "server-memory=odp:implicit",
	 "odp:implicit and null give the peer no access; use other memory, or --op send"                                               },
	{OPERATION_WRITE,        "memory=odp:implicit",
	 "odp:implicit and null give the peer no access; use other memory, or --op send"                                               },
	{OPERATION_WRITE,        "metric=bw memory=odp:implicit",                   NULL                                               },
	{OPERATION_SEND,         "memory=null server-memory=null",                  NULL                                               },
	{OPERATION_READ,         "memory=null",                                     NULL					       },
	{OPERATION_WRITE,        "metric=bw server-memory=null",
	 "odp:implicit and null give the peer no access; use other memory, or --op send"                                               },
	{OPERATION_SEND,         "server-memory=null verify=1",
	 "--memory null stores no data, which --verify and this operation need; use other memory"                                      },
	{OPERATION_READ_NOTIFY,  "metric=bw memory=null",
	 "--memory null stores no data, which --verify and this operation need; use other memory"                                      },
	{OPERATION_SEND,         "mr-per-qp=1 memory=odp",                          NULL                                               },
	{OPERATION_SEND,         "mr-per-qp=1 server-memory=nic",
	 "--mr-per-qp does not support memory of the device (nic)"								     },
	{OPERATION_REGISTER,     "memory=null",
	 "--memory null stores no data, which --verify and this operation need; use other memory"                                      },
	{OPERATION_REGISTER,     "pages=untouched memory=nic",                      "--pages untouched needs --memory host"            },
	{OPERATION_SEND,         "cq=event event-count=8 event-period=4us",         NULL                                               },
	{OPERATION_SEND,         "cq=event event-period=4us",                       "--event-period needs --event-count"               },
	{OPERATION_SEND,         "cq=event event-count=8 event-period=1500ns",
	 "--event-period must be whole microseconds"										   },
	{OPERATION_SEND,         "metric=bw recv-post-list=64 rx-depth=64",         NULL                                               },
	{OPERATION_SEND,         "metric=bw recv-post-list=64 rx-depth=63",
	 "--recv-post-list exceeds --rx-depth"											 },
	{OPERATION_SEND,         "metric=bw recv-post-list=2 sge=2 inline=0",
	 "--recv-post-list needs --sge 1"											      },
	{OPERATION_SEND,         "metric=bw recv-post-list=1 sge=2 inline=0",       NULL                                               },
	{OPERATION_SEND,         "rate-limit=1kb/s",                                NULL                                               },
	{OPERATION_SEND,         "rate-limit=999b/s",
	 "--rate-limit must be between 1kb/s and 4Tb/s, for example 10Gb/s"                                                            },
	{OPERATION_SEND,         "rate-limit=10k",
	 "--rate-limit must be between 1kb/s and 4Tb/s, for example 10Gb/s"                                                            },
	{OPERATION_SEND,         "rate-limit=5Tb/s",
	 "--rate-limit must be between 1kb/s and 4Tb/s, for example 10Gb/s"                                                            },
	{OPERATION_SEND,         "iterations=1 duration=1s",                        "-n and -D cannot be used together"                },
};

static void test_refusals(void **unused)
{
	for (size_t i = 0; i < ARRAY_LENGTH(refusals); i++) {
		struct parameters wanted = asked(refusals[i].text);
		const char *found;

		defaults_choose(&operations[refusals[i].op], &wanted);
		found = rules_refuse(&operations[refusals[i].op], &wanted);
		if (!refusals[i].sentence)
			assert_null(found);
		else
			assert_string_equal(found, refusals[i].sentence);
	}
}

static void test_refused_loads(void **unused)
{
	static const struct {
		const char *text;
		const char *sentence;
	} rows[] = {
		{"rate=1k qps=16 use-srq=1", NULL							},
		{"rate=10% think=1us",       NULL							},
		{"rate=512bit",              NULL							},
		{"rate=1k buffer=1m",        NULL							},
		{"rate=511bit",              "--rate is less than one message per second"                },
		{"",			 "load needs --rate"					 },
		{"rate=1k transport=UC",
		 "load needs RC: elsewhere a completion does not mean that the message arrived"          },
		{"rate=1k post-list=2",      "load posts one message at a time; use --post-list 1"       },
		{"rate=1k verify=1",         "--verify applies only to lat and bw"                       },
		{"rate=1k cq-mod=2",         "load needs --cq-mod 1: each message must have a completion"},
		{"rate=1k bidirectional=1",  "--bidirectional applies only to bw"                        },
		{"rate=1k latencies=1",      "--latencies applies only to bw without --post-list"        },
		{"rate=1k needs=1",          "--needs applies only to bw on RC in one direction"         },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct parameters wanted = asked(rows[i].text);
		const char *found;

		wanted.metric = METRIC_LOAD;
		defaults_choose(&operations[OPERATION_SEND], &wanted);
		found = rules_refuse(&operations[OPERATION_SEND], &wanted);
		if (!found != !rows[i].sentence || (found && strcmp(found, rows[i].sentence) != 0))
			fail_msg("%s: %s", rows[i].text, found);
	}
}

static void check_refusals(const char *const (*rows)[3], size_t n_rows)
{
	for (size_t i = 0; i < n_rows; i++) {
		char text[128];
		struct parameters wanted;
		const struct operation *op;
		const char *found;

		snprintf(text, sizeof(text), "op=%s %s", rows[i][0], rows[i][1]);
		wanted = asked(text);
		op = &operations[wanted.op];
		defaults_choose(op, &wanted);
		found = rules_refuse(op, &wanted);
		if (!found != !rows[i][2] || (found && strcmp(found, rows[i][2]) != 0))
			fail_msg("%s: %s", text, found ? found : "is good");
	}
}

/*
 * The operations of each transport, as defined by InfiniBand and listed in the man page, and those
 * that only lack its reliability.
 */
static void test_transports(void **unused)
{
	static const char unreliable[] = "the operation needs a reliable transport; use -c RC";
	static const char *const rows[][4] = {
		{"send write write-imm send-imm create-qp post-send post-recv poll-cq ",
		 "transport=UC",										    "UC supports only sends and writes",
		 "write-notify doorbell alloc "														  },
		{"send send-imm create-qp ",					     "transport=UD",            "UD supports only sends",            "alloc "},
		{"send write read write-imm send-imm fetch-add compare-swap atomic-write write-notify "
		 "read-notify doorbell alloc post-send poll-cq ",       "transport=XRC use-srq=1",
		 "XRC supports neither memory windows nor timed calls other than post-send and "
		 "poll-cq; use -c RC",														   ""      },
#ifdef HAVE_EFADV
		{"send write read write-imm send-imm ",                                  "transport=SRD cq=event",
		 "SRD supports only sends, reads and writes without notification",                                                                       ""      },
#endif
#ifdef HAVE_MLX5DV
		{"send write read write-imm send-imm fetch-add compare-swap atomic-write write-notify "
		 "read-notify doorbell alloc post-send poll-cq ",       "transport=DC use-srq=1",
		 "DC supports neither memory windows nor timed calls other than post-send and "
		 "poll-cq; use -c RC",														   ""      },
#endif
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		for (size_t op = 0; op < OPERATIONS; op++) {
			char word[32];
			const char *row[1][3] = {
				{operation_names[op], rows[i][1], NULL}
                        };

			snprintf(word, sizeof(word), "%s ", operation_names[op]);
			if (!strstr(rows[i][0], word))
				row[0][2] = strstr(rows[i][3], word) ? unreliable : rows[i][2];
			check_refusals(row, 1);
		}
	for (size_t op = 0; op < OPERATIONS; op++) {
		const char *row[1][3] = {
			{operation_names[op], "transport=RC", NULL}
                };

		check_refusals(row, 1);
	}
}

#define GROUP "transport=UD multicast=239.1.2.3 "

static void test_multicast(void **unused)
{
	static const char elsewhere[] =
		"--multicast applies only to bandwidth of datagrams; use --metric bw -c UD";
	static const char several[] =
		"--multicast has one sender; drop --bidirectional, --threads and --pattern";
	static const char *const rows[][3] = {
		{"send",     GROUP "metric=bw qps=4",           NULL               },
		{"send-imm", GROUP "metric=bw verify=1",        NULL               },
		{"send",     "metric=bw multicast=239.1.2.3",   elsewhere          },
		{"send",     GROUP "qps=4",                     elsewhere          },
		{"send",     GROUP,                             elsewhere          },
		{"send",     GROUP "metric=bw bidirectional=1", several            },
		{"send",     GROUP "metric=bw threads=2",       several            },
		{"send",     GROUP "metric=bw use-srq=1",
		 "--multicast gives each receiver its own receives; drop --use-srq"},
	};

	check_refusals(rows, ARRAY_LENGTH(rows));
}

static void test_sge_rules(void **unused)
{
	static const char *const rows[][3] = {
		{"send",      "sge=32",                          NULL                                  },
		{"send",      "sge=32 size=31",                  "--sge exceeds the bytes of a message"},
		{"read",      "sge=3 size=3 verify=1 metric=bw", NULL                                  },
		{"fetch-add", "sge=2",                           "--sge must be 1 for atomics"         },
		{"write",     "sge=2 inline=0",                  NULL                                  },
		{"write",     "sge=2 inline=1",                  "--sge above 1 needs --inline 0"      },
		{"write",     "sge=1 inline=1",                  NULL                                  },
	};

	check_refusals(rows, ARRAY_LENGTH(rows));
}

static void test_access_rules(void **unused)
{
	static const char notified[] = "operations with a notification need --access same";
	static const char close[] = "--access: the stride is smaller than a message";
	static const char full[] =
		"--buffer is too small for one message per queue pair and direction";
	static const char *const rows[][3] = {
		{"send",         "buffer=64g",						      NULL						    },
		{"send",         "buffer=64",						       NULL						    },
		{"send",         "buffer=63",						       full						    },
		{"send",         "buffer=128 transport=UD",                                         NULL                                                    },
		{"send",         "buffer=127 transport=UD",                                         full                                                    },
		{"write",        "metric=bw qps=16 size=4k buffer=64k",                             NULL                                                    },
		{"write",        "metric=bw bidirectional=1 size=4k buffer=8k",                     NULL                                                    },
		{"write",        "metric=bw bidirectional=1 size=4k buffer=8191",                   full                                                    },
		{"write",        "metric=bw bidirectional=1 size=4k buffer=4k access=same",         NULL                                                    },
		{"write",        "metric=bw qps=17 size=4k buffer=64k",                             full                                                    },
		{"fetch-add",    "buffer=8",							NULL						    },
		{"fetch-add",    "access=stride=16",                                                NULL                                                    },
		{"fetch-add",    "access=stride=12",
		 "--access: the stride must be a multiple of 8 for atomics"										 },
		{"read",         "access=stride=64",						NULL						    },
		{"read",         "access=stride=63",						close						   },
		{"send",         "access=stride=103 transport=UD",                                  close                                                   },
		{"send",         "access=stride=104 transport=UD",                                  NULL                                                    },
		{"write-notify", "access=same",						     NULL						    },
		{"write-notify", "access=sequential",                                               notified                                                },
		{"read-notify",  "buffer=1m",						       notified                                                },
		{"read-notify",  "buffer=1m access=same verify=1",                                  NULL                                                    },
		{"send",         "access=random verify=1",                                          "--verify needs --access same"                          },
		{"write",        "access=random transport=UC",
		 "latency of writes on UC needs --access same"											      },
		{"write",        "access=random transport=UC metric=bw",                            NULL                                                    },
		{"send",         "access=random use-srq=1 qps=2 metric=bw",
		 "--use-srq with several queue pairs needs --access same"										   },
		{"send",         "access=random use-srq=1 metric=bw",                               NULL                                                    },
		{"send",         "metric=bw pattern=one-to-many",                                   "--pattern needs --threads above 1"                     },
		{"send",         "access=random use-srq=1 metric=bw threads=4 pattern=one-to-many", NULL                                                    },
		{"send",
		 "access=random use-srq=1 metric=bw threads=4 pattern=one-to-many bidirectional=1", "--use-srq with several queue pairs needs --access same"},
	};

	check_refusals(rows, ARRAY_LENGTH(rows));
}

static void test_breakdown(void **unused)
{
	static const char otherwise[] =
		"--breakdown applies only to the latency of messages, reads and atomics; use --metric lat";
	static const char polled[] =
		"--breakdown: write latency polls memory, without a completion; use --cq event";
	static const char *const rows[][3] = {
		{"send",     "",                  NULL							},
		{"read",     "",                  NULL							},
		{"doorbell", "cq=event",          NULL							},
		{"send-inv", "",                  NULL							},
		{"write",    "",                  polled						      },
		{"write",    "cq=event",          NULL							},
		{"send",     "metric=bw",         otherwise						   },
		{"alloc",    "",                  otherwise						   },
		{"register", "",                  otherwise						   },
		{"bind-mw",  "",                  otherwise						   },
		{"read",     "registration=each", otherwise                                                   },
		{"send",     "verify=1",          "--breakdown and --verify cannot be used together; omit one"},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		char text[128];
		const char *const row[1][3] = {
			{rows[i][0], text, rows[i][2]}
                };

		snprintf(text, sizeof(text), "breakdown=1 %s", rows[i][1]);
		check_refusals(row, 1);
	}
}

static void test_doorbells(void **unused)
{
	static const char apart[] =
		"doorbell signals each write that rings: --cq-mod must equal --doorbell-every";
	static const char *const rows[][3] = {
		{"doorbell",  "doorbell-every=8192 metric=bw",                     NULL                                       },
		{"doorbell",  "doorbell-every=8192",                               NULL                                       },
		{"doorbell",  "doorbell-every=16 bidirectional=1 metric=bw qps=4", NULL                                       },
		{"doorbell",  "latencies=1 metric=bw",                             NULL                                       },
		{"doorbell",  "verify=1",					  NULL                                       },
		{"doorbell",  "doorbell-every=16 cq-mod=8",                        apart                                      },
		{"doorbell",  "cq-mod=8 metric=bw",                                apart                                      },
		{"doorbell",  "doorbell-every=9 tx-depth=8",
		 "--doorbell-every exceeds --tx-depth: the queue would fill and stay full"                                    },
		{"doorbell",  "doorbell-every=2 latencies=1 metric=bw",
		 "--latencies needs --cq-mod 1: each message must have a completion"                                          },
		{"doorbell",  "post-list=2 metric=bw",
		 "--post-list does not support notifications and doorbells"                                                   },
		{"doorbell",  "metric=load rate=1k",                               "doorbell has no load; use --op write-imm" },
		{"write-imm", "doorbell-every=2",                                  "--doorbell-every applies only to doorbell"},
	};

	check_refusals(rows, ARRAY_LENGTH(rows));
}

static void test_calls_and_grants(void **unused)
{
	static const char one[] = "the operation runs one at a time; use --metric lat";
	static const char same[] = "alloc, timed calls and memory windows need --access same";
	static const char none[] = "--verify applies only to operations with a payload";
	static const char window[] =
		"nothing is sent: drop --bidirectional, --post-list, --needs, --latencies and load";
	static const char by_hand[] =
		"connect uses rdma_cm; drop --connect qp and the options that need it, such as -m "
		"and -x";
	static const char *const rows[][3] = {
		{"alloc",       "size=1g",					     NULL						 },
		{"alloc",       "sge=2 size=1 threads=3 use-srq=1",                    NULL                                                 },
		{"alloc",       "metric=bw",					   one						  },
		{"alloc",       "metric=load rate=1k",                                 one                                                  },
		{"alloc",       "verify=1",					    none						 },
		{"alloc",       "buffer=1m",					   same						 },
		{"alloc",       "mr-access=local",                                     "--mr-access applies only to register and deregister"},
		{"register",    "mr-access=local pages=untouched hugepages=1 size=1g", NULL                                                 },
		{"register",    "metric=bw",					   one						  },
		{"register",    "buffer=1m",					   same						 },
		{"deregister",  "mr-access=atomic",                                    NULL                                                 },
		{"deregister",  "verify=1",					    none						 },
		{"deregister",  "pages=touched",                                       "--pages applies only to register"                   },
		{"create-qp",   "transport=UD sge=4 inline=0 tx-depth=16384",          NULL                                                 },
		{"create-qp",   "metric=bw",					   one						  },
		{"create-qp",   "step=create-qp",                                      "--step applies only to connect"                     },
		{"connect",     "step=bind sge=4 use-srq=1 threads=2 think=1ms",       NULL                                                 },
		{"connect",     "metric=bw",					   one						  },
		{"connect",     "buffer=1m",					   same						 },
		{"connect",     "verify=1",					    none						 },
		{"connect",     "qps=2",
		 "latency is measured on one queue pair per thread; use --qps 1"                                                            },
		{"connect",     "post-list=2",
		 "latency is measured one message at a time; use --post-list 1"                                                             },
		{"connect",     "connect=qp",					  by_hand                                              },
		{"connect",     "mtu=1024",					    by_hand                                              },
		{"connect",     "server-gid-index=0",                                  by_hand                                              },
		{"connect",     "transport=UD",                                        "UD supports only sends"                             },
		{"open-device", "metric=bw",                                           one						  },
		{"open-device", "transport=UD",                                        "UD supports only sends"                             },
		{"alloc-pd",    "verify=1",					    none						 },
		{"post-send",   "size=1g sge=4 inline=0",                              NULL                                                 },
		{"post-send",   "transport=UC size=64 inline=64",                      NULL                                                 },
		{"post-send",   "metric=bw",					   one						  },
		{"post-send",   "metric=load rate=1k",                                 one                                                  },
		{"post-send",   "buffer=1m",					   same						 },
		{"post-send",   "verify=1",					    none						 },
		{"post-send",   "transport=UD",                                        "UD supports only sends"                             },
		{"post-send",   "post-list=2",
		 "latency is measured one message at a time; use --post-list 1"                                                             },
		{"post-recv",   "transport=UC rx-depth=16384 sge=4",                   NULL                                                 },
		{"poll-cq",     "transport=UC threads=2",                              NULL                                                 },
		{"poll-cq",     "metric=bw",					   one						  },
		{"send-inv",    "verify=1 threads=2 sge=2 inline=0",                   NULL                                                 },
		{"send-inv",    "metric=bw",					   one						  },
		{"send-inv",    "buffer=1m",					   same						 },
		{"local-inv",   "metric=bw",					   one						  },
		{"bind-mw",     "metric=bw qps=4 size=1g",                             NULL                                                 },
		{"bind-mw",     "verify=1",					    none						 },
		{"bind-mw",     "metric=bw access=random",                             same                                                 },
		{"bind-mw",     "metric=bw bidirectional=1",                           window                                               },
		{"rebind-mw",   "metric=bw post-list=2",                               window                                               },
		{"rebind-mw",   "metric=load rate=1k",                                 window                                               },
		{"bind-mw",     "transport=UC",                                        "UC supports only sends and writes"                  },
		{"create-cq",   "cq=event",					    NULL						 },
	};

	check_refusals(rows, ARRAY_LENGTH(rows));
}

static void test_registration(void **unused)
{
	static const char *const rows[][3] = {
		{"read",  "registration=each size=1g",   NULL           },
		{"read",  "registration=once sge=2",     NULL           },
		{"read",  "registration=each metric=bw",
		 "--registration applies only to read with --metric lat"},
		{"write", "registration=each",
		 "--registration applies only to read with --metric lat"},
		{"read",  "registration=each sge=2",
		 "--registration each needs --access same and --sge 1"  },
		{"read",  "registration=each buffer=1m",
		 "--registration each needs --access same and --sge 1"  },
	};

	check_refusals(rows, ARRAY_LENGTH(rows));
}

/* A latency that polls for the last byte assumes that the others have arrived. */
static void test_ordering(void **unused)
{
	static const char last[] =
		"--relaxed-ordering: write latency polls the last byte, which might arrive first";
	static const char *const rows[][3] = {
		{"write",        "relaxed-ordering=on",                            last},
		{"write",        "relaxed-ordering=on transport=UC verify=1",      last},
		{"write",        "relaxed-ordering=off",                           NULL},
		{"write",        "relaxed-ordering=on cq=event",                   NULL},
		{"write",        "relaxed-ordering=on server-cq=adaptive",         NULL},
		{"write",        "relaxed-ordering=on metric=bw",                  NULL},
		{"write",        "relaxed-ordering=on metric=load rate=1k",        NULL},
		{"write-imm",    "relaxed-ordering=on verify=1",                   NULL},
		{"write-notify", "relaxed-ordering=on verify=1",                   NULL},
		{"send",         "relaxed-ordering=on verify=1",                   NULL},
		{"read",         "relaxed-ordering=on verify=1 registration=each", NULL},
		{"fetch-add",    "relaxed-ordering=on",                            NULL},
		{"post-send",    "relaxed-ordering=on",                            NULL},
		{"register",     "relaxed-ordering=on",                            NULL},
	};

	check_refusals(rows, ARRAY_LENGTH(rows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals),         cmocka_unit_test(test_refused_loads),
		cmocka_unit_test(test_multicast),        cmocka_unit_test(test_sge_rules),
		cmocka_unit_test(test_transports),       cmocka_unit_test(test_access_rules),
		cmocka_unit_test(test_breakdown),        cmocka_unit_test(test_doorbells),
		cmocka_unit_test(test_calls_and_grants), cmocka_unit_test(test_registration),
		cmocka_unit_test(test_ordering),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
