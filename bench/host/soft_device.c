/* SPDX-License-Identifier: MIT */
#include "bench/host/soft_device.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/compiler.h"
#include "core/verbs/device.h"

#define PRELOAD "LD_PRELOAD"
/* Set when the program is re-executed: the value of LD_PRELOAD before that. */
#define AGAIN "VERBMARK_PRELOAD_BEFORE"

#define PATH_SIZE 1024

static char **words;
static bool is_again;
static const char *loaded; /* LD_PRELOAD, as set for the re-execution */

void soft_device_begin(char *argv[])
{
	const char *before = getenv(AGAIN);
	const char *with = getenv(PRELOAD);

	words = argv;
	is_again = before != NULL;
	if (!is_again)
		return;
	loaded = with ? strdup(with) : NULL;
	if (*before)
		setenv(PRELOAD, before, 1);
	else
		unsetenv(PRELOAD);
	unsetenv(AGAIN);
}

void soft_device_pass_on(void)
{
	const char *before = getenv(PRELOAD);

	if (!is_again || !loaded)
		return;
	setenv(AGAIN, before ? before : "", 1);
	setenv(PRELOAD, loaded, 1);
}

bool soft_device_is_soft(void)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	bool found = false;

	for (size_t i = 0; devices && devices[i]; i++)
		found = found || !strcmp(ibv_get_device_name(devices[i]), SOFT_DEVICE_NAME);
	if (devices)
		ibv_free_device_list(devices);
	return found;
}

bool soft_device_has_replaced(void)
{
	return is_again && soft_device_is_soft();
}

static bool find_program(char path[static PATH_SIZE])
{
	ssize_t length = readlink("/proc/self/exe", path, PATH_SIZE - 1);

	if (length <= 0)
		return false;
	path[length] = '\0';
	return true;
}

/* Searches the build folder, the installation relative to the program, and its fixed path. */
static int find_library(const char *program, char path[static PATH_SIZE], struct error *error)
{
	static const char *const places[] = {"../core/soft", SOFT_NEAR, SOFT_INSTALLED};
	const char *slash = strrchr(program, '/');

	for (size_t i = 0; i < ARRAY_LENGTH(places); i++) {
		char place[2 * PATH_SIZE];
		char *real;

		snprintf(place, sizeof(place), "%.*s%s/libverbmark-soft.so",
			 places[i][0] == '/' || !slash ? 0 : (int)(slash + 1 - program), program,
			 places[i]);
		real = realpath(place, NULL);
		if (!real)
			continue;
		snprintf(path, PATH_SIZE, "%s", real);
		free(real);
		/* The loader splits LD_PRELOAD at these. */
		if (path[strcspn(path, ": \t")])
			return error_set(error, -EINVAL,
					 SOFT_DEVICE_NAME
					 ": %s has a blank or a colon in its path, and "
					 "cannot be preloaded",
					 path);
		return 0;
	}
	return error_set(error, -ENOENT,
			 SOFT_DEVICE_NAME
			 ": libverbmark-soft.so is neither in a build folder nor in " SOFT_INSTALLED
			 "; run 'meson compile', or install softrdma");
}

/* Appends it to LD_PRELOAD: libraries that are already there may want to see its calls. */
static int add_library(const char *library, struct error *error)
{
	const char *before = getenv(PRELOAD);
	char *both;

	if (!before)
		before = "";
	if (asprintf(&both, "%s%s%s", before, *before ? ":" : "", library) < 0)
		return error_set_errno(error, -ENOMEM, SOFT_DEVICE_NAME);
	if (setenv(AGAIN, before, 1) || setenv(PRELOAD, both, 1))
		error_set_errno(error, -errno, SOFT_DEVICE_NAME);
	free(both);
	return error->code;
}

/* Returns only on failure. */
static int execute_again(struct error *error)
{
	char program[PATH_SIZE];
	char library[PATH_SIZE];

	if (!find_program(program))
		return error_set_errno(error, -errno,
				       SOFT_DEVICE_NAME ": cannot find this program");
	if (find_library(program, library, error) || add_library(library, error))
		return error->code;
	execv(program, words);
	return error_set_errno(error, -errno, SOFT_DEVICE_NAME ": cannot re-execute %s", program);
}

static bool is_loaded(void)
{
	Dl_info found;

	return dladdr((const void *)(uintptr_t)ibv_get_device_list, &found) && found.dli_fname &&
	       strstr(found.dli_fname, "libverbmark-soft");
}

static int become_soft(struct error *error)
{
	if (soft_device_is_soft())
		return 0;
	if (is_again && is_loaded())
		return error_set(error, -ENODEV,
				 SOFT_DEVICE_NAME
				 ": the device is missing: see the messages above");
	if (is_again)
		return error_set(error, -ELIBACC,
				 SOFT_DEVICE_NAME
				 ": libverbmark-soft.so was not loaded: LD_PRELOAD is ignored "
				 "for programs that gain privileges");
	return execute_again(error);
}

/* Returns whether a device can be opened. A container may list devices that it may not use. */
static bool has_usable(void)
{
	struct error ignored = {0};
	struct device_list list;
	int code = device_list_open(&list, &ignored);

	device_list_close(&list);
	return !code;
}

/* Returns whether it names soft0. Its port number, if any, is checked later. */
static bool is_soft(const char *device)
{
	size_t length = strlen(SOFT_DEVICE_NAME);

	return !strncmp(device, SOFT_DEVICE_NAME, length) &&
	       (!device[length] || device[length] == '/');
}

int soft_device_choose(const char **device, struct error *error)
{
	const char *asked = *device;

	if (asked && is_soft(asked))
		return become_soft(error);
	if (!asked || strcmp(asked, "auto") != 0)
		return 0;
	*device = NULL;
	return has_usable() ? 0 : become_soft(error);
}

int soft_device_require(const char *device, bool may_be_soft, struct error *error)
{
	struct error fault = {0};
	int code = device_require(&fault);

	if (!code)
		return 0;
	if (code != -ENODEV)
		return error_set(error, code, "%s", fault.text);
	if (may_be_soft && !device)
		return become_soft(error);
	error_set(error, code, "%s, or --device " SOFT_DEVICE_NAME " (not a measurement)",
		  fault.text);
	return device ? error_wrap(error, "no device '%.40s'", device) : code;
}
