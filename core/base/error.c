/* SPDX-License-Identifier: MIT */
#include "core/base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *error, int code, const char *format, ...)
{
	if (error && !error->code) {
		va_list args;

		error->code = code;
		va_start(args, format);
		vsnprintf(error->text, sizeof(error->text), format, args);
		va_end(args);
	}
	return code;
}

int error_set_errno(struct error *error, int code, const char *format, ...)
{
	if (error && !error->code) {
		char reason[96];
		size_t used;
		va_list args;

		error->code = code;
		va_start(args, format);
		vsnprintf(error->text, sizeof(error->text), format, args);
		va_end(args);
		used = strlen(error->text);
		snprintf(error->text + used, sizeof(error->text) - used, ": %s",
			 strerror_r(-code, reason, sizeof(reason)));
	}
	return code;
}

int error_wrap(struct error *error, const char *format, ...)
{
	char inner[sizeof(error->text)];
	size_t used;
	size_t room;
	va_list args;

	if (!error)
		return -EIO;
	if (!error->code)
		return 0;
	memcpy(inner, error->text, sizeof(inner));
	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	used = strlen(error->text);
	room = sizeof(error->text) - used;
	/* Mark the original text as truncated, if any of it is left. */
	if ((size_t)snprintf(error->text + used, room, ": %s", inner) >= room &&
	    room > sizeof(": ...") + sizeof("..."))
		memcpy(error->text + sizeof(error->text) - sizeof("..."), "...", sizeof("..."));
	return error->code;
}

int error_append(struct error *error, const char *format, ...)
{
	char note[sizeof(error->text)];
	size_t used;
	va_list args;

	if (!error)
		return -EIO;
	if (!error->code)
		return 0;
	va_start(args, format);
	vsnprintf(note, sizeof(note), format, args);
	va_end(args);
	used = strlen(error->text);
	snprintf(error->text + used, sizeof(error->text) - used, "; %s", note);
	return error->code;
}
