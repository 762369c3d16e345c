/* SPDX-License-Identifier: MIT */
#include "reports/export/xml.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/base/compiler.h"

/* The form of a UTF-8 sequence: its length, its first byte, and its smallest code point. */
struct form {
	size_t length;
	unsigned char mask;
	unsigned char lead;
	uint32_t least;
};

static const struct form forms[] = {
	{2, 0xe0, 0xc0, 0x80   },
	{3, 0xf0, 0xe0, 0x800  },
	{4, 0xf8, 0xf0, 0x10000},
};

const char *xml_entity(char letter)
{
	switch (letter) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	default:
		return NULL;
	}
}

static bool is_character(uint32_t character)
{
	return (character >= 0x20 && character < 0x7f) ||
	       (character >= 0xa0 && character < 0xd800) ||
	       (character >= 0xe000 && character < 0xfffe) ||
	       (character >= 0x10000 && character < 0x110000);
}

size_t xml_measure(const char *text)
{
	const unsigned char *bytes = (const unsigned char *)text;

	if (*bytes < 0x80)
		return is_character(*bytes);
	for (size_t i = 0; i < ARRAY_LENGTH(forms); i++) {
		const struct form *form = &forms[i];
		uint32_t character = *bytes & (unsigned char)~form->mask;
		size_t length = 1;

		if ((*bytes & form->mask) != form->lead)
			continue;
		for (; length < form->length && (bytes[length] & 0xc0) == 0x80; length++)
			character = character << 6 | (bytes[length] & 0x3f);
		return length == form->length && character >= form->least && is_character(character)
			       ? length
			       : 0;
	}
	return 0;
}

void xml_print(FILE *out, const char *text)
{
	xml_print_but(out, text, "");
}

void xml_print_but(FILE *out, const char *text, const char *kept)
{
	while (*text) {
		size_t length = strchr(kept, *text) ? 1 : xml_measure(text);

		if (!length)
			fputc('?', out);
		else if (xml_entity(*text))
			fputs(xml_entity(*text), out);
		else
			fwrite(text, 1, length, out);
		text += length ? length : 1;
	}
}

void xml_attribute(FILE *out, const char *name, const char *text)
{
	fprintf(out, " %s=\"", name);
	xml_print(out, text);
	fputc('"', out);
}
