/* SPDX-License-Identifier: MIT */
/* Calls a fuzzer with each file of the given folders, as a regression test with its corpus. */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fuzz/fuzz.h"

/* Allocates the exact size of the file, so that reading beyond the end is detected. */
static void replay(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	struct stat status;
	uint8_t *bytes;

	FUZZ_CHECK(fd >= 0 && !fstat(fd, &status));
	bytes = malloc((size_t)status.st_size);
	FUZZ_CHECK(!status.st_size || bytes);
	FUZZ_CHECK(read(fd, bytes, (size_t)status.st_size) == status.st_size);
	close(fd);
	printf("# %s, %jd bytes\n", name, (intmax_t)status.st_size);
	fflush(stdout);
	FUZZ_CHECK(!LLVMFuzzerTestOneInput(bytes, (size_t)status.st_size));
	free(bytes);
}

static int replay_folder(const char *path)
{
	DIR *folder = opendir(path);
	const struct dirent *entry;
	int count = 0;

	FUZZ_CHECK(folder);
	while ((entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		replay(dirfd(folder), entry->d_name);
		count++;
	}
	closedir(folder);
	return count;
}

int main(int argc, char *argv[])
{
	puts("1..1");
	for (int i = 1; i < argc; i++)
		FUZZ_CHECK(replay_folder(argv[i]));
	FUZZ_CHECK(argc > 1);
	puts("ok 1 - the corpus");
	return 0;
}
