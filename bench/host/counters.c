/* SPDX-License-Identifier: MIT */
#include "bench/host/counters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/clock.h"
#include "core/base/printable.h"
#include "core/base/sysfs.h"

#define CLASS "/sys/class/infiniband"

/* The kernel's upper limit. */
#define LIFESPAN_MAX_MS 10000

static int counters_add(struct counters *counters, const char *folder, const char *name,
			uint64_t value, struct error *error)
{
	struct counter *larger = reallocarray(counters->rows, counters->count + 1, sizeof(*larger));
	struct counter *row;
	bool is_known = false;

	if (!larger)
		return error_set_errno(error, -ENOMEM, "cannot store the device's counters");
	counters->rows = larger;
	row = &larger[counters->count];
	printable_copy(row->name, sizeof(row->name), name);
	for (size_t i = 0; i < counters->count; i++)
		is_known = is_known || !strcmp(larger[i].name, row->name);
	if (is_known)
		snprintf(row->name, sizeof(row->name), "%s/%.63s", folder, name);
	row->value = value;
	counters->count++;
	return 0;
}

static int read_folder(struct counters *counters, const char *root, const char *device,
		       const char *folder, struct error *error)
{
	struct sysfs_names names;
	int code = 0;

	sysfs_names_open(&names, root, CLASS "/%s/%s", device, folder);
	for (size_t i = 0; i < names.count && !code; i++) {
		int64_t value;

		if (!sysfs_number(root, &value, CLASS "/%s/%s/%s", device, folder, names.name[i]) ||
		    value < 0)
			continue;
		if (strcmp(names.name[i], "lifespan") != 0)
			code = counters_add(counters, folder, names.name[i], (uint64_t)value,
					    error);
		else if (value > counters->lifespan_ms)
			counters->lifespan_ms =
				(unsigned int)(value < LIFESPAN_MAX_MS ? value : LIFESPAN_MAX_MS);
	}
	sysfs_names_close(&names);
	return code;
}

/* The kernel counts the lifespan in ticks, so wait for one more than the lifespan. */
static void wait_for_news(const struct counters *previous)
{
	struct timespec tick = {0};
	uint64_t now = clock_now_ns();
	uint64_t fresh_ns = previous->read_ns + previous->lifespan_ms * NS_PER_MS;
	struct timespec left;

	if (!previous->lifespan_ms)
		return;
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	fresh_ns += (uint64_t)tick.tv_nsec;
	if (fresh_ns <= now)
		return;
	left = (struct timespec){.tv_sec = (time_t)((fresh_ns - now) / NS_PER_S),
				 .tv_nsec = (long)((fresh_ns - now) % NS_PER_S)};
	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

int counters_open(struct counters *counters, const char *root, const char *device,
		  unsigned int port, const struct counters *previous, struct error *error)
{
	char folders[][32] = {"", "", "hw_counters"};
	int code = 0;

	snprintf(folders[0], sizeof(folders[0]), "ports/%u/counters", port);
	snprintf(folders[1], sizeof(folders[1]), "ports/%u/hw_counters", port);
	*counters = (struct counters){0};
	if (previous)
		wait_for_news(previous);
	for (size_t i = 0; i < ARRAY_LENGTH(folders) && !code; i++)
		code = read_folder(counters, root, device, folders[i], error);
	counters->read_ns = clock_now_ns();
	if (code)
		counters_close(counters);
	return code;
}

void counters_close(struct counters *counters)
{
	free(counters->rows);
	*counters = (struct counters){0};
}

/*
 * Counters of mlx5, mlx4, bnxt_re, irdma, efa, rxe, and of all InfiniBand ports. Others count
 * traffic, or errors of programs.
 */
static const struct {
	enum counter_kind kind;
	const char *name;
} kinds[] = {
	{COUNTER_LOSS,       "out_of_sequence"                },
	{COUNTER_LOSS,       "packet_seq_err"                 },
	{COUNTER_LOSS,       "implied_nak_seq_err"            },
	{COUNTER_LOSS,       "local_ack_timeout_err"          },
	{COUNTER_LOSS,       "rx_icrc_encapsulated"           },
	{COUNTER_LOSS,       "roce_adp_retrans"               },
	{COUNTER_LOSS,       "roce_adp_retrans_to"            },
	{COUNTER_NOT_READY,  "rnr_nak_retry_err"              },
	{COUNTER_NOT_READY,  "out_of_buffer"                  },
	{COUNTER_CONGESTION, "np_cnp_sent"                    },
	{COUNTER_CONGESTION, "np_ecn_marked_roce_packets"     },
	{COUNTER_CONGESTION, "rp_cnp_handled"                 },
	{COUNTER_CONGESTION, "roce_slow_restart"              },
	{COUNTER_LOSS,       "rq_num_oos"                     },
	{COUNTER_LOSS,       "sq_num_oos"                     },
	{COUNTER_LOSS,       "sq_num_to"                      },
	{COUNTER_NOT_READY,  "sq_num_rnr"                     },
	{COUNTER_LOSS,       "to_retransmits"                 },
	{COUNTER_LOSS,       "seq_err_naks_rcvd"              },
	{COUNTER_LOSS,       "missing_resp"                   },
	{COUNTER_LOSS,       "oos_drop_count"                 },
	{COUNTER_NOT_READY,  "rnr_naks_rcvd"                  },
	{COUNTER_LOSS,       "tcpRetransSegs"                 },
	{COUNTER_LOSS,       "RetransSegs"                    },
	{COUNTER_CONGESTION, "RxECNMrkd"                      },
	{COUNTER_CONGESTION, "cnpHandled"                     },
	{COUNTER_LOSS,       "retrans_pkts"                   },
	{COUNTER_LOSS,       "retrans_timeout_events"         },
	{COUNTER_LOSS,       "rx_drops"                       },
	{COUNTER_LOSS,       "out_of_seq_request"             },
	{COUNTER_LOSS,       "rcvd_seq_err"                   },
	{COUNTER_LOSS,       "retry_exceeded_err"             },
	{COUNTER_LOSS,       "completer_retry_err"            },
	{COUNTER_LOSS,       "duplicate_request"              },
	{COUNTER_NOT_READY,  "rcvd_rnr_err"                   },
	{COUNTER_NOT_READY,  "send_rnr_err"                   },
	{COUNTER_NOT_READY,  "retry_rnr_exceeded_err"         },
	{COUNTER_LINK,       "symbol_error"                   },
	{COUNTER_LINK,       "link_error_recovery"            },
	{COUNTER_LINK,       "link_downed"                    },
	{COUNTER_LINK,       "port_rcv_errors"                },
	{COUNTER_LINK,       "port_rcv_remote_physical_errors"},
	{COUNTER_LINK,       "local_link_integrity_errors"    },
	{COUNTER_LINK,       "excessive_buffer_overrun_errors"},
	{COUNTER_LOSS,       "port_xmit_discards"             },
	{COUNTER_CONGESTION, "port_xmit_wait"                 },
};

enum counter_kind counters_kind(const char *name)
{
	const char *last = strrchr(name, '/');

	for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++)
		if (!strcmp(last ? last + 1 : name, kinds[i].name))
			return kinds[i].kind;
	return COUNTER_OTHER;
}

static const struct counter *counters_find(const struct counters *counters, const char *name)
{
	for (size_t i = 0; i < counters->count; i++)
		if (!strcmp(counters->rows[i].name, name))
			return &counters->rows[i];
	return NULL;
}

json_t *counters_moved(const struct counters *before, const struct counters *after)
{
	json_t *moved = json_object();

	for (size_t i = 0; i < after->count && moved; i++) {
		const struct counter *now = &after->rows[i];
		const struct counter *then = counters_find(before, now->name);

		if (!then || now->value < then->value)
			continue;
		if (now->value > then->value || counters_kind(now->name) != COUNTER_OTHER)
			json_object_set_new(moved, now->name,
					    json_integer((json_int_t)(now->value - then->value)));
	}
	return moved;
}
