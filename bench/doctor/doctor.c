/* SPDX-License-Identifier: MIT */
#include "bench/doctor/doctor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/doctor/gpu_advice.h"
#include "bench/doctor/path_advice.h"
#include "bench/doctor/server.h"
#include "bench/host/counters.h"
#include "bench/host/facts/facts.h"
#include "bench/host/inventory.h"
#include "core/base/clock.h"
#include "core/base/printable.h"
#include "core/base/sysfs.h"
#include "core/verbs/device.h"

#define CLASS "/sys/class/infiniband"

/* Minimum time to watch the counters. */
#define WATCH_MS 1000

/* The root of this machine's files. */
#define HERE ""

/* The examined port; none if the name is empty. */
struct choice {
	char device[IBV_SYSFS_NAME_MAX];
	unsigned int port;
};

/* Chooses a port that the kernel has but libibverbs does not offer to this process. */
static void choose_hidden(struct choice *choice, const char *wish)
{
	struct sysfs_names names;

	sysfs_names_open(&names, HERE, CLASS);
	for (size_t i = 0; i < names.count && !choice->device[0]; i++) {
		struct device_port port = {.port = 1};
		size_t length = strlen(names.name[i]);

		snprintf(port.device, sizeof(port.device), "%s", names.name[i]);
		if (wish && !strncmp(wish, port.device, length) && wish[length] == '/')
			port.port = (uint8_t)strtoul(wish + length + 1, NULL, 10);
		if ((wish && !inventory_names(wish, port.device, port.port)) ||
		    !sysfs_exists(HERE, CLASS "/%s/ports/%u", port.device, port.port))
			continue;
		snprintf(choice->device, sizeof(choice->device), "%s", port.device);
		choice->port = port.port;
	}
	sysfs_names_close(&names);
}

static int choose(struct choice *choice, const struct device_list *devices, const char *wish,
		  struct error *error)
{
	const struct device_port *port = inventory_best(devices, wish);

	if (port) {
		snprintf(choice->device, sizeof(choice->device), "%s", port->device);
		choice->port = port->port;
		return 0;
	}
	choose_hidden(choice, wish);
	return choice->device[0] || !devices->n_ports ? 0 : inventory_unknown(devices, wish, error);
}

/*
 * Returns a finding about a port without an address. An InfiniBand port has a netdev only with
 * IPoIB, but can carry messages without.
 */
static json_t *no_address(const struct device_port *port, const char *host, const char *netdev)
{
	bool is_infiniband = !strcmp(port->link_layer, "InfiniBand");
	char what[128];
	char mend[160];

	snprintf(what, sizeof(what), "%s/%u has no IP address", port->device, port->port);
	snprintf(mend, sizeof(mend), "%sip address add ADDRESS/PREFIX dev %.15s%s",
		 !netdev && is_infiniband ? "modprobe ib_ipoib, and " : "",
		 netdev ? netdev : "NETDEV", is_infiniband ? "; until then use --connect qp" : "");
	return advice_finding("address", !is_infiniband, host, what,
			      is_infiniband ? "rdma_cm needs an address, but --connect qp does not"
					    : "RDMA connections need an IP address",
			      mend);
}

/* Adds a finding if the chosen port has no address for rdma_cm. */
static void check_address(const struct doctor *doctor, const struct choice *choice,
			  const struct device_list *devices)
{
	const char *host = json_string_value(json_object_get(doctor->near, "host"));
	const char *netdev =
		json_string_value(json_object_get(json_object_get(doctor->near, "netdev"), "name"));

	for (size_t i = 0; i < devices->n_ports; i++) {
		const struct device_port *port = &devices->ports[i];

		if (!strcmp(port->device, choice->device) && port->port == choice->port &&
		    !port->n_addresses)
			json_array_append_new(doctor->findings,
					      no_address(port, host ? host : "this host", netdev));
	}
}

static void copy_host(struct result_end *end, const json_t *facts)
{
	const char *host = json_string_value(json_object_get(facts, "host"));

	printable_copy(end->host, sizeof(end->host), host ? host : "");
}

/* Tests the path between the two ports, if there are two. */
static void prove_path(struct doctor *doctor, struct doctor_server *connection)
{
	struct path_probe path = {.near = connection->near, .far = connection->far};

	if (!connection->has_pair)
		return;
	copy_host(&path.near, doctor->near);
	copy_host(&path.far, doctor->far);
	path_probe_run(&path, &connection->control);
	path_advice(&path, doctor->findings);
	if (!path.lost[0])
		doctor_server_note(connection);
}

static void wait_until(uint64_t deadline_ns)
{
	int left_ms;

	while ((left_ms = clock_left_ms(deadline_ns)) > 0)
		nanosleep(&(struct timespec){.tv_sec = left_ms / 1000,
					     .tv_nsec = left_ms % 1000 * (long)NS_PER_MS},
			  NULL);
}

/* Watches the device's counters while the path is tested. */
static int watch_counters(struct doctor *doctor, const struct choice *choice,
			  struct doctor_server *connection, struct error *error)
{
	uint64_t deadline_ns = clock_deadline(WATCH_MS);
	struct counters before;
	struct counters after;
	int code = counters_open(&before, HERE, choice->device, choice->port, NULL, error);

	if (code)
		return code;
	prove_path(doctor, connection);
	wait_until(deadline_ns);
	code = counters_open(&after, HERE, choice->device, choice->port, &before, error);
	if (!code && choice->device[0])
		doctor->counters = counters_moved(&before, &after);
	if (!code)
		counters_close(&after);
	counters_close(&before);
	return code;
}

static int examine(struct doctor *doctor, const struct choice *choice,
		   struct doctor_server *connection, struct error *error)
{
	json_t *before = facts_noise(HERE);
	int code = watch_counters(doctor, choice, connection, error);
	json_t *after = facts_noise(HERE);
	const struct advice_end near = {.facts = doctor->near,
					.before = before,
					.after = after,
					.counters = doctor->counters};
	const struct advice_end far = {.facts = doctor->far,
				       .before = connection->before,
				       .after = connection->after,
				       .counters = connection->counters,
				       .is_lone = !connection->has_pair};
	json_t *advice = code ? NULL : advice_make(&near, doctor->far ? &far : NULL);

	if (!code && (!advice || json_array_extend(doctor->findings, advice)))
		code = error_set_errno(error, -ENOMEM, "cannot keep the findings");
	json_decref(advice);
	json_decref(after);
	json_decref(before);
	return code;
}

/* Examines this host and the server, on the ports that share a network if a server was reached. */
static int doctor_look(struct doctor *doctor, struct choice *choice,
		       const struct device_list *devices, struct doctor_server *connection,
		       struct error *error)
{
	if (connection->has_pair) {
		snprintf(choice->device, sizeof(choice->device), "%s", connection->near.device);
		choice->port = connection->near.port;
	}
	doctor->far = json_incref(connection->facts);
	doctor->near = facts_gather(HERE, choice->device[0] ? choice->device : NULL, choice->port);
	if (!doctor->near)
		return error_set_errno(error, -ENOMEM, "cannot keep the facts");
	check_address(doctor, choice, devices);
	gpu_advice(doctor->near, doctor->findings);
	gpu_advice(doctor->far, doctor->findings);
	return examine(doctor, choice, connection, error);
}

int doctor_open(struct doctor *doctor, const struct doctor_server_wish *wish, struct error *error)
{
	struct error ignored = {0};
	struct choice choice = {0};
	struct device_list devices;
	struct doctor_server connection = {0};
	int code;

	*doctor = (struct doctor){.findings = json_array()};
	/* The advice rules explain why there is no device. */
	device_list_open(&devices, &ignored);
	code = choose(&choice, &devices, wish->device, error);
	if (!code && wish->host)
		doctor_server_open(&connection, wish, &devices, doctor->findings);
	if (!code)
		code = doctor_look(doctor, &choice, &devices, &connection, error);
	doctor_server_close(&connection);
	device_list_close(&devices);
	return code;
}

void doctor_close(struct doctor *doctor)
{
	json_decref(doctor->findings);
	json_decref(doctor->near);
	json_decref(doctor->far);
	json_decref(doctor->counters);
	*doctor = (struct doctor){0};
}
