/* SPDX-License-Identifier: MIT */
/*
 * The exported functions that can fail. They call the functions that do the work: see rename.h.
 */
#include <errno.h>
#include <rdma/rdma_verbs.h>
#include <stddef.h>

#include "core/soft/export.h"
#include "core/soft/fault/fault.h"

#define NOTHING(error, call)   (errno = (error), NULL)
#define MINUS_ONE(error, call) (errno = (error), -1)
#define ERRNO(error, call)     (errno = (error))
#define NEGATIVE(error, call)  (-(error))
/* The call does its work even if it reports an error; otherwise the program would hang. */
#define DONE_MINUS_ONE(error, call) ((call), errno = (error), -1)

/* Types and parameter lists cannot be parenthesized. */
// NOLINTBEGIN(bugprone-macro-parentheses)
#define DEFINE(type, name, parameters, arguments, form)                                         \
	SOFT_EXPORT type soft_call_##name parameters __asm__(#name);                            \
	SOFT_EXPORT type soft_call_##name parameters                                            \
	{                                                                                       \
		int error =                                                                     \
			likely(!soft_fault_is_planned) ? 0 : soft_fault_call(SOFT_CALL_##name); \
                                                                                                \
		return unlikely(error) ? form(error, name arguments) : name arguments;          \
	}
// NOLINTEND(bugprone-macro-parentheses)

SOFT_EXPORTED_CALLS(DEFINE)
