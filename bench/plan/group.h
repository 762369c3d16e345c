/* SPDX-License-Identifier: MIT */
/*
 * Multicast groups as numbers, since a parameter is a number: an IPv4 address, or for IPv6 the flags
 * and scope of the address above a group ID of 32 bits, which RFC 3307 recommends.
 */
#ifndef BENCH_PLAN_GROUP_H
#define BENCH_PLAN_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Parses an address such as 239.1.2.3 or ff0e::7. Returns NULL, or an error message. */
const char *group_parse(const char *text, uint64_t *group);

void group_print(uint64_t group, char *text, size_t size);

/* Returns its address. */
struct sockaddr_storage group_address(uint64_t group);

#endif
