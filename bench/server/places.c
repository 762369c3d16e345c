/* SPDX-License-Identifier: MIT */
#include "bench/server/places.h"

#include <errno.h>
#include <stdio.h>

#include "core/base/clock.h"

/* Time for a client to give way. A client waits 5 s for the answer to its greeting. */
#define LEAVE_MS 4000

int places_open(struct places *places, unsigned int most, unsigned int idle_ms, struct error *error)
{
	pthread_condattr_t monotonic;
	int code = pthread_condattr_init(&monotonic);

	if (code)
		return error_set_errno(error, -code, "cannot serve clients");
	*places = (struct places){.most = most, .idle_ms = idle_ms};
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_mutex_init(&places->lock, NULL);
	pthread_cond_init(&places->left, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return 0;
}

void places_close(struct places *places)
{
	if (!places->most)
		return;
	pthread_cond_destroy(&places->left);
	pthread_mutex_destroy(&places->lock);
	*places = (struct places){0};
}

/* Returns the client that has been idle for longest, or NULL if none has been for long enough. */
static struct place *find_idle(const struct places *places)
{
	uint64_t now_ns = clock_now_ns();
	struct place *found = NULL;

	for (struct place *place = places->latest; place; place = place->next) {
		if (!place->idle_since_ns || place->is_leaving ||
		    now_ns - place->idle_since_ns < places->idle_ms * NS_PER_MS)
			continue;
		if (!found || place->idle_since_ns < found->idle_since_ns)
			found = place;
	}
	return found;
}

static void end_idle(struct place *place)
{
	char reason[128];

	snprintf(reason, sizeof(reason),
		 "disconnected: idle for %.0f s while the server was full and another client "
		 "waited",
		 (double)(clock_now_ns() - place->idle_since_ns) / (double)NS_PER_S);
	place->is_leaving = true;
	control_fail(place->control, -ECANCELED, reason);
}

static unsigned int count_leaving(const struct places *places)
{
	unsigned int count = 0;

	for (const struct place *place = places->latest; place; place = place->next)
		count += place->is_leaving;
	return count;
}

/* Waits for a free place, with the lock held. Returns whether there is one. */
static bool await_place(struct places *places)
{
	uint64_t deadline_ns = clock_deadline(LEAVE_MS);
	const struct timespec deadline = {.tv_sec = (time_t)(deadline_ns / NS_PER_S),
					  .tv_nsec = (long)(deadline_ns % NS_PER_S)};
	int code = 0;

	while (places->count >= places->most && !code) {
		struct place *idle = find_idle(places);

		if (idle)
			end_idle(idle);
		else if (!count_leaving(places))
			break;
		code = pthread_cond_timedwait(&places->left, &places->lock, &deadline);
	}
	return places->count < places->most;
}

int places_enter(struct places *places, struct place *place, struct control *control,
		 struct error *error)
{
	bool is_free;

	pthread_mutex_lock(&places->lock);
	is_free = await_place(places);
	if (is_free) {
		*place = (struct place){control, clock_now_ns(), false, places->latest};
		places->latest = place;
		places->count++;
	}
	pthread_mutex_unlock(&places->lock);
	if (is_free)
		return 0;
	return error_set(
		error, -EBUSY,
		"serving its maximum of %u %s: retry later, or raise 'serve --max-clients' on "
		"the server",
		places->most, places->most == 1 ? "client" : "clients");
}

void places_leave(struct places *places, struct place *place)
{
	struct place **link = &places->latest;

	pthread_mutex_lock(&places->lock);
	while (*link && *link != place)
		link = &(*link)->next;
	if (*link) {
		*link = place->next;
		places->count--;
		pthread_cond_broadcast(&places->left);
	}
	pthread_mutex_unlock(&places->lock);
}

void places_set_idle(struct places *places, struct place *place, bool is_idle)
{
	pthread_mutex_lock(&places->lock);
	place->idle_since_ns = is_idle ? clock_now_ns() : 0;
	pthread_mutex_unlock(&places->lock);
}
