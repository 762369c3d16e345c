/* SPDX-License-Identifier: MIT */
#include "bench/test/unit.d/section.h"

#define DEVICE "/sys/class/infiniband/mlx5_0"
#define CONFIG DEVICE "/device/config"

/*
 * Makes a configuration space with a list of capabilities: Express at 0x60, followed by VPD and
 * MSI-X, so Device Control is at 0x68. Vendors of such cards recommend 0x5936, for reads of 4096
 * bytes, in place of 0x2936, for 512 bytes. lspci decodes the rest as RlxdOrd+, MaxPayload 256
 * bytes.
 */
static void make_config(uint8_t config[static 256], size_t first)
{
	memset(config, 0, 256);
	config[0x00] = 0xb3;
	config[0x01] = 0x15;
	config[0x06] = 0x10;
	config[0x34] = (uint8_t)first;
	config[0x48] = 0x03;
	config[0x49] = 0x9c;
	config[0x60] = 0x10;
	config[0x61] = 0x48;
	config[0x68] = 0x36;
	config[0x69] = 0x59;
	config[0x9c] = 0x11;
}

static void test_control(void **unused)
{
	static const char wanted[] = "{'max_payload_bytes':256, 'max_read_request_bytes':4096,"
				     " 'relaxed_ordering':true}";
	struct made_up machine;
	uint8_t config[256];

	made_up_open(&machine);
	make_config(config, 0x60);
	made_up_bytes(&machine, CONFIG, config, sizeof(config));
	check_section(&machine, "mlx5_0", "pcie", wanted);
	/* With another capability in front. */
	config[0x49] = 0x60;
	config[0x61] = 0;
	config[0x34] = 0x48;
	made_up_bytes(&machine, CONFIG, config, sizeof(config));
	check_section(&machine, "mlx5_0", "pcie", wanted);
	/* 128, 512 and no relaxed ordering, the values after a reset. */
	config[0x68] = 0x00;
	config[0x69] = 0x20;
	made_up_bytes(&machine, CONFIG, config, sizeof(config));
	check_section(&machine, "mlx5_0", "pcie",
		      "{'max_payload_bytes':128, 'max_read_request_bytes':512,"
		      " 'relaxed_ordering':false}");
	made_up_close(&machine);
}

/* Truncated as for ordinary users; no list; a list without Express; a loop; an entry at the end. */
static void test_no_control(void **unused)
{
	struct made_up machine;
	uint8_t config[256];

	made_up_open(&machine);
	make_config(config, 0x60);
	made_up_bytes(&machine, CONFIG, config, 64);
	check_section(&machine, "mlx5_0", "pcie", NULL);
	config[0x06] = 0;
	made_up_bytes(&machine, CONFIG, config, sizeof(config));
	check_section(&machine, "mlx5_0", "pcie", NULL);
	make_config(config, 0x9c);
	made_up_bytes(&machine, CONFIG, config, sizeof(config));
	check_section(&machine, "mlx5_0", "pcie", NULL);
	config[0x9d] = 0x9c;
	made_up_bytes(&machine, CONFIG, config, sizeof(config));
	check_section(&machine, "mlx5_0", "pcie", NULL);
	make_config(config, 0xfc);
	config[0xfc] = 0x10;
	made_up_bytes(&machine, CONFIG, config, sizeof(config));
	check_section(&machine, "mlx5_0", "pcie", NULL);
	made_up_close(&machine);
}

static void test_interrupts(void **unused)
{
	static const char files[] =
		DEVICE "/device/msi_irqs/45 msix\n" DEVICE "/device/msi_irqs/46 msix\n" DEVICE
		       "/device/msi_irqs/47 msix\n"
		       "/proc/irq/45/effective_affinity_list 3\n"
		       "/proc/irq/45/smp_affinity_list 0-7\n"
		       "/proc/irq/46/smp_affinity_list 0-7\n"
		       "/proc/irq/48/smp_affinity_list 1\n";
	struct made_up machine;

	made_up_open(&machine);
	made_up_files(&machine, files, NULL, 0);
	/* Interrupts that no longer exist are omitted. */
	check_section(&machine, "mlx5_0", "interrupts", "{'cpus':{'45':'3', '46':'0-7'}}");
	/* Interrupts of the card belong to the card, not to a software device on it. */
	made_up_file(&machine, DEVICE "/parent", "eth2");
	check_section(&machine, "mlx5_0", "interrupts", NULL);
	made_up_close(&machine);
}

static void test_guid(void **unused)
{
	struct made_up machine;
	json_t *device;

	made_up_open(&machine);
	made_up_file(&machine, DEVICE "/node_guid", "0002:c903:0012:3456");
	device = section_gather(&machine, "mlx5_0", "device");
	assert_json(json_object_get(device, "node_guid"), "'0002:c903:0012:3456'");
	json_decref(device);
	made_up_close(&machine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_control),
		cmocka_unit_test(test_no_control),
		cmocka_unit_test(test_interrupts),
		cmocka_unit_test(test_guid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
