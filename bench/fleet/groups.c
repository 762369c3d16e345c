/* SPDX-License-Identifier: MIT */
#include "bench/fleet/groups.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/base/printable.h"
#include "reports/io/json_member.h"

int groups_read(struct fleet *fleet, const char *path, struct error *error)
{
	FILE *file = fopen(path, "re");
	char line[512];

	if (!file)
		return error_set_errno(error, -errno, "cannot read --groups %s", path);
	while (fgets(line, sizeof(line), file)) {
		char *saved;
		const char *name = strtok_r(line, " \t\n", &saved);
		const char *group = strtok_r(NULL, " \t\n", &saved);

		if (!name || name[0] == '#')
			continue;
		if (!group) {
			fclose(file);
			return error_set(error, -EINVAL, "%s: '%.64s' has no group", path, name);
		}
		if (json_member_is_formula(group)) {
			fclose(file);
			return error_set(error, -EINVAL, "%s: group '%.64s' begins like a formula",
					 path, group);
		}
		for (size_t i = 0; i < fleet->n_nodes; i++)
			if (!strcmp(name, fleet->nodes[i].host) ||
			    !strcmp(name, fleet->nodes[i].name))
				printable_copy(fleet->nodes[i].group, sizeof(fleet->nodes[i].group),
					       group);
	}
	fclose(file);
	return 0;
}
