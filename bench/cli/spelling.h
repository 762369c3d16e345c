/* SPDX-License-Identifier: MIT */
/* Whether a word may have been meant to be another one: by its letters, not by what it means. */
#ifndef BENCH_CLI_SPELLING_H
#define BENCH_CLI_SPELLING_H

/* Longer words are near to none. */
#define SPELLING_LONGEST 32

/*
 * How many letters are missing, are too many, are others, or stand with the next one the wrong
 * way round (the optimal string alignment distance). 0: they are the same.
 */
unsigned int spelling_distance(const char *a, const char *b);

#endif
