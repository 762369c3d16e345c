/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/free_memory.h"
#include "core/test/lib/check.h"
#include "core/verbs/verbs.h"

static void test_error_conventions(void **unused)
{
	static const struct {
		int result;
		int errno_then;
		int code;
	} rows[] = {
		{0,          EBUSY,  0          },
		{EINVAL,     EBUSY,  -EINVAL    },
		{EOPNOTSUPP, 0,      -EOPNOTSUPP},
		{-1,         ENODEV, -ENODEV    },
		{-1,         0,      -EIO       },
		{-ETIMEDOUT, EBUSY,  -ETIMEDOUT },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		errno = rows[i].errno_then;
		assert_int_equal(verbs_result(rows[i].result), rows[i].code);
	}
	errno = EPERM;
	assert_int_equal(verbs_null(), -EPERM);
	errno = 0;
	assert_int_equal(verbs_null(), -ENOMEM);
}

/* The names are libibverbs': ibv_wc_status_str(3). */
static void test_completion_errors(void **unused)
{
	static const struct {
		enum ibv_wc_status status;
		const char *text;
	} rows[] = {
		{IBV_WC_RNR_RETRY_EXC_ERR,
		 "send: RNR retry counter exceeded: the peer had no receive posted in time"             },
		{IBV_WC_REM_ACCESS_ERR,
		 "send: remote access error: the peer rejected the address, length or rkey"             },
		{IBV_WC_WR_FLUSH_ERR,
		 "send: Work Request Flushed Error: the connection ended before the operation completed"},
		{IBV_WC_RETRY_EXC_ERR,     "send: transport retry counter exceeded: no acknowledgment"  },
		{IBV_WC_LOC_QP_OP_ERR,     "send: local QP operation error: "                           },
		{IBV_WC_GENERAL_ERR,       "send: general error: see the device's documentation"        },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		const struct ibv_wc wc = {.status = rows[i].status};
		struct error error = {0};

		assert_int_equal(verbs_completion_error(&error, "send", &wc), -EIO);
		assert_contains(error.text, rows[i].text);
		assert_null(strstr(error.text, "vendor"));
	}
}

static void test_vendor_error(void **unused)
{
	const struct ibv_wc wc = {.status = IBV_WC_WR_FLUSH_ERR, .vendor_err = 0x8a};
	struct error error = {0};

	verbs_completion_error(&error, "send", &wc);
	assert_string_equal(error.text, "send: Work Request Flushed Error: the connection ended "
					"before the operation completed (vendor error 0x8a)");
}

static void test_every_status_has_a_hint(void **unused)
{
	for (int status = 0; status < 64; status++) {
		const char *hint = verbs_hint((enum ibv_wc_status)status);

		assert_non_null(hint);
		assert_true(strlen(hint) > 10);
	}
	assert_non_null(verbs_hint((enum ibv_wc_status) - 1));
}

/* A fake device that rejects all memory, or relaxed ordering only. */
static int refusal;
static bool takes_strict;
static unsigned int n_registered;

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *address, size_t length, int access)
{
	errno = refusal;
	return NULL;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *address, size_t length, uint64_t iova,
				unsigned int access)
{
	static struct ibv_mr mr;

	if (takes_strict && !(access & IBV_ACCESS_RELAXED_ORDERING)) {
		n_registered++;
		return &mr;
	}
	errno = refusal;
	return NULL;
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	n_registered--;
	errno = EBUSY;
	return 0;
}

/* Sets or clears the capability of this process. Returns false if that fails. */
static bool set_exempt(bool is_exempt)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	assert_int_equal(syscall(SYS_capget, &header, data), 0);
	if (is_exempt)
		data[0].effective |= 1U << CAP_IPC_LOCK;
	else
		data[0].effective &= ~(1U << CAP_IPC_LOCK);
	return !syscall(SYS_capset, &header, data);
}

struct refused {
	size_t length;
	int refusal;
	rlim_t memlock;
	const char *text;
};

static void register_each(const struct refused *rows, size_t count)
{
	struct rlimit before;

	assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &before), 0);
	for (size_t i = 0; i < count; i++) {
		const struct rlimit limit = {.rlim_cur = rows[i].memlock,
					     .rlim_max = before.rlim_max};
		struct error error = {0};

		if (setrlimit(RLIMIT_MEMLOCK, &limit))
			continue; /* the hard limit is lower: cannot test */
		refusal = rows[i].refusal;
		assert_null(verbs_register(NULL, NULL, rows[i].length, 0, &error));
		assert_int_equal(error.code, -rows[i].refusal);
		assert_contains(error.text, rows[i].text);
	}
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &before), 0);
}

/*
 * verbs_register finds out whether relaxed ordering is the reason, and leaves nothing
 * registered.
 */
static void test_relaxed_ordering_rejected(void **unused)
{
	const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING;
	struct error error = {0};

	takes_strict = true;
	refusal = EINVAL;
	assert_null(verbs_register(NULL, NULL, 4096, access, &error));
	assert_int_equal(error.code, -EOPNOTSUPP);
	assert_string_equal(error.text, "the device does not support relaxed ordering; "
					"use --relaxed-ordering off");
	assert_int_equal(n_registered, 0);
	takes_strict = false;
	error = (struct error){0};
	assert_null(verbs_register(NULL, NULL, 4096, access, &error));
	assert_int_equal(error.code, -EINVAL);
	assert_string_equal(error.text, "cannot register 4 KiB: Invalid argument");
}

static void test_memlock_errors(void **unused)
{
	static const struct refused rows[] = {
		{64 << 20,  ENOMEM, 65536,
		 "cannot register 64 MiB: memlock is 64 KiB; set 'ulimit -l unlimited'"        },
		{4097,      ENOMEM, 0,       "cannot register 4097 bytes: memlock is 0 bytes; "},
		{3UL << 30, ENOMEM, 1 << 30, "cannot register 3 GiB: memlock is 1 GiB; "       },
		{4096,      EINVAL, 65536,   "cannot register 4 KiB: Invalid argument"         },
		{1024,      EFAULT, 65536,   "cannot register 1 KiB: Bad address"              },
	};

	assert_true(set_exempt(false));
	register_each(rows, ARRAY_LENGTH(rows));
}

/* No memlock limit is to blame if there is none, or if the process is exempt. */
static void test_device_out_of_memory(void **unused)
{
	static const char text[] = "cannot register 64 MiB: Cannot allocate memory; the device may "
				   "be out of memory";
	static const struct refused endless = {64 << 20, ENOMEM, RLIM_INFINITY, text};
	static const struct refused exempt = {64 << 20, ENOMEM, 65536, text};

	assert_true(set_exempt(false));
	register_each(&endless, 1);
	if (!set_exempt(true) || !free_memory_is_exempt("")) {
		print_message("# skipped: this user is not exempt from the limit\n");
		skip();
	}
	register_each(&exempt, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_error_conventions),
		cmocka_unit_test(test_completion_errors),
		cmocka_unit_test(test_vendor_error),
		cmocka_unit_test(test_every_status_has_a_hint),
		cmocka_unit_test(test_memlock_errors),
		cmocka_unit_test(test_relaxed_ordering_rejected),
		cmocka_unit_test(test_device_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
