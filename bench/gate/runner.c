/* SPDX-License-Identifier: MIT */
#include "bench/gate/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/cli/inputs.h"
#include "bench/cli/log.h"
#include "core/base/clock.h"
#include "core/base/compiler.h"
#include "reports/document/parse.h"

/* Time to wait before SIGTERM, and from there to SIGKILL. */
#define GOODBYE_MS 3000
#define PIECE      65536UL
#define SAID_MOST  2048

/* The start of the error for an unknown host name. */
#define UNRESOLVED "cannot resolve '"

/* A running process and its output so far. */
struct child {
	pid_t pid;
	int plan;   /* its standard input; -1: closed (as below) */
	int output; /* its standard output: the document */
	int said;   /* its standard error */
	int pidfd;  /* readable once the process has ended, even if its pipes stay open */
	char *text; /* the document */
	size_t length;
	size_t room;
	char words[SAID_MOST]; /* the end of its standard error */
	size_t n_words;
};

static int runner_add(struct runner *side, const char *text, size_t length, struct error *error)
{
	if (side->n_words == RUNNER_WORDS_MOST)
		return error_set(error, -E2BIG, "the command of a side has more than %d words",
				 RUNNER_WORDS_MOST);
	side->words[side->n_words] = strndup(text, length);
	if (!side->words[side->n_words++])
		return error_set_errno(error, -ENOMEM, "cannot store the command of a side");
	return 0;
}

/* Adds words separated by blanks. Quoting is not supported; use a script. */
static int add_words(struct runner *side, const char *text, struct error *error)
{
	int code = 0;

	while (!code) {
		size_t length;

		text += strspn(text, " \t");
		length = strcspn(text, " \t");
		if (!length)
			break;
		code = runner_add(side, text, length, error);
		text += length;
	}
	return code;
}

static int add_pair(struct runner *side, const char *name, const char *value, struct error *error)
{
	int code = value ? runner_add(side, name, strlen(name), error) : 0;

	return value && !code ? runner_add(side, value, strlen(value), error) : code;
}

static int add_options(struct runner *side, const struct runner_options *options,
		       struct error *error)
{
	char number[8];
	int code = add_pair(side, "--device", options->device, error);

	snprintf(number, sizeof(number), "%u", options->port);
	if (!code)
		code = add_pair(side, "--server-device", options->server_device, error);
	if (!code)
		code = add_pair(side, "--secret-file", options->secret_file, error);
	if (!code)
		code = add_pair(side, "--port", options->port ? number : NULL, error);
	return code;
}

int runner_open(struct runner *side, const char *what, const struct runner_options *options,
		struct error *error)
{
	bool is_command = strpbrk(what, "/ \t");
	const char *host = is_command ? options->host : what;
	int code;

	if (!what[strspn(what, " \t")])
		return error_set(error, -EINVAL, "the command of a side is empty");
	if (!is_command && options->host)
		return error_set(error, -EINVAL,
				 "'%s' is a host and cannot be combined with HOST; a command "
				 "contains a '/' or blanks",
				 what);
	side->is_host = !is_command;
	code = add_words(side, is_command ? what : "/proc/self/exe", error);
	if (!code)
		code = add_words(side, "run --plan /dev/stdin --json - --quiet", error);
	if (!code)
		code = add_options(side, options, error);
	if (!code && host)
		code = runner_add(side, host, strlen(host), error);
	return code;
}

void runner_close(struct runner *side)
{
	for (size_t i = 0; i < side->n_words; i++)
		free(side->words[i]);
	*side = (struct runner){0};
}

/* Runs in the child. */
static void __attribute__((noreturn))
exec_side(const struct runner *side, int plan, int output, int said, pid_t parent)
{
	sigset_t none;

	/* Do not keep measuring if the gate is killed. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(127);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/*
	 * Its own process group: it is killed with its descendants, and Ctrl-C goes only to the
	 * gate.
	 */
	setpgid(0, 0);
	if (dup2(plan, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
	    dup2(said, STDERR_FILENO) >= 0)
		execvp(side->words[0], side->words);
	dprintf(STDERR_FILENO, "cannot run %s: %s\n", side->words[0], strerror(errno));
	_exit(127);
}

/* Uses memory instead of a pipe, so that a program that does not read it cannot block us. */
static int make_input(const char *plan, struct error *error)
{
	int file = memfd_create("plan", MFD_CLOEXEC);
	size_t length = strlen(plan);

	if (file >= 0 && write(file, plan, length) == (ssize_t)length &&
	    lseek(file, 0, SEEK_SET) == 0)
		return file;
	error_set_errno(error, errno ? -errno : -EIO, "cannot pass the plan to a side");
	if (file >= 0)
		close(file);
	return error->code;
}

static void close_end(int *end)
{
	if (*end >= 0)
		close(*end);
	*end = -1;
}

static int runner_start(struct child *child, const struct runner *side, const char *plan,
			struct error *error)
{
	int output[2] = {-1, -1};
	int said[2] = {-1, -1};
	pid_t parent = getpid();

	child->plan = make_input(plan, error);
	if (child->plan < 0)
		return error->code;
	if (pipe2(output, O_CLOEXEC) || pipe2(said, O_CLOEXEC) ||
	    fcntl(output[0], F_SETFL, O_NONBLOCK) || fcntl(said[0], F_SETFL, O_NONBLOCK)) {
		error_set_errno(error, -errno, "cannot start a side");
		close_end(&output[0]);
		close_end(&output[1]);
		return error->code;
	}
	child->output = output[0];
	child->said = said[0];
	child->pid = fork();
	if (!child->pid)
		exec_side(side, child->plan, output[1], said[1], parent);
	if (child->pid > 0) {
		setpgid(child->pid, child->pid);
		child->pidfd = pidfd_open(child->pid, 0);
	}
	if (child->pid < 0 || child->pidfd < 0)
		error_set_errno(error, -errno, "cannot start a side");
	close(output[1]);
	close(said[1]);
	return error->code;
}

/* Reads a piece of the document. Returns false at its end. */
static bool take_output(struct child *child, struct error *error)
{
	ssize_t got;

	if (child->length + PIECE > child->room) {
		size_t room = child->room ? child->room * 2 : PIECE * 8;
		char *grown = room > PARSE_BYTES_MOST ? NULL : realloc(child->text, room);

		if (!grown) {
			error_set_errno(error, -ENOMEM, "cannot store a result");
			return false;
		}
		child->text = grown;
		child->room = room;
	}
	got = read(child->output, child->text + child->length, PIECE);
	child->length += got > 0 ? (size_t)got : 0;
	return got > 0 || (got < 0 && errno == EINTR);
}

/* Reads a piece of standard error and keeps the end. Returns false at its end. */
static bool take_words(struct child *child)
{
	char piece[SAID_MOST / 2];
	ssize_t got = read(child->said, piece, sizeof(piece));
	size_t kept = child->n_words;

	if (got <= 0)
		return got < 0 && errno == EINTR;
	if (kept + (size_t)got >= sizeof(child->words)) {
		kept = sizeof(child->words) / 2 - 1;
		memmove(child->words, child->words + child->n_words - kept, kept);
	}
	memcpy(child->words + kept, piece, (size_t)got);
	child->n_words = kept + (size_t)got;
	return true;
}

static int take_all(struct child *child, uint64_t deadline, int stop, struct error *error)
{
	bool has_ended = false;

	while (!has_ended && (child->output >= 0 || child->said >= 0)) {
		struct pollfd waiting[] = {
			{.fd = child->output, .events = POLLIN},
			{.fd = child->said,   .events = POLLIN},
			{.fd = stop,          .events = POLLIN},
			{.fd = child->pidfd,  .events = POLLIN},
		};
		int got = poll(waiting, ARRAY_LENGTH(waiting), clock_left_ms(deadline));

		if (got < 0 && errno != EINTR)
			return error_set_errno(error, -errno, "cannot wait for a side");
		if (!got || clock_now_ns() >= deadline)
			return error_set(error, -ETIMEDOUT, "timed out");
		if (got > 0 && waiting[2].revents)
			return error_set(error, -EINTR, "interrupted");
		if (got > 0 && waiting[0].revents && !take_output(child, error))
			close_end(&child->output);
		if (got > 0 && waiting[1].revents && !take_words(child))
			close_end(&child->said);
		has_ended = got > 0 && waiting[3].revents;
	}
	/* Take what is left, without waiting for descendants that keep the pipes open. */
	while (child->output >= 0 && take_output(child, error))
		continue;
	while (child->said >= 0 && take_words(child))
		continue;
	return error->code;
}

/*
 * Waits for the process, and kills it if necessary. Returns its exit status, or -1 if it was
 * killed or cannot be.
 */
static int end(struct child *child, bool is_wanted)
{
	static const int signals[] = {SIGTERM, SIGKILL};
	uint64_t deadline = is_wanted ? clock_deadline(GOODBYE_MS) : 0;
	size_t next = 0;
	int status = -1;

	while (!waitpid(child->pid, &status, WNOHANG)) {
		bool is_time = clock_now_ns() >= deadline;

		/* A process that waits for a device or a disk ends only when the kernel lets it. */
		if (is_time && next == ARRAY_LENGTH(signals)) {
			log_say("process %d of a side did not end after SIGKILL and is left "
				"behind",
				child->pid);
			return -1;
		}
		if (is_time) {
			kill(-child->pid, signals[next++]);
			deadline = clock_deadline(GOODBYE_MS);
		}
		nanosleep(&(struct timespec){.tv_nsec = NS_PER_MS}, NULL);
	}
	/* Kill a server that it may have left behind. */
	kill(-child->pid, SIGKILL);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Sets the error to the last line of standard error, without the program's name. */
static int set_failure(struct child *child, int status, struct error *error)
{
	char shown[INPUTS_NAME];
	char *line = child->words;
	char *begin;

	child->words[child->n_words < SAID_MOST ? child->n_words : SAID_MOST - 1] = '\0';
	while (child->n_words && strchr("\r\n", child->words[child->n_words - 1]))
		child->words[--child->n_words] = '\0';
	begin = strrchr(line, '\n');
	line = begin ? begin + 1 : line;
	if (!strncmp(line, "verbmark: ", strlen("verbmark: ")))
		line += strlen("verbmark: ");
	inputs_name(shown, line);
	if (*shown)
		return error_set(error, -ECHILD, "%.200s", shown);
	return error_set(error, -ECHILD, "exited with status %d and without a result", status);
}

/* A program name without a '/' is taken for a host. */
static void explain_name(const struct runner *side, struct error *error)
{
	if (side->is_host && !strncmp(error->text, UNRESOLVED, strlen(UNRESOLVED)))
		error_append(error, "a command contains a '/', e.g. ./verbmark");
}

int runner_run(const struct runner *side, const char *plan, unsigned int timeout_ms, int stop,
	       struct result *result, struct error *error)
{
	struct child child = {.plan = -1, .output = -1, .said = -1, .pidfd = -1};
	int code = runner_start(&child, side, plan, error);
	int status = -1;

	*result = (struct result){0};
	if (!code)
		code = take_all(&child, clock_deadline(timeout_ms), stop, error);
	if (child.pid > 0)
		status = end(&child, !code);
	if (!code && !child.length) {
		code = set_failure(&child, status, error);
		explain_name(side, error);
	}
	if (!code)
		code = parse_text(result, child.text, child.length, error);
	close_end(&child.plan);
	close_end(&child.output);
	close_end(&child.said);
	close_end(&child.pidfd);
	free(child.text);
	return code;
}
