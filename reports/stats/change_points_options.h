/* SPDX-License-Identifier: MIT */
/* Option parsers (bench/cli/option.h). They return what is wrong with the text, or NULL. */
#ifndef REPORTS_STATS_CHANGE_POINTS_OPTIONS_H
#define REPORTS_STATS_CHANGE_POINTS_OPTIONS_H

const char *change_points_parse_window(const char *text, void *window); /* size_t */
const char *change_points_parse_level(const char *text, void *level);   /* double */
const char *change_points_parse_magnitude(const char *text,
					  void *magnitude); /* double: 3% is 0.03 */

#endif
