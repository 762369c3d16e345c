/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "bench/host/facts/part.h"

#define NET         "/sys/class/net"
#define MODULES     "/lib/modules"
#define MODULES_MAX (4U << 20)

/* Returns 1 if the list contains the module, 0 if not, -1 if the list does not exist. */
static int lists(const char *root, const char *release, const char *file, const char *module)
{
	char *text = sysfs_text(root, MODULES_MAX, MODULES "/%s/%s", release, file);
	int found = text ? strstr(text, module) != NULL : -1;

	free(text);
	return found;
}

static const char *soft_roce(const char *root)
{
	char release[SYSFS_NAME];
	int module = -1;
	int builtin = -1;

	if (sysfs_exists(root, "/sys/module/rdma_rxe"))
		return "loaded";
	if (sysfs_line(root, release, sizeof(release), "/proc/sys/kernel/osrelease")) {
		module = lists(root, release, "modules.dep", "/rdma_rxe.ko");
		builtin = lists(root, release, "modules.builtin", "/rdma_rxe.ko");
	}
	if (module > 0 || builtin > 0)
		return "available";
	/* A container usually does not contain the module lists of its host. */
	return module < 0 && builtin < 0 ? "unknown" : "absent";
}

/* Network drivers, with the module that adds the card's RDMA device. */
static const struct card {
	const char *driver;
	const char *module;
	bool is_told; /* not all cards support RDMA: the driver advertises it for those that do */
} cards[] = {
	{"mlx5_core", "mlx5_ib",    false},
        {"mlx4_en",   "mlx4_ib",    false},
	{"mlx4_core", "mlx4_ib",    false},
        {"cxgb4",     "iw_cxgb4",   false},
	{"bnxt_en",   "bnxt_re",    true },
        {"ice",       "irdma",      true },
	{"i40e",      "irdma",      true },
        {"idpf",      "irdma",      true },
	{"mana",      "mana_ib",    true },
        {"ionic",     "ionic_rdma", true },
};

static const struct card *find_card(const char *driver)
{
	for (size_t i = 0; i < ARRAY_LENGTH(cards); i++)
		if (!strcmp(driver, cards[i].driver))
			return &cards[i];
	return NULL;
}

const char *facts_rdma_module(const char *driver)
{
	const struct card *card = find_card(driver);

	return card ? card->module : NULL;
}

/* Returns whether the driver advertises RDMA, by an auxiliary device such as "i40e.iwarp.0". */
static bool offers_rdma(const char *root, const char *driver)
{
	static const char *const kinds[] = {"rdma", "roce", "iwarp"};
	size_t length = strlen(driver);
	struct sysfs_names names;
	bool found = false;

	sysfs_names_open(&names, root, "/sys/bus/auxiliary/devices");
	for (size_t i = 0; i < names.count; i++)
		for (size_t j = 0; j < ARRAY_LENGTH(kinds); j++)
			found = found || (!strncmp(names.name[i], driver, length) &&
					  names.name[i][length] == '.' &&
					  strstr(names.name[i] + length, kinds[j]));
	sysfs_names_close(&names);
	return found;
}

/* Picks an interface for Soft-RoCE: cards come first; loopback and bridges are skipped. */
static void offer_interface(json_t *section, const char *root, const char *name, bool is_card)
{
	char text[SYSFS_NAME];

	if (json_object_get(section, "netdev") || !strcmp(name, "lo") ||
	    sysfs_exists(root, NET "/%s/bridge", name) ||
	    sysfs_exists(root, NET "/%s/device", name) != is_card)
		return;
	if (sysfs_line(root, text, sizeof(text), NET "/%s/operstate", name) && !strcmp(text, "up"))
		facts_set(section, "netdev", name);
}

/* Notes a card that supports RDMA but whose module is not loaded. */
static void look_at(json_t *section, const char *root, const char *name)
{
	char text[SYSFS_NAME];
	const struct card *card;

	if (!sysfs_link(root, text, sizeof(text), NET "/%s/device/driver", name))
		return;
	card = find_card(text);
	if (!card || json_object_get(section, "card") ||
	    sysfs_exists(root, "/sys/module/%s", card->module) ||
	    (card->is_told && !offers_rdma(root, text)))
		return;
	json_object_set_new(section, "card",
			    json_pack("{s:s, s:s, s:s}", "netdev", name, "driver", text, "module",
				      card->module));
}

json_t *facts_soft_roce(const struct facts_place *place)
{
	json_t *section = json_pack("{s:s}", "module", soft_roce(place->root));
	struct sysfs_names names;

	sysfs_names_open(&names, place->root, NET);
	for (size_t i = 0; i < names.count; i++)
		offer_interface(section, place->root, names.name[i], true);
	for (size_t i = 0; i < names.count; i++) {
		offer_interface(section, place->root, names.name[i], false);
		look_at(section, place->root, names.name[i]);
	}
	sysfs_names_close(&names);
	return section;
}
