/* SPDX-License-Identifier: MIT */
#include "bench/client/sample_file.h"

#include <errno.h>
#include <inttypes.h>

#include "reports/table/grid.h"

static int failed(const struct sample_file *file, int number, struct error *error)
{
	return error_set_errno(error, -number, "cannot write --samples %s", file->path);
}

int sample_file_open(struct sample_file *file, const char *path, struct error *error)
{
	*file = (struct sample_file){.path = path, .file = fopen(path, "we")};
	if (!file->file)
		return failed(file, errno, error);
	fputs("case,trial,thread,number,latency_ns\n", file->file);
	if (!fflush(file->file))
		return 0;
	failed(file, errno, error);
	fclose(file->file);
	file->file = NULL;
	return error->code;
}

void sample_file_add(struct sample_file *file, const char *id, size_t trial, unsigned int thread,
		     const struct samples *samples)
{
	for (size_t i = 0; i < samples->count && i < SAMPLES_MOST && !file->failure; i++) {
		grid_csv_field(file->file, id);
		if (fprintf(file->file, ",%zu,%u,%zu,%" PRIu64 "\n", trial, thread, i + 1,
			    samples->ns[i]) < 0)
			file->failure = errno;
	}
	if (!file->failure && fflush(file->file))
		file->failure = errno;
}

int sample_file_close(struct sample_file *file, struct error *error)
{
	if (!file->file)
		return 0;
	if (fclose(file->file) && !file->failure)
		file->failure = errno;
	file->file = NULL;
	return file->failure ? failed(file, file->failure, error) : 0;
}
