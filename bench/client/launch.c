/* SPDX-License-Identifier: MIT */
#include "bench/client/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/cli/log.h"
#include "bench/cli/value.h"
#include "bench/host/soft_device.h"
#include "core/base/clock.h"
#include "core/base/compiler.h"

/* Allows for ssh to a slow machine, or for waiting in srun's queue. */
#define READY_MS 30000
/* Time to exit after the input was closed, and after each signal. */
#define GOODBYE_MS 3000

#define WORDS_MOST 64

struct words {
	char *word[WORDS_MOST + 1];
	size_t count;
	char text[4096];
	size_t used;
};

static int add_word(struct words *words, const char *text, size_t length, const char *host,
		    struct error *error)
{
	size_t start = words->used;

	if (words->count == WORDS_MOST)
		return error_set(error, -E2BIG, "--launch has too many words");
	for (size_t i = 0; i < length; i++) {
		bool is_host = text[i] == '%' && i + 1 < length && text[i + 1] == 'h';
		const char *piece = is_host ? host : text + i;
		size_t size = is_host ? strlen(host) : 1;

		if (words->used + size + 1 > sizeof(words->text))
			return error_set(error, -E2BIG, "--launch is too long");
		memcpy(words->text + words->used, piece, size);
		words->used += size;
		i += is_host;
	}
	words->text[words->used++] = '\0';
	words->word[words->count++] = words->text + start;
	return 0;
}

/* Splits the command at blanks. There are no quotes: a command that needs them can be a script. */
static int split(struct words *words, const char *command, const char *host, struct error *error)
{
	int code = 0;

	while (!code) {
		size_t length;

		command += strspn(command, " \t");
		length = strcspn(command, " \t");
		if (!length)
			break;
		code = add_word(words, command, length, host, error);
		command += length;
	}
	return code;
}

/* Returns the program's path if it was run by path, otherwise its name. */
static const char *own_name(char *path, size_t size)
{
	ssize_t length = readlink("/proc/self/exe", path, size - 1);

	if (length <= 0 || !strchr(program_invocation_name, '/'))
		return "verbmark";
	path[length] = '\0';
	return path;
}

static int make_words(struct words *words, const char *command, const char *host,
		      const struct launch_server *server, struct error *error)
{
	char path[1024];
	const char *name = own_name(path, sizeof(path));
	char number[8];
	int code = command ? split(words, command, host, error) : 0;
	const char *const last[] = {command ? name : "verbmark",
				    "serve",
				    "--once",
				    "--token",
				    "--port",
				    number,
				    server->device ? "--device" : NULL,
				    server->device};

	snprintf(number, sizeof(number), "%u", server->port);
	for (size_t i = 0; i < ARRAY_LENGTH(last) && !code; i++) {
		/* Skip the value of an omitted option too. */
		if (!last[i])
			i++;
		else
			code = add_word(words, last[i], strlen(last[i]), "%h", error);
	}
	return code;
}

/* Runs the server in the child process. */
static void __attribute__((noreturn))
exec_server(const struct launch *launch, const struct words *words, int input, int output)
{
	const char *program = launch->is_own ? "/proc/self/exe" : words->word[0];

	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* The run handles Ctrl-C; its server, or the ssh to it, ends with it. */
	signal(SIGINT, SIG_IGN);
	if (launch->is_own)
		soft_device_pass_on();
	if (dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0)
		execvp(program, words->word);
	dprintf(STDERR_FILENO, "verbmark: cannot run %s: %s\n", program, strerror(errno));
	_exit(127);
}

static int start(struct launch *launch, const struct words *words, struct error *error)
{
	int to[2];
	int from[2];

	if (pipe2(to, O_CLOEXEC))
		return error_set_errno(error, -errno, "cannot start a server");
	if (pipe2(from, O_CLOEXEC)) {
		error_set_errno(error, -errno, "cannot start a server");
		close(to[0]);
		close(to[1]);
		return error->code;
	}
	launch->pid = fork();
	if (!launch->pid)
		exec_server(launch, words, to[0], from[1]);
	close(to[0]);
	close(from[1]);
	launch->input = to[1];
	launch->output = from[0];
	if (launch->pid > 0)
		return 0;
	error_set_errno(error, -errno, "cannot start a server");
	close(launch->input);
	close(launch->output);
	launch->pid = 0;
	return error->code;
}

static int make_token(struct launch *launch, struct error *error)
{
	uint8_t bytes[(LAUNCH_TOKEN - 1) / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return error_set_errno(error, -errno, "cannot make a token");
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(launch->token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

/* Parses the ready line. A remote shell may print other lines first. */
static bool is_ready(const char *line, uint16_t *port)
{
	const char *colon;
	uint64_t number;
	char digits[8];

	if (strncmp(line, "ready ", 6) != 0)
		return false;
	colon = strchr(line, ':');
	if (!colon || strcspn(colon + 1, " \n") >= sizeof(digits))
		return false;
	snprintf(digits, sizeof(digits), "%.*s", (int)strcspn(colon + 1, " \n"), colon + 1);
	if (!value_count(digits, 1, UINT16_MAX, &number))
		return false;
	*port = (uint16_t)number;
	return true;
}

static const char *starter(const struct launch *launch)
{
	return launch->is_own ? "this run" : "--launch";
}

static int await_ready(struct launch *launch, struct error *error)
{
	uint64_t deadline = clock_deadline(READY_MS);
	char line[512];
	size_t used = 0;

	for (;;) {
		struct pollfd waiting = {.fd = launch->output, .events = POLLIN};
		int got = poll(&waiting, 1, clock_left_ms(deadline));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return error_set(error, -ETIMEDOUT,
					 "the server started by %s is not ready after %d s",
					 starter(launch), READY_MS / 1000);
		if (read(launch->output, line + used, 1) != 1)
			return error_set(error, -ECHILD,
					 "the server started by %s exited: see its messages above",
					 starter(launch));
		if (line[used] != '\n') {
			used += used + 2 < sizeof(line);
			continue;
		}
		line[used] = '\0';
		if (is_ready(line, &launch->port))
			return 0;
		used = 0;
	}
}

/* A command that has already exited is not an error here: await_ready reports it. */
static int send_token(const struct launch *launch, struct error *error)
{
	const struct timespec now = {0};
	sigset_t broken;
	sigset_t before;
	int code = 0;

	sigemptyset(&broken);
	sigaddset(&broken, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &broken, &before);
	if (dprintf(launch->input, "%s\n", launch->token) < 0) {
		if (errno != EPIPE)
			code = error_set_errno(error, -errno,
					       "cannot send the token to the started server");
		else if (!sigismember(&before, SIGPIPE))
			sigtimedwait(&broken, NULL, &now);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return code;
}

int launch_start(struct launch *launch, const char *command, const char *host,
		 const struct launch_server *server, struct error *error)
{
	struct words words = {0};
	int code = make_words(&words, command, host ? host : "", server, error);

	*launch = (struct launch){.is_own = !command};
	if (!code)
		code = make_token(launch, error);
	if (!code)
		code = start(launch, &words, error);
	if (code)
		return code;
	code = send_token(launch, error);
	if (!code)
		code = await_ready(launch, error);
	if (code)
		launch_stop(launch);
	return code;
}

static bool has_ended(const struct launch *launch)
{
	return waitpid(launch->pid, NULL, WNOHANG) != 0;
}

void launch_stop(struct launch *launch)
{
	static const int signals[] = {SIGTERM, SIGKILL};
	uint64_t deadline = clock_deadline(GOODBYE_MS);
	struct pollfd life = {.events = POLLIN};
	bool is_left = false;
	size_t next = 0;

	if (!launch->pid)
		return;
	close(launch->input);
	/* Without a pidfd, poll() only sleeps, and the exit is noticed a little later. */
	life.fd = pidfd_open(launch->pid, 0);
	while (!has_ended(launch) && !is_left) {
		bool is_time = clock_now_ns() >= deadline;

		/* A process that waits for a device or disk exits only when the kernel lets it. */
		is_left = is_time && next == ARRAY_LENGTH(signals);
		if (is_time && !is_left) {
			kill(launch->pid, signals[next++]);
			deadline = clock_deadline(GOODBYE_MS);
		}
		poll(&life, 1, 5);
	}
	if (is_left)
		log_say("cannot stop the server that was started: process %d has not exited after "
			"SIGKILL; leaving it behind",
			launch->pid);
	if (life.fd >= 0)
		close(life.fd);
	close(launch->output);
	*launch = (struct launch){0};
}
