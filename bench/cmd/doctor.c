/* SPDX-License-Identifier: MIT */
#include "bench/doctor/doctor.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "bench/cmd/command.h"
#include "bench/control/control.h"
#include "bench/host/soft_device.h"
#include "bench/plan/plan.h"
#include "core/base/printable.h"
#include "core/verbs/device_kind.h"
#include "reports/result/banner.h"

struct settings {
	const char *host;
	const char *device;
	const char *secret_file;
	uint16_t port;
	bool json;
};

static const struct option_row rows[] = {
	{"device",      'd', "NAME", option_text, offsetof(struct settings, device),
	 "examine this device: NAME, NAME/PORT, soft0 (software) or auto", .group = OPTION_GENERAL},
	{"port",        'p', "PORT", option_port, offsetof(struct settings, port),
	 "TCP port of the server (7471)",                                  .group = OPTION_GENERAL},
	{"secret-file", 0,   "FILE", option_text, offsetof(struct settings, secret_file),
	 "file with the secret shared with the server",                    .group = OPTION_GENERAL},
	{"json",        0,   NULL,   option_flag, offsetof(struct settings, json),
	 "print a JSON object of findings and facts",                      .group = OPTION_GENERAL},
};

static const struct option_table options = {
	.rows = rows,
	.count = ARRAY_LENGTH(rows),
	.operand = "[HOST]",
	.operand_offset = offsetof(struct settings, host),
};

static const char *text(const json_t *finding, const char *key)
{
	const char *value = json_string_value(json_object_get(finding, key));

	return value ? value : "";
}

static void print_finding(const json_t *finding, bool spoils)
{
	if (json_is_true(json_object_get(finding, "spoils")) != spoils)
		return;
	printf("%c %s: %s\n", spoils ? '!' : '-', text(finding, "host"), text(finding, "what"));
	printf("  why:  %s\n", text(finding, "why"));
	if (*text(finding, "mend"))
		printf("  fix:  %s\n", text(finding, "mend"));
}

/* Prints the examined host and port. */
static void print_end(const json_t *facts)
{
	const json_t *device = json_object_get(facts, "device");
	const json_t *port = json_object_get(facts, "port");
	char name[64];

	printable_copy(name, sizeof(name), text(facts, "host"));
	printf("%s", name);
	if (!device)
		return;
	printable_copy(name, sizeof(name), text(device, "name"));
	printf(" %s/%lld", name, json_integer_value(json_object_get(port, "number")));
}

static bool is_soft(const json_t *facts)
{
	return !strcmp(text(json_object_get(facts, "device"), "kind"),
		       device_kind_name(DEVICE_KIND_SOFT));
}

static void print_report(const struct doctor *doctor, size_t spoiling)
{
	size_t count = json_array_size(doctor->findings);

	if (is_soft(doctor->near) || is_soft(doctor->far))
		puts(BANNER_SOFT);
	print_end(doctor->near);
	if (doctor->far) {
		printf(" -> ");
		print_end(doctor->far);
	}
	putchar('\n');
	for (int spoils = 1; spoils >= 0; spoils--)
		for (size_t i = 0; i < count; i++)
			print_finding(json_array_get(doctor->findings, i), spoils);
	if (spoiling)
		printf("%zu of %zu findings would skew a measurement (!)\n", spoiling, count);
	else
		printf("found nothing that would skew a measurement\n");
}

static int print_json(const struct doctor *doctor, size_t spoiling, struct error *error)
{
	json_t *report = json_pack("{s:b, s:O, s:{s:O, s:O*}, s:O*}", "good", !spoiling, "findings",
				   doctor->findings, "hosts", "client", doctor->near, "server",
				   doctor->far, "counters", doctor->counters);
	int code = report ? json_dumpf(report, stdout, JSON_INDENT(1) | JSON_ENSURE_ASCII) : -1;

	json_decref(report);
	putchar('\n');
	return code || fflush(stdout) ? error_set(error, -EIO, "cannot write the findings") : 0;
}

static int examine(struct doctor *doctor, const struct settings *settings, struct error *error)
{
	struct secret secret = {0};
	const struct doctor_server_wish wish = {settings->host, settings->port, settings->device,
						&secret};
	int code = 0;

	*doctor = (struct doctor){0};
	if (settings->secret_file)
		code = secret_read(&secret, settings->secret_file, error);
	if (!code)
		code = doctor_open(doctor, &wish, error);
	secret_forget(&secret);
	return code;
}

static int cmd_doctor_run(int argc, char *argv[], const char **operands, struct error *error)
{
	struct settings settings = {.port = PLAN_PORT};
	struct doctor doctor;
	size_t spoiling = 0;
	int code = option_parse(&options, argc, argv, &settings, error);

	if (code)
		return command_parsed(code);
	if (settings.secret_file && !settings.host) {
		error_set(error, -EINVAL, "--secret-file needs HOST");
		return COMMAND_USAGE;
	}
	if (soft_device_choose(&settings.device, error))
		return COMMAND_FAILED;
	code = examine(&doctor, &settings, error);
	if (!code) {
		spoiling = advice_count_spoiling(doctor.findings);
		if (settings.json)
			code = print_json(&doctor, spoiling, error);
		else
			print_report(&doctor, spoiling);
	}
	doctor_close(&doctor);
	return code || spoiling ? COMMAND_FAILED : COMMAND_GOOD;
}

// clang-format off
const struct command command_doctor = {
	.name = "doctor",
	.group = COMMAND_INSPECT,
	.summary = "find settings that would skew a measurement",
	.about = "Examines this host, and with HOST also the server and the path between both, and prints what "
		 "would skew a measurement and how to fix it. Changes nothing.",
	.examples = {
		{"verbmark doctor",
		 "examine this host"},
		{"verbmark doctor n02",
		 "examine both hosts and the path between them"},
	},
	.options = &options,
	.run = cmd_doctor_run,
};
// clang-format on
