/* SPDX-License-Identifier: MIT */
#include <stdbool.h>

#include "bench/cmd/command.h"
#include "bench/host/inventory.h"
#include "bench/host/soft_device.h"
#include "core/base/address.h"
#include "reports/result/banner.h"

struct settings {
	const char *device;
	bool json;
};

static const struct option_row rows[] = {
	{"device", 'd', "NAME", option_text, offsetof(struct settings, device),
	 "only this: DEVICE or DEVICE/PORT, soft0 (in software), auto"                                 },
	{"json",   0,   NULL,   option_flag, offsetof(struct settings, json),   "a JSON array of ports"},
};

static const struct option_table options = {.rows = rows, .count = ARRAY_LENGTH(rows)};

static void print_port(const struct device_port *port)
{
	char name[80];
	char numa[16] = "-";

	snprintf(name, sizeof(name), "%s/%u", port->device, port->port);
	if (port->numa_node >= 0)
		snprintf(numa, sizeof(numa), "%d", port->numa_node);
	printf("%-16s %-8s %-8s %-11s %7.4g %5u %5s ", name, device_kind_name(port->kind),
	       device_state_name(port->state), port->link_layer, (double)port->rate_mbps / 1000,
	       port->active_mtu, numa);
	for (size_t i = 0; i < port->n_addresses; i++) {
		const struct device_address *address = &port->addresses[i];
		char text[ADDRESS_TEXT];

		printf(" %s/%u", address_text((const struct sockaddr *)&address->address, text),
		       address->prefix);
	}
	putchar('\n');
}

static int print_json(const struct device_list *list, struct error *error)
{
	json_t *ports = inventory_encode(list);
	int code = ports ? json_dumpf(ports, stdout, JSON_INDENT(1)) : -1;

	json_decref(ports);
	putchar('\n');
	return code || fflush(stdout) ? error_set(error, -1, "cannot write the list") : 0;
}

static void print_table(const struct device_list *list)
{
	bool has_soft = false;

	for (size_t i = 0; i < list->n_ports; i++)
		has_soft = has_soft || list->ports[i].kind == DEVICE_KIND_SOFT;
	if (has_soft)
		puts(BANNER_SOFT);
	printf("%-16s %-8s %-8s %-11s %7s %5s %5s  %s\n", "DEVICE/PORT", "KIND", "STATE", "LINK",
	       "Gb/s", "MTU", "NUMA", "ADDRESSES");
	for (size_t i = 0; i < list->n_ports; i++)
		print_port(&list->ports[i]);
}

static int print(const struct settings *settings, struct error *error)
{
	struct device_list list;
	int code = device_list_open(&list, error);

	if (!code)
		code = inventory_keep(&list, settings->device, error);
	if (!code && settings->json)
		code = print_json(&list, error);
	else if (!code)
		print_table(&list);
	device_list_close(&list);
	return code;
}

static int cmd_devices_run(int argc, char *argv[], const char **operands, struct error *error)
{
	struct settings settings = {0};
	int code = option_parse(&options, argc, argv, &settings, error);

	if (code)
		return command_parsed(code);
	if (soft_device_choose(&settings.device, error) ||
	    soft_device_require(settings.device, false, error))
		return COMMAND_FAILED;
	return print(&settings, error) ? COMMAND_FAILED : COMMAND_GOOD;
}

const struct command command_devices = {
	.name = "devices",
	.summary = "lists RDMA devices, their ports and addresses",
	.options = &options,
	.run = cmd_devices_run,
};
