/* SPDX-License-Identifier: MIT */
#include "bench/plan/preset.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/base/printable.h"

/* A plan is short, but a result that contains one can take several MiB. */
#define PLAN_MOST (64 << 20)
/* Characters of a path that are always printed. */
#define PATH_LEAST 24

const struct option_value preset_names[PRESETS] = {
	{"quick",     "send, write and read: some sizes, poll and event"    },
	{"standard",  "send, write, read and write-imm: eight sizes"        },
	{"full",      "all operations that carry messages: all sizes"       },
	{"semantics", "what operations need from the server, and their cost"},
	{"verbs",     "each operation on each transport, briefly"           },
	{"tips",      "the cases of 'verbmark tips'"                        },
	{"gate",      "the cases of 'verbmark gate'"                        },
	{"fleet",     "the cases of 'verbmark fleet'"                       },
};

/*
 * Plans in the order of preset_names. Each limits the warm-up: on noisy machines it would otherwise
 * dominate the run.
 */
static const char *const texts[PRESETS] = {
	"[{\"op\": [\"send\", \"write\", \"read\"], \"metric\": [\"lat\"], \"size\": [64, 4096],"
	"  \"cq\": [\"poll\", \"event\"], \"duration\": [\"20ms\"], \"trials\": [6],"
	"  \"warmup\": [\"30ms\"], \"budget\": [\"15s\"]},"
	" {\"op\": [\"send\", \"write\", \"read\"], \"metric\": [\"bw\"],"
	"  \"size\": [64, 65536, 1048576], \"cq\": [\"poll\", \"event\"],"
	"  \"duration\": [\"20ms\"], \"trials\": [6],"
	"  \"warmup\": [\"30ms\"], \"budget\": [\"15s\"]}]",
	"[{\"op\": [\"send\", \"write\", \"read\", \"write-imm\"],"
	"  \"metric\": [\"lat\", \"bw\"],"
	"  \"size\": [8, 64, 512, 4096, 16384, 65536, 262144, 1048576],"
	"  \"cq\": [\"poll\", \"event\"], \"duration\": [\"40ms\"], \"trials\": [6],"
	"  \"warmup\": [\"40ms\"], \"budget\": [\"90s\"]}]",
	"[{\"op\": [\"send\", \"write\", \"read\", \"write-imm\", \"send-imm\", \"fetch-add\","
	"  \"compare-swap\", \"atomic-write\", \"write-notify\", \"read-notify\","
	"  \"doorbell\"],"
	"  \"metric\": [\"lat\", \"bw\"], \"size\": [\"1:8m\"],"
	"  \"cq\": [\"poll\", \"event\", \"adaptive\"], \"duration\": [\"60ms\"],"
	"  \"trials\": [6],"
	"  \"warmup\": [\"60ms\"], \"budget\": [\"20m\"]},"
	" {\"op\": [\"alloc\", \"send-inv\"], \"metric\": [\"lat\"], \"size\": [\"4k\", \"64k\", \"1m\"],"
	"  \"cq\": [\"poll\", \"event\", \"adaptive\"], \"duration\": [\"60ms\"],"
	"  \"trials\": [6],"
	"  \"warmup\": [\"60ms\"], \"budget\": [\"20m\"]}]",
	/* First what operations need and cost, one at a time with events; then how fast they are. */
	"[{\"op\": [\"send\", \"send-imm\", \"write-imm\", \"write\", \"read\","
	"  \"write-notify\", \"read-notify\"], \"metric\": [\"bw\"],"
	"  \"cq\": [\"event\"], \"tx-depth\": [1], \"cq-mod\": [1], \"needs\": [true],"
	"  \"duration\": [\"100ms\"], \"trials\": [6],"
	"  \"warmup\": [\"100ms\"]},"
	" {\"op\": [\"send\"], \"metric\": [\"lat\"], \"cq\": [\"event\"], \"cq-mod\": [1],"
	"  \"duration\": [\"100ms\"], \"trials\": [6],"
	"  \"warmup\": [\"100ms\"]},"
	" {\"op\": [\"send\", \"send-imm\", \"write-imm\", \"write\", \"write-notify\","
	"  \"read-notify\"], \"metric\": [\"lat\"],"
	"  \"think\": [\"0ns\", \"10us\"], \"duration\": [\"100ms\"], \"trials\": [6],"
	"  \"warmup\": [\"100ms\"]},"
	" {\"op\": [\"write\", \"read\"], \"metric\": [\"lat\"], \"server-cq\": [\"event\"],"
	"  \"think\": [\"0ns\", \"10us\"], \"duration\": [\"100ms\"], \"trials\": [6],"
	"  \"warmup\": [\"100ms\"]}]",
	/* What works at all: the table of coverage shows it. */
	"[{\"op\": [\"send\", \"write\", \"read\", \"write-imm\", \"send-imm\", \"fetch-add\","
	"  \"compare-swap\", \"atomic-write\", \"send-inv\", \"bind-mw\", \"rebind-mw\","
	"  \"local-inv\", \"write-notify\", \"read-notify\", \"doorbell\", \"alloc\"],"
	"  \"transport\": [\"RC\", \"UC\", \"UD\", \"XRC\", \"DC\", \"SRD\"],"
	"  \"metric\": [\"lat\", \"bw\"], \"size\": [64],"
	"  \"cq\": [\"poll\", \"event\", \"adaptive\"], \"iterations\": [100],"
	"  \"trials\": [1], \"warmup\": [\"1ms\"]}]",
	/* Each programming technique next to its opposite, which is the first of the list. */
	"[{\"op\": [\"write\"], \"metric\": [\"lat\"], \"size\": [8, 32, 64], \"inline\": [0, 64],"
	"  \"duration\": [\"30ms\"], \"trials\": [12],"
	"  \"warmup\": [\"30ms\"], \"interleave\": [true]},"
	" {\"op\": [\"write\"], \"metric\": [\"lat\"], \"size\": [128], \"inline\": [0, 128],"
	"  \"duration\": [\"30ms\"], \"trials\": [12],"
	"  \"warmup\": [\"30ms\"], \"interleave\": [true]},"
	" {\"op\": [\"write\"], \"metric\": [\"lat\"], \"size\": [256], \"inline\": [0, 256],"
	"  \"duration\": [\"30ms\"], \"trials\": [12],"
	"  \"warmup\": [\"30ms\"], \"interleave\": [true]},"
	" {\"op\": [\"write\"], \"metric\": [\"bw\"], \"post-list\": [1, 4, 16, 64],"
	"  \"duration\": [\"30ms\"], \"trials\": [12], \"warmup\": [\"30ms\"],"
	"  \"interleave\": [true]},"
	" {\"op\": [\"send\"], \"metric\": [\"lat\"], \"cq\": [\"poll\", \"event\", \"adaptive\"],"
	"  \"duration\": [\"30ms\"], \"trials\": [12], \"warmup\": [\"30ms\"],"
	"  \"interleave\": [true]},"
	" {\"op\": [\"read\"], \"metric\": [\"lat\"], \"size\": [\"4k\", \"64k\", \"1m\"],"
	"  \"registration\": [\"once\", \"each\"], \"duration\": [\"30ms\"], \"trials\": [12],"
	"  \"warmup\": [\"30ms\"], \"interleave\": [true]},"
	" {\"op\": [\"create-cq\"], \"metric\": [\"lat\"], \"tx-depth\": [16, 1024, 8192],"
	"  \"duration\": [\"30ms\"], \"trials\": [12], \"warmup\": [\"30ms\"],"
	"  \"interleave\": [true]},"
	" {\"op\": [\"send\"], \"metric\": [\"bw\"], \"cq-depth\": [1024, 4096, 16384],"
	"  \"duration\": [\"30ms\"], \"trials\": [12], \"warmup\": [\"30ms\"],"
	"  \"interleave\": [true]},"
	" {\"op\": [\"write\"], \"metric\": [\"lat\"], \"size\": [\"4k\"],"
	"  \"pin\": [\"off\", \"auto\", \"far\"], \"duration\": [\"30ms\"], \"trials\": [12],"
	"  \"warmup\": [\"30ms\"], \"interleave\": [true]},"
	" {\"op\": [\"read\"], \"metric\": [\"bw\"], \"size\": [\"4k\"], \"buffer\": [\"64m\"],"
	"  \"hugepages\": [false, true], \"duration\": [\"30ms\"], \"trials\": [12],"
	"  \"warmup\": [\"30ms\"], \"interleave\": [true]}]",
	/* For the gate: short trials, because it runs them many times. */
	"[{\"op\": [\"send\", \"write\", \"read\"], \"metric\": [\"lat\"], \"size\": [64, 4096],"
	"  \"duration\": [\"30ms\"], \"trials\": [6], \"warmup\": [\"30ms\"]},"
	" {\"op\": [\"send\", \"write\", \"read\"], \"metric\": [\"bw\"], \"size\": [64, 65536],"
	"  \"duration\": [\"30ms\"], \"trials\": [6], \"warmup\": [\"30ms\"]}]",
	/* For the fleet: about a second per pair. */
	"[{\"op\": [\"write\"], \"metric\": [\"bw\"], \"size\": [1048576], \"bidirectional\": [true],"
	"  \"duration\": [\"200ms\"], \"trials\": [3], \"warmup\": [\"20ms\"]},"
	" {\"op\": [\"send\"], \"metric\": [\"lat\"], \"size\": [8], \"duration\": [\"50ms\"],"
	"  \"trials\": [3], \"warmup\": [\"10ms\"]}]",
};

static int parse_failed(const json_error_t *fault, const char *what, struct error *error)
{
	char text[sizeof(fault->text)];

	/* The message quotes input. */
	printable_copy(text, sizeof(text), fault->text);
	return error_set(error, -EINVAL, "%s, line %d: %s", what, fault->line, text);
}

static size_t find_name(const char *name)
{
	size_t i = 0;

	while (i < PRESETS && strcmp(preset_names[i].name, name) != 0)
		i++;
	return i;
}

const char *preset_parse_name(const char *text, void *field)
{
	*(const char **)field = text;
	return find_name(text) < PRESETS ? NULL : "is not one of " PRESET_NAMES;
}

int preset_find(const char *name, json_t **plan, struct error *error)
{
	size_t i = find_name(name);
	json_error_t fault;

	if (i == PRESETS)
		return error_set(error, -EINVAL, "--preset: '%s' is not one of " PRESET_NAMES,
				 name);
	*plan = json_loads(texts[i], 0, &fault);
	return *plan ? 0 : parse_failed(&fault, name, error);
}

int preset_blame(const char *path, struct error *error)
{
	size_t length = strlen(path);
	size_t used = strlen(error->text) + strlen("...: ");
	size_t room = sizeof(error->text) - 1;

	/* Shorten a long path at the front, so that the message itself fits. */
	room = used + PATH_LEAST < room ? room - used : PATH_LEAST;
	if (length <= room)
		return error_wrap(error, "%s", path);
	return error_wrap(error, "...%s", path + length - room);
}

int preset_parse(const char *text, size_t length, const char *path, json_t **plan,
		 struct error *error)
{
	json_error_t fault;

	*plan = json_loadb(text, length, JSON_REJECT_DUPLICATES, &fault);
	return *plan ? 0 : parse_failed(&fault, path, error);
}

int preset_load(const char *path, json_t **plan, struct error *error)
{
	FILE *file = fopen(path, "re");
	size_t length = 0;
	char *text;

	if (!file)
		return error_set_errno(error, -errno, "cannot read the plan %s", path);
	text = malloc(PLAN_MOST);
	errno = 0;
	if (text)
		length = fread(text, 1, PLAN_MOST, file);
	if (!text || ferror(file))
		error_set_errno(error, errno ? -errno : -EIO, "cannot read the plan %s", path);
	else if (length == PLAN_MOST)
		error_set(error, -EFBIG, "%s is too large for a plan", path);
	fclose(file);
	*plan = NULL;
	if (!error->code)
		preset_parse(text, length, path, plan, error);
	free(text);
	return error->code;
}
