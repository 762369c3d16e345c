/* SPDX-License-Identifier: MIT */
#include "bench/doctor/gpu_advice.h"
#include "bench/test/unit.d/made_up_json.h"
#include "core/base/compiler.h"

#define HOST "'host':'n01', 'device':{'name':'mlx5_1'}"
#define FAR                                                                          \
	"'0000:18:00.0':{'kind':'cuda', 'name':'NVIDIA H100', 'distance':'sockets'," \
	" 'nearest':'mlx5_0', 'nearest_distance':'switch'}"
#define NEAR                                                                      \
	"'0000:9a:00.0':{'kind':'cuda', 'name':'NVIDIA H100', 'distance':'root'," \
	" 'nearest':'mlx5_1', 'nearest_distance':'root'}"
#define ISOLATED                                                                           \
	"'0000:9a:00.0':{'kind':'rocm', 'name':'MI300X', 'distance':'switch', 'acs':true," \
	" 'nearest':'mlx5_1', 'nearest_distance':'switch'}"

struct row {
	const char *facts;
	const char *findings;
};

static const struct row rows[] = {
	{"{" HOST ", 'gpus':{" FAR "}}",
	 "[{'code':'gpu-far', 'spoils':false, 'host':'n01', 'what':'no GPU has mlx5_1 as its nearest "
	 "RDMA device: GPU 0000:18:00.0 (NVIDIA H100) is on another NUMA node than it, but on the "
	 "same switch as mlx5_0', 'why':'DMA between a GPU and a distant device is slower, or not "
	 "possible', 'mend':'for memory of that GPU, --device mlx5_0'}]"},
 /* One GPU of the device's own is enough. */
	{"{" HOST ", 'gpus':{" FAR ", " NEAR "}}",         "[]"         },
	{"{" HOST ", 'gpus':{" NEAR ", " FAR "}}",         "[]"         },
	{"{" HOST ", 'gpus':{" ISOLATED "}}",
	 "[{'code':'gpu-acs', 'spoils':false, 'host':'n01', 'what':'GPU 0000:9a:00.0 and mlx5_1 "
	 "share a PCIe switch, but not an IOMMU group', 'why':'Access Control Services then send DMA "
	 "between them through the root complex', 'mend':'disable ACS in the BIOS, or on the "
	 "switch\\u0027s ports (ACSCtl in lspci -vvv)'}]"               },
	{"{" HOST "}",				     "[]"         },
	{"{" HOST ", 'gpus':{'x':5, 'y':{'distance':7}}}", "[]"         },
};

static void test_findings(void **unused)
{
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		json_t *facts = made_up_json(rows[i].facts);
		json_t *findings = json_array();

		gpu_advice(facts, findings);
		assert_json(findings, rows[i].findings);
		json_decref(findings);
		json_decref(facts);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_findings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
