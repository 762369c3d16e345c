/* SPDX-License-Identifier: MIT */
/*
 * Shared memory, which peers map in order to access it directly. The child registers memory and
 * sends its address; the test writes to it, and the child checks the data.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/compiler.h"
#include "core/soft/peer/process.h"
#include "core/test/soft/pair.h"

enum {
	PAGE = 4096,
	PAGES = 16,
	OFFSET = 3 * PAGE + 40, /* of the region in the file */
	LENGTH = 5 * PAGE + 100,
	MANY = 300, /* more than can be mapped at the same time */
};

/* A region of the child. */
struct shown {
	uint64_t address;
	uint32_t rkey;
	uint32_t pad;
};

struct file {
	int fd;
	unsigned char *memory;
};

static struct file open_file(int seals)
{
	struct file file = {.fd = memfd_create("shared", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
	void *memory;

	assert_true(file.fd >= 0);
	assert_int_equal(ftruncate(file.fd, (off_t)PAGES * PAGE), 0);
	assert_int_equal(fcntl(file.fd, F_ADD_SEALS, seals), 0);
	memory = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd, 0);
	assert_true(memory != MAP_FAILED);
	file.memory = memory;
	return file;
}

static void close_file(struct file *file)
{
	munmap(file->memory, (size_t)PAGES * PAGE);
	close(file->fd);
}

static struct ibv_mr *show(struct pair *pair, unsigned char *address)
{
	struct ibv_mr *mr = ibv_reg_mr(pair->stage.pd, address, LENGTH,
				       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
					       IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	struct shown shown = {.address = (uintptr_t)address};

	assert_non_null(mr);
	shown.rkey = mr->rkey;
	pair_send(pair->socket, &shown, sizeof(shown));
	return mr;
}

/* Receives a region, to which all further posts go. */
static void look(struct pair *pair)
{
	struct shown shown;

	pair_receive(pair->socket, &shown, sizeof(shown));
	pair->peer.address = shown.address;
	pair->peer.rkey = shown.rkey;
}

/* Returns the number of mappings of this process with the name. */
static unsigned int count_mappings(const char *name)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned int count = 0;
	char line[512];

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		count += strstr(line, name) != NULL;
	fclose(maps);
	return count;
}

static unsigned char of_byte(unsigned int round, size_t i)
{
	return (unsigned char)((size_t)round * 31 + i * 7 + 1);
}

/* Writes the bytes that check() expects. */
static void bring(struct pair *pair, unsigned int round, uint32_t size)
{
	for (size_t i = 0; i < size; i++)
		pair->stage.end[0].buffer[i] = of_byte(round, i);
	pair_post(pair, IBV_WR_RDMA_WRITE, size);
	assert_int_equal(pair_status(pair), IBV_WC_SUCCESS);
}

/* Checks the written bytes, and that everything around them is zero. */
static void check(const struct file *file, unsigned int round, size_t at, size_t size)
{
	for (size_t i = 0; i < (size_t)PAGES * PAGE; i++)
		assert_int_equal(file->memory[i],
				 i >= at && i < at + size ? of_byte(round, i - at) : 0);
}

/* Sizes that exercise all ways to copy the last bytes. */
static const unsigned int sizes[] = {1,  2,  3,  4,  6,  7,   8,    9,     12,
				     16, 24, 63, 64, 65, 100, PAGE, LENGTH};

static void take_writes(struct pair *pair)
{
	struct file file = open_file(F_SEAL_SHRINK);
	struct ibv_mr *mr = show(pair, file.memory + OFFSET);

	/* The region stays valid after the file is closed. */
	close(file.fd);
	file.fd = -1;
	for (unsigned int i = 0; i < ARRAY_LENGTH(sizes); i++) {
		pair_wait(pair);
		check(&file, i, OFFSET, sizes[i]);
		memset(file.memory, 0, (size_t)PAGES * PAGE);
		pair_send(pair->socket, "n", 1);
	}
	assert_int_equal(ibv_dereg_mr(mr), 0);
	munmap(file.memory, (size_t)PAGES * PAGE);
	pair_wait(pair);
}

static void test_writes_of_every_size(void **unused)
{
	struct pair pair;
	char word;

	pair_set_up(&pair, take_writes, &(struct stage_ways){0});
	look(&pair);
	for (unsigned int i = 0; i < ARRAY_LENGTH(sizes); i++) {
		unsigned char *buffer = pair.stage.end[0].buffer;

		bring(&pair, i, sizes[i]);
		memset(buffer, 0, sizes[i]);
		pair_post(&pair, IBV_WR_RDMA_READ, sizes[i]);
		assert_int_equal(pair_status(&pair), IBV_WC_SUCCESS);
		for (size_t j = 0; j < sizes[i]; j++)
			assert_int_equal(buffer[j], of_byte(i, j));
		pair_send(pair.socket, "l", 1);
		pair_receive(pair.socket, &word, 1);
	}
	assert_int_equal(count_mappings("memfd:shared"), 1);
	pair_send(pair.socket, "e", 1);
	pair_tear_down(&pair);
	assert_int_equal(count_mappings("memfd:shared"), 0);
}

/* Registers one file after the other, with the same region number and address. */
static void replace(struct pair *pair)
{
	for (unsigned int i = 0; i < MANY; i++) {
		struct file file = open_file(F_SEAL_SHRINK);
		struct ibv_mr *mr = show(pair, file.memory + OFFSET);

		pair_wait(pair);
		check(&file, i, OFFSET, 8);
		assert_int_equal(ibv_dereg_mr(mr), 0);
		close_file(&file);
	}
	pair_wait(pair);
}

static void test_replaced_regions(void **unused)
{
	struct pair pair;

	pair_set_up(&pair, replace, &(struct stage_ways){0});
	for (unsigned int i = 0; i < MANY; i++) {
		look(&pair);
		bring(&pair, i, 8);
		pair_send(pair.socket, "l", 1);
	}
	/* Regions that the child has deregistered are soon unmapped. */
	for (int tries = 0; count_mappings("memfd:shared") > 1; tries++) {
		assert_true(tries < 10000);
		usleep(1000);
	}
	pair_send(pair.socket, "e", 1);
	pair_tear_down(&pair);
}

/* Registers more regions than can be mapped; the rest is accessed through the kernel. */
static void show_many(struct pair *pair)
{
	struct file *file = calloc(MANY, sizeof(*file));
	struct ibv_mr **mr = calloc(MANY, sizeof(struct ibv_mr *));

	assert_non_null(file);
	assert_non_null(mr);
	for (unsigned int i = 0; i < MANY; i++) {
		file[i] = open_file(F_SEAL_SHRINK);
		mr[i] = show(pair, file[i].memory + OFFSET);
	}
	pair_wait(pair);
	for (unsigned int i = 0; i < MANY; i++) {
		check(&file[i], i, OFFSET, 8);
		assert_int_equal(ibv_dereg_mr(mr[i]), 0);
		close_file(&file[i]);
	}
	free(mr);
	free(file);
}

static void test_more_regions_than_can_be_mapped(void **unused)
{
	struct pair pair;

	pair_set_up(&pair, show_many, &(struct stage_ways){0});
	for (unsigned int i = 0; i < MANY; i++) {
		look(&pair);
		bring(&pair, i, 8);
	}
	assert_in_range(count_mappings("memfd:shared"), 100, MANY - 1);
	pair_send(pair.socket, "l", 1);
	pair_tear_down(&pair);
}

static void execute(const struct pair *pair, struct ibv_send_wr wr)
{
	struct ibv_send_wr *bad;

	wr.send_flags = IBV_SEND_SIGNALED;
	assert_int_equal(ibv_post_send(pair->stage.end[0].qp, &wr, &bad), 0);
	assert_int_equal(stage_await(pair->stage.end[0].cq).status, IBV_WC_SUCCESS);
}

static const uint32_t bound[] = {8, 8, LENGTH, 64, LENGTH, 8};

/* Binds a memory window to one file after the other, by the same key and at the same address. */
static void bind_again(struct pair *pair)
{
	struct ibv_mw *mw = ibv_alloc_mw(pair->stage.pd, IBV_MW_TYPE_2);
	uint32_t rkey = ibv_inc_rkey(mw->rkey);

	for (unsigned int i = 0; i < ARRAY_LENGTH(bound); i++) {
		struct file file = open_file(F_SEAL_SHRINK);
		const struct shown shown = {(uintptr_t)file.memory + OFFSET, rkey, 0};
		struct ibv_mr *mr = ibv_reg_mr(pair->stage.pd, file.memory, (size_t)PAGES * PAGE,
					       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
		const struct ibv_mw_bind_info info = {mr, shown.address, bound[i],
						      IBV_ACCESS_REMOTE_WRITE};

		execute(pair, (struct ibv_send_wr){
				      .opcode = IBV_WR_BIND_MW, .bind_mw = {mw, rkey, info}
                });
		pair_send(pair->socket, &shown, sizeof(shown));
		pair_wait(pair);
		check(&file, i, OFFSET, bound[i]);
		execute(pair,
			(struct ibv_send_wr){.opcode = IBV_WR_LOCAL_INV, .invalidate_rkey = rkey});
		assert_int_equal(ibv_dereg_mr(mr), 0);
		close_file(&file);
	}
	assert_int_equal(ibv_dealloc_mw(mw), 0);
}

/* Writes reach the file to which the key is bound, not the one that was mapped first. */
static void test_rebound_window(void **unused)
{
	struct pair pair;

	pair_set_up(&pair, bind_again, &(struct stage_ways){0});
	for (unsigned int i = 0; i < ARRAY_LENGTH(bound); i++) {
		look(&pair);
		bring(&pair, i, bound[i]);
		pair_send(pair.socket, "l", 1);
	}
	pair_tear_down(&pair);
}

/* The file may be truncated while it is mapped: peers must not map it. */
static void show_unsealed(struct pair *pair)
{
	struct file file = open_file(0);
	struct ibv_mr *mr = show(pair, file.memory + OFFSET);

	pair_wait(pair);
	check(&file, 1, OFFSET, 64);
	assert_int_equal(ftruncate(file.fd, 0), 0);
	pair_send(pair->socket, "s", 1);
	pair_wait(pair);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	close_file(&file);
}

static void test_unsealed_file(void **unused)
{
	struct pair pair;
	char word;

	pair_set_up(&pair, show_unsealed, &(struct stage_ways){.retry_cnt = 1});
	look(&pair);
	bring(&pair, 1, 64);
	assert_int_equal(count_mappings("memfd:shared"), 0);
	pair_send(pair.socket, "l", 1);
	pair_receive(pair.socket, &word, 1);
	pair_post(&pair, IBV_WR_RDMA_WRITE, 64);
	assert_int_equal(pair_status(&pair), IBV_WC_REM_OP_ERR);
	pair_send(pair.socket, "e", 1);
	pair_tear_down(&pair);
}

/* Memory of a file that is closed before the registration is treated like any other. */
static void show_closed(struct pair *pair)
{
	struct file file = open_file(F_SEAL_SHRINK);
	struct ibv_mr *mr;

	close(file.fd);
	mr = show(pair, file.memory + OFFSET);
	pair_wait(pair);
	check(&file, 1, OFFSET, 64);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	munmap(file.memory, (size_t)PAGES * PAGE);
}

static void test_closed_file(void **unused)
{
	struct pair pair;

	pair_set_up(&pair, show_closed, &(struct stage_ways){0});
	look(&pair);
	bring(&pair, 1, 64);
	assert_int_equal(count_mappings("memfd:shared"), 0);
	pair_send(pair.socket, "l", 1);
	pair_tear_down(&pair);
}

/* Checks that a write of eight bytes that starts in the region and exceeds it changes nothing. */
static void show_little(struct pair *pair)
{
	struct file file = open_file(F_SEAL_SHRINK);
	struct ibv_mr *mr = show(pair, file.memory + OFFSET);

	pair_wait(pair);
	check(&file, 1, OFFSET, 64);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	close_file(&file);
}

/* A mapping does not bypass the bounds of a region. */
static void test_bounds(void **unused)
{
	struct pair pair;

	pair_set_up(&pair, show_little, &(struct stage_ways){0});
	look(&pair);
	bring(&pair, 1, 64);
	assert_int_equal(count_mappings("memfd:shared"), 1);
	pair.peer.address += LENGTH - 7;
	pair_post(&pair, IBV_WR_RDMA_WRITE, 8);
	assert_int_equal(pair_status(&pair), IBV_WC_REM_ACCESS_ERR);
	pair_send(pair.socket, "l", 1);
	pair_tear_down(&pair);
}

/* Changes to the region table after a peer has mapped a region. */
static const struct lie {
	uint64_t moved;  /* added to the address */
	uint64_t longer; /* added to the length */
	uint64_t at;     /* offset at which the peer writes then */
} lies[] = {
	{1 << 20, 0,       0            },
	{0,       1 << 20, LENGTH + PAGE},
	{0,       1 << 20, 1 << 19      },
};
static const struct lie *lie;

/* Changes the region to cover private memory that follows the file. */
static void move_about(struct pair *pair)
{
	size_t size = 4 << 20;
	struct file file = open_file(F_SEAL_SHRINK);
	unsigned char *area =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct soft_region_image *region;
	struct ibv_mr *mr;

	assert_true(area != MAP_FAILED);
	assert_ptr_equal(mmap(area, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_FIXED, file.fd, 0),
			 area);
	mr = show(pair, area + OFFSET);
	region = &soft_process.arena.memory->region[mr->handle];
	pair_wait(pair);
	region->address += lie->moved;
	region->length += lie->longer;
	pair_send(pair->socket, "m", 1);
	pair_wait(pair);
	for (size_t i = 0; i < 64; i++)
		assert_int_equal(area[OFFSET + lie->moved + lie->at + i], of_byte(2, i));
	assert_int_equal(ibv_dereg_mr(mr), 0);
	munmap(area, size);
	close_file(&file);
}

/* Writes beyond the mapping go through the kernel to the peer, and do not touch this process. */
static void test_moved_region(void **unused)
{
	for (size_t i = 0; i < ARRAY_LENGTH(lies); i++) {
		struct pair pair;
		char word;

		lie = &lies[i];
		pair_set_up(&pair, move_about, &(struct stage_ways){.retry_cnt = 1});
		look(&pair);
		bring(&pair, 1, 64);
		assert_int_equal(count_mappings("memfd:shared"), 1);
		pair_send(pair.socket, "m", 1);
		pair_receive(pair.socket, &word, 1);
		pair.peer.address += lie->at;
		bring(&pair, 2, 64);
		pair_send(pair.socket, "e", 1);
		pair_tear_down(&pair);
	}
}

/* On request, the kernel also copies shared memory. */
static void test_kernel_copies(void **unused)
{
	struct pair pair;

	setenv("VERBMARK_SOFT_COPY", "kernel", 1);
	pair_set_up(&pair, show_little, &(struct stage_ways){0});
	unsetenv("VERBMARK_SOFT_COPY");
	look(&pair);
	bring(&pair, 1, 64);
	assert_int_equal(count_mappings("memfd:shared"), 0);
	pair_send(pair.socket, "l", 1);
	pair_tear_down(&pair);
}

static void test_rejects_unknown_copy_method(void **unused)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	setenv("VERBMARK_SOFT_COPY", "mail", 1);
	assert_null(ibv_open_device(list[0]));
	unsetenv("VERBMARK_SOFT_COPY");
	ibv_free_device_list(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_writes_of_every_size, pair_end_child),
		cmocka_unit_test_teardown(test_replaced_regions, pair_end_child),
		cmocka_unit_test_teardown(test_more_regions_than_can_be_mapped, pair_end_child),
		cmocka_unit_test_teardown(test_rebound_window, pair_end_child),
		cmocka_unit_test_teardown(test_unsealed_file, pair_end_child),
		cmocka_unit_test_teardown(test_closed_file, pair_end_child),
		cmocka_unit_test_teardown(test_bounds, pair_end_child),
		cmocka_unit_test_teardown(test_moved_region, pair_end_child),
		cmocka_unit_test_teardown(test_kernel_copies, pair_end_child),
		cmocka_unit_test_teardown(test_rejects_unknown_copy_method, pair_end_child),
	};

	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
