/* SPDX-License-Identifier: MIT */
#include <stdbool.h>

#include "bench/cli/tty.h"
#include "bench/cmd/command.h"
#include "bench/cmd/devices_memory.h"
#include "bench/host/inventory.h"
#include "bench/host/soft_device.h"
#include "core/base/address.h"
#include "reports/result/banner.h"
#include "reports/table/grid.h"

struct settings {
	const char *device;
	bool memory;
	bool json;
};

static const struct option_row rows[] = {
	{"device", 'd', "NAME", option_text, offsetof(struct settings, device),
	 "list only this device: NAME, NAME/PORT, soft0 (software) or auto", .group = OPTION_GENERAL},
	{"memory", 0,   NULL,   option_flag, offsetof(struct settings, memory),
	 "list GPUs instead, each with the RDMA device nearest to it",       .group = OPTION_GENERAL},
	{"json",   0,   NULL,   option_flag, offsetof(struct settings, json),
	 "print a JSON array of ports or GPUs",                              .group = OPTION_GENERAL},
};

static const struct option_table options = {.rows = rows, .count = ARRAY_LENGTH(rows)};

static void put_port(struct grid *grid, const struct device_port *port)
{
	grid_put(grid, "%s/%u", port->device, port->port);
	grid_put(grid, "%s", device_kind_name(port->kind));
	grid_put(grid, "%s", device_state_name(port->state));
	grid_put(grid, "%s", port->link_layer);
	grid_put(grid, "%.4g", (double)port->rate_mbps / 1000);
	grid_put(grid, "%u", port->active_mtu);
	grid_put(grid, port->numa_node < 0 ? "-" : "%d", port->numa_node);
	for (size_t i = 0; i < port->n_addresses; i++) {
		const struct device_address *address = &port->addresses[i];
		char text[ADDRESS_TEXT];

		grid_begin(grid, "%s%s/%u", i ? " " : "",
			   address_text((const struct sockaddr *)&address->address, text),
			   address->prefix);
	}
	grid_put(grid, "%s", "");
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
	static const struct grid_column columns[] = {
		{"DEVICE/PORT", GRID_WORDS,   0},
                {"KIND",        GRID_WORDS,   0},
		{"STATE",       GRID_WORDS,   0},
                {"LINK",        GRID_WORDS,   0},
		{"Gb/s",        GRID_FIGURES, 0},
                {"MTU",         GRID_FIGURES, 0},
		{"NUMA",        GRID_FIGURES, 0},
                {"ADDRESSES",   GRID_WORDS,   0},
	};
	struct terminal terminal = tty_find(stdout, NULL);
	bool has_soft = false;
	struct grid grid;

	for (size_t i = 0; i < list->n_ports; i++)
		has_soft = has_soft || list->ports[i].kind == DEVICE_KIND_SOFT;
	if (has_soft)
		puts(BANNER_SOFT);
	grid_open(&grid);
	grid_add_columns(&grid, columns, ARRAY_LENGTH(columns));
	for (size_t i = 0; i < list->n_ports; i++)
		put_port(&grid, &list->ports[i]);
	grid_text(&terminal, &grid);
	grid_close(&grid);
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
	if (settings.memory)
		return devices_memory(settings.json, error) ? COMMAND_FAILED : COMMAND_GOOD;
	if (soft_device_choose(&settings.device, error) ||
	    soft_device_require(settings.device, false, error))
		return COMMAND_FAILED;
	return print(&settings, error) ? COMMAND_FAILED : COMMAND_GOOD;
}

// clang-format off
const struct command command_devices = {
	.name = "devices",
	.group = COMMAND_INSPECT,
	.summary = "list RDMA devices, their ports and addresses",
	.about = "Lists the RDMA devices of this host with their ports, rates and addresses.",
	.examples = {
		{"verbmark devices",
		 "print a table of ports"},
		{"verbmark devices -d mlx5_0 --json",
		 "print the ports of one device as JSON"},
	},
	.options = &options,
	.run = cmd_devices_run,
};
// clang-format on
