/* SPDX-License-Identifier: MIT */
/*
 * The size of a case id with its final NUL. Ids must never be cut, since cases with the same id are
 * the same case. bench/plan/parameters.h makes ids, and a test checks the longest one that its
 * table can make.
 */
#ifndef REPORTS_RESULT_CASE_ID_H
#define REPORTS_RESULT_CASE_ID_H

#define CASE_ID 896

#endif
