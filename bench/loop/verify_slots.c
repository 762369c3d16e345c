/* SPDX-License-Identifier: MIT */
#include "bench/loop/verify_slots.h"

static uint32_t after(uint32_t slot, uint32_t count)
{
	return slot + 1 == count ? 0 : slot + 1;
}

static void fill_next(const struct lane *lane, struct verify_slots *slots, struct post_work *work)
{
	struct verify *verify = &slots->sent;

	verify->sent = slots->first_sent + slots->next_sent * lane->settings.stride;
	slots->next_sent = after(slots->next_sent, lane->settings.sent_slots);
	post_move(work, lane->endpoint.memory.address + verify->sent);
	if (verify_is_due(verify))
		verify_fill(verify);
	else if (verify->is_lossy)
		verify_name(verify);
	verify_next(verify);
}

void verify_slots_fill(const struct lane *lane, struct flow *flow, struct post_work *work)
{
	struct verify_slots *slots = &flow->slots;

	if (!lane->settings.shape->is_read) {
		fill_next(lane, slots, work);
		return;
	}
	post_move(work, lane->endpoint.memory.address + slots->first_received +
				slots->next_sent * lane->settings.stride);
	slots->next_sent = after(slots->next_sent, lane->settings.received_slots);
}

/* Clears the slot afterwards, so that data missing from the next message is noticed. */
static int verify_slots_check_one(struct verify *verify, size_t received, struct error *error)
{
	int code = 0;

	verify->received = received;
	if (verify->is_lossy)
		verify_find(verify);
	if (verify_is_due(verify))
		code = verify_check(verify, error);
	verify_next(verify);
	memory_clear(verify->memory, received, verify->length);
	return code;
}

/* The wr_id of a shared receive does not say which queue pair used it. */
static struct flow *taker(struct lane *lane, const struct ibv_wc *wc)
{
	struct flow *posted = &lane->flows[lane_flow(wc)];

	for (unsigned int i = 0; i < lane->settings.n_flows && posted->queue.srq; i++)
		if (lane->flows[i].queue.receiver == wc->qp_num)
			return &lane->flows[i];
	return posted;
}

static int check_message(struct lane *lane, const struct ibv_wc *wc, struct error *error)
{
	struct verify_slots *posted = &lane->flows[lane_flow(wc)].slots;
	size_t received =
		posted->first_received + lane_receive_slot(wc->wr_id) * lane->settings.stride;

	received += parameters_head(lane->settings.parameters);
	return verify_slots_check_one(&taker(lane, wc)->slots.received, received, error);
}

int verify_slots_check(struct lane *lane, const struct ibv_wc *wc, int n_wc, struct error *error)
{
	int code = 0;

	/* Notifications of reads are not the payload. */
	if (lane->settings.shape->is_read)
		return 0;
	for (int i = 0; i < n_wc && !code; i++)
		if (wc[i].wr_id & LANE_RECEIVE && wc[i].status == IBV_WC_SUCCESS)
			code = check_message(lane, &wc[i], error);
	return code;
}

int verify_slots_check_reads(const struct lane *lane, struct flow *flow, uint32_t count,
			     struct error *error)
{
	struct verify_slots *slots = &flow->slots;
	int code = 0;

	if (!lane->settings.shape->is_read)
		return 0;
	for (uint32_t i = 0; i < count && !code; i++) {
		code = verify_slots_check_one(&slots->received,
					      slots->first_received +
						      slots->next_received * lane->settings.stride,
					      error);
		slots->next_received = after(slots->next_received, lane->settings.received_slots);
	}
	return code;
}
