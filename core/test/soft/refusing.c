/* SPDX-License-Identifier: MIT */
/*
 * refusing EPERM|ENOSYS COMMAND...: runs a program that the kernel denies access to the memory of
 * other processes, like the seccomp profiles of containers. Independent of the device. Exits with
 * status 77 if seccomp is not available.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/base/compiler.h"

#ifdef __x86_64__
#define HERE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define HERE AUDIT_ARCH_AARCH64
#else
#define HERE 0
#endif

enum {
	SKIPPED = 77,
};

static int refuse(uint32_t error)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, HERE, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {ARRAY_LENGTH(filter), filter};

	if (!HERE || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int is_refused(int error)
{
	int from = 1;
	int to = 0;
	struct iovec here = {&to, sizeof(to)};
	struct iovec there = {&from, sizeof(from)};

	if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) >= 0 || errno != error)
		return 0;
	return process_vm_writev(getpid(), &here, 1, &there, 1, 0) < 0 && errno == error;
}

int main(int count, char **words)
{
	int error;

	if (count < 3)
		return 2;
	error = strcmp(words[1], "ENOSYS") ? EPERM : ENOSYS;
	if (refuse((uint32_t)error)) {
		fprintf(stderr, "refusing: seccomp is not available\n");
		return SKIPPED;
	}
	if (!is_refused(error)) {
		fprintf(stderr, "refusing: the filter has no effect\n");
		return 1;
	}
	execvp(words[2], words + 2);
	perror(words[2]);
	return 1;
}
