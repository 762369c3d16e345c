/* SPDX-License-Identifier: MIT */
#include "bench/server/pool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench/cli/value.h"
#include "bench/cmd/command.h"
#include "bench/control/control.h"
#include "bench/host/soft_device.h"
#include "bench/plan/plan.h"
#include "core/base/clock.h"
#include "core/base/random.h"
#include "core/pool/client.h"
#include "reports/result/banner.h"

struct settings {
	const char *host;
	const char *device;
	uint16_t port;
	uint64_t size;
	uint64_t writes;
	uint64_t every;
	uint64_t seed;
	uint64_t wait;
	const char *dump;
};

static const char *parse_count(const char *text, void *field)
{
	return value_count(text, 0, UINT32_MAX, field) ? NULL
						       : "is not a number from 0 to 4294967295";
}

/* Any size is valid here, even 0: the server decides. */
static const char *parse_size(const char *text, void *field)
{
	return value_size(text, field) ? NULL : "is not a size (e.g. 10000 or 64k)";
}

#define FIELD(member) offsetof(struct settings, member)

static const struct option_value modes[] = {
	{"poll",  "poll for the server's answers"},
	{"event", "sleep until an answer arrives"},
};

// clang-format off
static const struct option_row rows[] = {
	{"alloc", 0, "SIZE", parse_size, FIELD(size),
	 "bytes of the server's memory to allocate (10000)", .group = OPTION_GENERAL},
	{"writes", 0, "N", parse_count, FIELD(writes),
	 "number of 32-bit values to write (1024)", .group = OPTION_GENERAL},
	{"doorbell-every", 0, "N", parse_count, FIELD(every),
	 "ring a doorbell with every N-th write; 0: never (64)", .group = OPTION_GENERAL},
	{"cq", 0, "MODE", serve_pool_parse_wait, FIELD(wait),
	 "completion mode: poll or event (poll)",
	 .group = OPTION_GENERAL, .values = OPTION_VALUES(modes)},
	{"seed", 0, "N", parse_count, FIELD(seed),
	 "seed of the values (1)", .group = OPTION_GENERAL},
	{"dump", 0, "FILE", option_text, FIELD(dump),
	 "write the number and value of each doorbell to FILE", .group = OPTION_GENERAL},
	{"device", 'd', "NAME", option_text, FIELD(device),
	 "RDMA device: NAME, soft0 (software) or auto", .group = OPTION_GENERAL},
	{"port", 'p', "PORT", option_port, FIELD(port),
	 "port of the server (7471)", .group = OPTION_GENERAL},
};
// clang-format on

static const struct option_table options = {
	.rows = rows,
	.count = ARRAY_LENGTH(rows),
	.operand = "HOST",
	.operand_offset = FIELD(host),
};

static int write_values(struct pool_client *client, const struct settings *settings, FILE *dump,
			struct error *error)
{
	uint64_t state = settings->seed;

	for (uint64_t i = 0; i < settings->writes; i++) {
		uint32_t value = (uint32_t)random_next(&state);
		uint32_t rung = client->rung;
		int code = pool_client_write(client, value, error);

		if (code)
			return code;
		if (client->rung == rung)
			continue;
		printf("doorbell %" PRIu32 ": value %" PRIu32 "\n", client->rung, value);
		if (dump)
			fprintf(dump, "%" PRIu32 " %" PRIu32 "\n", client->rung, value);
	}
	/* Waits until unsignaled writes are complete and the server has seen all doorbells. */
	return pool_client_sync(client, error);
}

/* Opens the dump only now, so that an existing file is kept if the server cannot be reached. */
static int write_all(struct pool_client *client, const struct settings *settings,
		     struct error *error)
{
	FILE *dump = NULL;
	int code;

	if (settings->dump) {
		dump = fopen(settings->dump, "we");
		if (!dump)
			return error_set_errno(error, -errno, "cannot write %s", settings->dump);
		setvbuf(dump, NULL, _IOLBF, 0);
	}
	code = write_values(client, settings, dump, error);
	if (dump && (ferror(dump) | fclose(dump)) && !code)
		code = error_set(error, -EIO, "cannot write to %s", settings->dump);
	return code;
}

static int use(struct pool_client *client, const struct settings *settings, struct error *error)
{
	uint64_t start;
	int code = pool_client_alloc(client, settings->size, (uint32_t)settings->every, error);

	if (code)
		return code;
	printf("granted %" PRIu64 " bytes at 0x%" PRIx64 ", rkey 0x%08" PRIx32 "\n",
	       client->grant.size, client->grant.address, client->grant.rkey);
	start = clock_now_ns();
	if (settings->writes)
		code = write_all(client, settings, error);
	if (code)
		return code;
	printf("%" PRIu64 " write%s, %" PRIu32 " doorbell%s in %.3f ms\n", client->written,
	       client->written == 1 ? "" : "s", client->rung, client->rung == 1 ? "" : "s",
	       (double)(clock_now_ns() - start) / 1e6);
	code = pool_client_free(client, client->grant.address, error);
	if (!code)
		puts("returned");
	return code;
}

static int run_client(const struct settings *settings, struct error *error)
{
	const struct pool_client_settings wanted = {
		.host = settings->host,
		.device = settings->device,
		.port = settings->port,
		.wait = (enum rdma_wait_mode)settings->wait,
	};
	struct pool_client client = {0};
	int code;

	/* Print each doorbell immediately, also to a pipe. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	code = pool_client_open(&client, &wanted, error);
	/* A server that refused has said why. */
	if (code == -ECONNREFUSED && !strstr(error->text, "the server refused"))
		error_append(error, "is 'verbmark serve --pool SIZE' running there?");
	if (code)
		return code;
	if (soft_device_is_soft())
		puts(BANNER_SOFT);
	printf("pool of %" PRIu64 " bytes at %s port %u\n", pool_client_size(&client),
	       settings->host, settings->port);
	code = use(&client, settings, error);
	pool_client_close(&client);
	return code;
}

static int cmd_pool_check(const struct settings *settings, struct error *error)
{
	if (!settings->host)
		return error_set(error, -EINVAL,
				 "HOST is missing: give a host that runs 'verbmark serve --pool'");
	if (settings->dump && !settings->every)
		return error_set(error, -EINVAL,
				 "--dump needs doorbells; use a --doorbell-every above 0");
	return 0;
}

static int cmd_pool_run(int argc, char *argv[], const char **operands, struct error *error)
{
	struct settings settings = {
		.port = PLAN_PORT, .size = 10000, .writes = 1024, .every = 64, .seed = 1};
	int code = option_parse(&options, argc, argv, &settings, error);

	if (code)
		return command_parsed(code);
	if (cmd_pool_check(&settings, error))
		return COMMAND_USAGE;
	if (soft_device_choose(&settings.device, error) ||
	    soft_device_require(settings.device, false, error))
		return COMMAND_FAILED;
	return run_client(&settings, error) ? COMMAND_FAILED : COMMAND_GOOD;
}

// clang-format off
const struct command command_pool = {
	.name = "pool",
	.group = COMMAND_MEASURE,
	.summary = "use memory of a server's pool",
	.about = "Allocates memory of a server that runs 'verbmark serve --pool', writes to it, rings "
		 "doorbells, and frees it.",
	.examples = {
		{"verbmark pool n02",
		 "write 1024 values and ring 16 doorbells"},
		{"verbmark pool n02 --alloc 1m --writes 100000 --doorbell-every 0",
		 "write without doorbells"},
	},
	.options = &options,
	.run = cmd_pool_run,
};
// clang-format on
