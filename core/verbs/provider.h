/* SPDX-License-Identifier: MIT */
/*
 * Functions of the libraries that belong to one vendor's devices. The libraries are loaded when
 * they are first used, so that the program also starts where they are not installed.
 */
#ifndef CORE_VERBS_PROVIDER_H
#define CORE_VERBS_PROVIDER_H

/*
 * Returns a function of the library, or of one that replaces it and is loaded already; or NULL. The
 * library stays loaded.
 */
void *provider_function(const char *library, const char *name);

#endif
