/* SPDX-License-Identifier: MIT */
/* The transports by number. What each one can do is in core/verbs/limits.h. */
#ifndef CORE_BASE_TRANSPORT_H
#define CORE_BASE_TRANSPORT_H

enum transport {
	TRANSPORT_RC,
	TRANSPORT_UC,
	TRANSPORT_UD,
};

/* Bytes of the global routing header in front of each datagram that is received. */
#define TRANSPORT_GRH 40

#endif
