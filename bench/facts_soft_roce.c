/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "bench/facts_part.h"

#define NET         "/sys/class/net"
#define MODULES     "/lib/modules"
#define MODULES_MAX (4U << 20)

static bool lists(const char *root, const char *release, const char *file, const char *module)
{
	char *text = tree_text(root, MODULES_MAX, MODULES "/%s/%s", release, file);
	bool found = text && strstr(text, module);

	free(text);
	return found;
}

static const char *soft_roce(const char *root)
{
	char release[TREE_NAME];

	if (tree_exists(root, "/sys/module/rdma_rxe"))
		return "loaded";
	if (tree_line(root, release, sizeof(release), "/proc/sys/kernel/osrelease") &&
	    (lists(root, release, "modules.dep", "/rdma_rxe.ko") ||
	     lists(root, release, "modules.builtin", "/rdma_rxe.ko")))
		return "available";
	return "absent";
}

/* Which module makes an RDMA device of a card whose network driver is there. */
static const char *rdma_module(const char *driver)
{
	static const struct {
		const char *driver;
		const char *module;
	} rows[] = {
		{"mlx5_core", "mlx5_ib"       },
                {"mlx4_en",   "mlx4_ib"       },
                {"mlx4_core", "mlx4_ib"       },
		{"bnxt_en",   "bnxt_re"       },
                {"ice",       "irdma"         },
                {"i40e",      "irdma"         },
		{"idpf",      "irdma"         },
                {"qede",      "qedr"          },
                {"cxgb4",     "iw_cxgb4"      },
		{"hns3",      "hns_roce_hw_v2"},
                {"mana",      "mana_ib"       },
                {"ionic",     "ionic_rdma"    },
		{"vmxnet3",   "vmw_pvrdma"    },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		if (!strcmp(driver, rows[i].driver))
			return rows[i].module;
	return NULL;
}

/* A card that could do RDMA, and an interface that Soft-RoCE could use. */
static void look_at(json_t *section, const char *root, const char *name)
{
	char text[TREE_NAME];
	const char *module;

	if (!json_object_get(section, "netdev") && strcmp(name, "lo") != 0 &&
	    tree_line(root, text, sizeof(text), NET "/%s/operstate", name) && !strcmp(text, "up"))
		facts_set(section, "netdev", name);
	if (!tree_link(root, text, sizeof(text), NET "/%s/device/driver", name))
		return;
	module = rdma_module(text);
	if (!module || json_object_get(section, "card") ||
	    tree_exists(root, "/sys/module/%s", module))
		return;
	json_object_set_new(
		section, "card",
		json_pack("{s:s, s:s, s:s}", "netdev", name, "driver", text, "module", module));
}

json_t *facts_soft_roce(const struct facts_place *place)
{
	json_t *section = json_pack("{s:s}", "module", soft_roce(place->root));
	struct tree_names names;

	tree_names_open(&names, place->root, NET);
	for (size_t i = 0; i < names.count; i++)
		look_at(section, place->root, names.name[i]);
	tree_names_close(&names);
	return section;
}
