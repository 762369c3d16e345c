/* SPDX-License-Identifier: MIT */
/* Guesses which of several names a misspelled word was meant to be. */
#ifndef BENCH_CLI_SPELLING_H
#define BENCH_CLI_SPELLING_H

/* Longer words are not compared. */
#define SPELLING_LONGEST 32

/*
 * Returns the number of letters to insert, delete, replace, or swap with the next one to turn a
 * into b (the optimal string alignment distance); UINT_MAX if one of them is too long.
 */
unsigned int spelling_distance(const char *a, const char *b);

struct spelling {
	const char *word;
	const char *nearest; /* NULL: no name so far is near */
	unsigned int distance;
};

/* Starts a search for the name nearest to word. */
void spelling_begin(struct spelling *search, const char *word);

/*
 * Compares one more name. Case is ignored. A name is near if up to a third of the letters differ,
 * if one word begins with the other (latency: lat), or if the word is a known synonym
 * (bandwidth: bw).
 */
void spelling_try(struct spelling *search, const char *name);

#endif
