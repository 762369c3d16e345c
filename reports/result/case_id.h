/* SPDX-License-Identifier: MIT */
/*
 * Room for the id of a case: for what tells it from all others, which has to be all of it, since
 * two cases of one id are one. bench/plan/parameters.h makes them, and a test has the longest of all
 * that its table can make.
 */
#ifndef REPORTS_RESULT_CASE_ID_H
#define REPORTS_RESULT_CASE_ID_H

#define CASE_ID 640

#endif
