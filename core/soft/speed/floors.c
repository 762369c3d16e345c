/* SPDX-License-Identifier: MIT */
/*
 * What the machine allows: ways from one process to another, without a device. The two
 * are kept to two processors; a figure is the median of as many batches.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	BATCHES = 9,
	SMALL = 64,
	LARGE = 1 << 20,
	LINE = 64,
	/* One that spins does so for this long before it lets the other have the processor. */
	SPINS_TO_YIELD = 1 << 14,
};

enum side {
	NEAR,
	FAR,
};

/* From one to the other: what it says, and that it is there, in a line of its own. */
struct letter {
	_Alignas(LINE) _Atomic uint32_t turn;
	_Alignas(LINE) unsigned char data[SMALL];
};

/* Between the two. */
struct shared {
	_Alignas(LINE) _Atomic uint32_t turn[2];
	struct letter letter[2];
	_Alignas(LINE) unsigned char there[LARGE];
};

struct floor_state {
	struct shared *shared;
	unsigned char *here; /* LARGE bytes */
	int event[2];
	int socket[2];
	pid_t far;
	int memory; /* the far one's, as a file */
};

/* What one side does for one round; of one-sided ways the far side does nothing. */
struct floor_way {
	const char *name;
	int (*round)(struct floor_state *state, enum side side, uint32_t number);
	unsigned int rounds; /* of a batch */
	bool is_one_sided;
	uint64_t bytes; /* moved in a round, where the rate is what counts */
};

static void await_turn(const _Atomic uint32_t *turn, uint32_t number)
{
	unsigned int spins = 0;

	while (atomic_load_explicit(turn, memory_order_acquire) != number)
		if (++spins % SPINS_TO_YIELD == 0)
			sched_yield();
}

/* Both directions have one line. */
static int by_flag(struct floor_state *state, enum side side, uint32_t number)
{
	struct shared *shared = state->shared;

	if (side == NEAR)
		atomic_store_explicit(&shared->turn[0], number, memory_order_release);
	await_turn(&shared->turn[side == NEAR], number);
	if (side == FAR)
		atomic_store_explicit(&shared->turn[1], number, memory_order_release);
	return 0;
}

static void post_letter(struct floor_state *state, enum side side, uint32_t number)
{
	struct letter *letter = &state->shared->letter[side];

	memcpy(letter->data, state->here, SMALL);
	atomic_store_explicit(&letter->turn, number, memory_order_release);
}

/* As a message travels: its data, and its completion, which the other side polls. */
static int by_letter(struct floor_state *state, enum side side, uint32_t number)
{
	struct letter *from = &state->shared->letter[side == NEAR];

	if (side == NEAR)
		post_letter(state, side, number);
	await_turn(&from->turn, number);
	memcpy(state->here, from->data, SMALL);
	if (side == FAR)
		post_letter(state, side, number);
	return 0;
}

static int ring(int fd)
{
	return eventfd_write(fd, 1);
}

static int await(int fd)
{
	eventfd_t value;

	return eventfd_read(fd, &value);
}

static int by_event(struct floor_state *state, enum side side, uint32_t number)
{
	if (side == NEAR)
		return ring(state->event[0]) || await(state->event[1]) ? -1 : 0;
	return await(state->event[0]) || ring(state->event[1]) ? -1 : 0;
}

static int by_tcp(struct floor_state *state, enum side side, uint32_t number)
{
	unsigned char data[SMALL] = {0};
	int fd = state->socket[side];

	if (side == NEAR && send(fd, data, sizeof(data), MSG_NOSIGNAL) != SMALL)
		return -1;
	if (recv(fd, data, sizeof(data), MSG_WAITALL) != SMALL)
		return -1;
	if (side == FAR && send(fd, data, sizeof(data), MSG_NOSIGNAL) != SMALL)
		return -1;
	return 0;
}

static int by_process(struct floor_state *state, size_t length)
{
	struct iovec here = {state->here, length};
	struct iovec there = {state->shared->there, length};

	return process_vm_writev(state->far, &here, 1, &there, 1, 0) == (ssize_t)length ? 0 : -1;
}

static int by_small_copy(struct floor_state *state, enum side side, uint32_t number)
{
	return by_process(state, SMALL);
}

static int by_large_copy(struct floor_state *state, enum side side, uint32_t number)
{
	return by_process(state, LARGE);
}

static int by_file(struct floor_state *state, enum side side, uint32_t number)
{
	off_t there = (off_t)(uintptr_t)state->shared->there;

	return pwrite(state->memory, state->here, SMALL, there) == SMALL ? 0 : -1;
}

static int by_memcpy(struct floor_state *state, enum side side, uint32_t number)
{
	memcpy(state->shared->there, state->here, LARGE);
	/* The compiler is not to know that nobody looks. */
	__asm__ volatile("" : : "r"(state->shared->there) : "memory");
	return 0;
}

static const struct floor_way ways[] = {
	{"flag",		     by_flag,       20000, false, 0    },
	{"flag and 64 B",            by_letter,     20000, false, 0    },
	{"eventfd",                  by_event,      2000,  false, 0    },
	{"tcp",		      by_tcp,        2000,  false, 0    },
	{"process_vm_writev",        by_small_copy, 20000, true,  0    },
	{"/proc/PID/mem",            by_file,       20000, true,  0    },
	{"process_vm_writev, 1 MiB", by_large_copy, 200,   true,  LARGE},
	{"memcpy, 1 MiB",            by_memcpy,     200,   true,  LARGE},
};

/* Those that this program may use, before it keeps itself to one. */
static cpu_set_t allowed;

static int pin(enum side side)
{
	cpu_set_t one;
	int wanted = (int)side;

	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &allowed) && wanted-- == 0) {
			CPU_SET(cpu, &one);
			return sched_setaffinity(0, sizeof(one), &one);
		}
	return 0; /* only one: they share it */
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
	const double *left = a;
	const double *right = b;

	return (*left > *right) - (*left < *right);
}

/* All batches of one side; the median nanoseconds of a round. */
static int play(struct floor_state *state, const struct floor_way *way, enum side side,
		double *median_ns)
{
	double batch_ns[BATCHES];
	uint32_t number = 0;

	for (int batch = 0; batch < BATCHES; batch++) {
		uint64_t start_ns = now_ns();

		for (unsigned int i = 0; i < way->rounds; i++)
			if (way->round(state, side, ++number))
				return -1;
		batch_ns[batch] = (double)(now_ns() - start_ns) / way->rounds;
	}
	qsort(batch_ns, BATCHES, sizeof(batch_ns[0]), by_size);
	*median_ns = batch_ns[BATCHES / 2];
	return 0;
}

_Noreturn static void be_far(struct floor_state *state, const struct floor_way *way)
{
	double unused;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(state->socket[NEAR]);
	if (pin(FAR))
		_exit(1);
	if (way->is_one_sided)
		pause();
	_exit(play(state, way, FAR, &unused) ? 1 : 0);
}

static int open_memory(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	return open(path, O_RDWR | O_CLOEXEC);
}

static int measure(struct floor_state *state, const struct floor_way *way)
{
	double ns;
	int result;

	atomic_store(&state->shared->turn[0], 0);
	atomic_store(&state->shared->turn[1], 0);
	atomic_store(&state->shared->letter[NEAR].turn, 0);
	atomic_store(&state->shared->letter[FAR].turn, 0);
	state->far = fork();
	if (state->far < 0)
		return -1;
	if (!state->far)
		be_far(state, way);
	state->memory = open_memory(state->far);
	result = play(state, way, NEAR, &ns);
	if (state->memory >= 0)
		close(state->memory);
	kill(state->far, SIGKILL);
	waitpid(state->far, NULL, 0);
	if (result)
		return -1;
	if (way->bytes)
		printf("%s\t%.3f\tGB/s\n", way->name, (double)way->bytes / ns);
	else
		printf("%s\t%.4f\tus\n", way->name, ns / 1000 / (way->is_one_sided ? 1 : 2));
	return 0;
}

static int connect_both(int fd[2])
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	int on = 1;
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int result;

	fd[NEAR] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	result = listener < 0 || fd[NEAR] < 0 ||
		 bind(listener, (struct sockaddr *)&address, sizeof(address)) ||
		 listen(listener, 1) ||
		 getsockname(listener, (struct sockaddr *)&address, &length) ||
		 connect(fd[NEAR], (struct sockaddr *)&address, sizeof(address));
	fd[FAR] = result ? -1 : accept(listener, NULL, NULL);
	if (listener >= 0)
		close(listener);
	if (fd[FAR] < 0)
		return -1;
	return setsockopt(fd[NEAR], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) ||
			       setsockopt(fd[FAR], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on))
		       ? -1
		       : 0;
}

static int prepare(struct floor_state *state)
{
	state->shared = mmap(NULL, sizeof(*state->shared), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	state->here = malloc(LARGE);
	if (state->shared == MAP_FAILED || !state->here)
		return -1;
	memset(state->here, 1, LARGE);
	memset(state->shared->there, 0, LARGE);
	state->event[0] = eventfd(0, EFD_CLOEXEC);
	state->event[1] = eventfd(0, EFD_CLOEXEC);
	if (state->event[0] < 0 || state->event[1] < 0)
		return -1;
	return connect_both(state->socket);
}

int main(void)
{
	static struct floor_state state;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (sched_getaffinity(0, sizeof(allowed), &allowed) || prepare(&state) || pin(NEAR)) {
		perror("floors");
		return 1;
	}
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (measure(&state, &ways[i]))
			printf("%s\t-\t%s\n", ways[i].name, strerror(errno));
	return 0;
}
