/* SPDX-License-Identifier: MIT */
/* stranger ADDRESS PORT: connects like any program that found an open port; prints the result. */
#include <stdio.h>
#include <stdlib.h>

#include "core/rdma/rdma.h"

int main(int argc, char *argv[])
{
	struct rdma_context client = {.buffer_size = 4096};
	int code =
		argc == 3 ? rdma_setup_client(&client, argv[1], (uint16_t)atoi(argv[2]), NULL) : -1;

	if (!code)
		code = rdma_connect_server(&client);
	puts(code ? client.reason : "connected");
	rdma_close(&client);
	return code ? 1 : 0;
}
