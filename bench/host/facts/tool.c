/* SPDX-License-Identifier: MIT */
#include "bench/built/how.h"
#include "bench/built/revision.h"
#include "bench/host/facts/part.h"

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

json_t *facts_tool(const struct facts_place *place)
{
	json_t *section = json_pack("{s:s, s:s, s:s, s:s}", "version", VERBMARK_VERSION, "compiler",
				    COMPILER, "build_type", BUILD_TYPE, "flags", BUILD_FLAGS);

	facts_set(section, "revision", BUILD_REVISION);
	return section;
}
