/* SPDX-License-Identifier: MIT */
#include "core/test/lib/spare.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/test/lib/agent.h"

int shell(const char *format, ...)
{
	char command[512];
	va_list args;
	int status;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	status = system(command);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void shell_until(const char *command)
{
	uint64_t deadline = clock_deadline(PATIENCE_MS);
	int status;

	do
		status = shell("%s", command);
	while (status && clock_left_ms(deadline) && !usleep(10000));
	assert_int_equal(status, 0);
}

int spare_make(void **unused)
{
	return shell("modprobe -q veth; ip link add vmspare0 type veth peer name vmspare1 && "
		     "ip address add " SPARE_HOST "/24 dev vmspare0 && "
		     "ip link set vmspare0 up && ip link set vmspare1 up && "
		     "rdma link add " SPARE_DEVICE " type rxe netdev vmspare0");
}

int spare_remove(void **state)
{
	agents_end(state);
	shell("rdma link delete " SPARE_DEVICE " 2>/dev/null; ip link delete vmspare0 2>/dev/null");
	return 0;
}
