/* SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <semaphore.h>
#include <stdlib.h>

#include "core/base/address.h"
#include "core/base/clock.h"
#include "core/test/lib/check.h"

/*
 * A fake resolver: numeric addresses go to the real one, names are answered here, so that
 * no test depends on the network.
 */
static sem_t may_answer;
static sem_t has_answered;

static struct addrinfo *made_up(int family, const char *text, struct addrinfo *next)
{
	struct addrinfo *made = calloc(1, sizeof(*made));
	struct sockaddr_storage *address = calloc(1, sizeof(*address));

	*made = (struct addrinfo){.ai_family = family,
				  .ai_addr = (struct sockaddr *)address,
				  .ai_addrlen = sizeof(struct sockaddr_in),
				  .ai_next = next};
	address->ss_family = (sa_family_t)family;
	if (family == AF_INET)
		inet_pton(family, text, &((struct sockaddr_in *)address)->sin_addr);
	if (family == AF_INET6) {
		inet_pton(family, text, &((struct sockaddr_in6 *)address)->sin6_addr);
		made->ai_addrlen = sizeof(struct sockaddr_in6);
	}
	return made;
}

static struct addrinfo *made_up_list(const char *host)
{
	struct addrinfo *list = NULL;

	if (!strcmp(host, "unix.example"))
		return made_up(AF_UNIX, NULL, NULL);
	if (!strcmp(host, "many.example"))
		for (int i = 0; i < 20; i++)
			list = made_up(AF_INET, "192.0.2.7", list);
	if (!strcmp(host, "two.example"))
		list = made_up(AF_INET6, "2001:db8::1",
			       made_up(AF_UNIX, NULL, made_up(AF_INET, "192.0.2.1", NULL)));
	return list;
}

int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
		struct addrinfo **found)
{
	int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) =
		(int (*)(const char *, const char *, const struct addrinfo *,
			 struct addrinfo **))dlsym(RTLD_NEXT, "getaddrinfo");

	if (hints->ai_flags & AI_NUMERICHOST)
		return real(host, service, hints, found);
	if (!strcmp(host, "slow.example")) {
		sem_wait(&may_answer);
		*found = made_up(AF_INET, "192.0.2.1", NULL);
		sem_post(&has_answered);
		return 0;
	}
	*found = made_up_list(host);
	return *found ? 0 : EAI_NONAME;
}

void freeaddrinfo(struct addrinfo *list)
{
	void (*real)(struct addrinfo *) =
		(void (*)(struct addrinfo *))dlsym(RTLD_NEXT, "freeaddrinfo");
	struct addrinfo *next;

	/* Real results have the address in the same block. */
	if (list && list->ai_addr == (struct sockaddr *)(void *)(list + 1)) {
		real(list);
		return;
	}
	for (; list; list = next) {
		next = list->ai_next;
		free(list->ai_addr);
		free(list);
	}
}

static struct sockaddr_storage parse(const char *text)
{
	struct address_list list = {0};
	struct error error = {0};

	if (address_resolve(&list, text, 0, 0, &error))
		fail_msg("%s", error.text);
	assert_int_equal(list.count, 1);
	return list.address[0];
}

static void test_numbers(void **unused)
{
	static const struct {
		const char *text;
		sa_family_t family;
		uint8_t bytes[16];
	} rows[] = {
		{"192.0.2.1",        AF_INET,  {192, 0, 2, 1}                    },
		{"0.0.0.0",          AF_INET,  {0}                               },
		{"2001:db8::12",     AF_INET6, {0x20, 1, 0x0d, 0xb8, [15] = 0x12}},
		{"::",               AF_INET6, {0}                               },
		{"::ffff:192.0.2.1", AF_INET6, {[10] = 0xff, 0xff, 192, 0, 2, 1} },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct address_list list = {0};
		struct error error = {0};
		char text[ADDRESS_TEXT];
		const struct sockaddr *address = (struct sockaddr *)&list.address[0];

		assert_int_equal(address_resolve(&list, rows[i].text, 0x1234, 0, &error), 0);
		assert_int_equal(list.count, 1);
		assert_int_equal(address->sa_family, rows[i].family);
		assert_int_equal(address_port(address), 0x1234);
		if (rows[i].family == AF_INET) {
			const struct sockaddr_in *in = (struct sockaddr_in *)&list.address[0];

			assert_memory_equal(&in->sin_addr, rows[i].bytes, 4);
			assert_memory_equal(&in->sin_port, "\x12\x34", 2);
			assert_int_equal(address_length(address), sizeof(*in));
		} else {
			const struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&list.address[0];

			assert_memory_equal(&in6->sin6_addr, rows[i].bytes, 16);
			assert_memory_equal(&in6->sin6_port, "\x12\x34", 2);
			assert_int_equal(address_length(address), sizeof(*in6));
		}
		assert_string_equal(address_text(address, text), rows[i].text);
	}
}

/* lo is interface 1 in every network namespace. */
static void test_zones(void **unused)
{
	struct sockaddr_storage address = parse("fe80::1%lo");
	char text[ADDRESS_TEXT];

	assert_int_equal(((struct sockaddr_in6 *)&address)->sin6_scope_id, 1);
	assert_true(address_is_link_local((struct sockaddr *)&address));
	assert_string_equal(address_text((struct sockaddr *)&address, text), "fe80::1%lo");
	assert_string_equal(address_text_bare((struct sockaddr *)&address, text), "fe80::1");
	/* A deleted interface has no name. */
	((struct sockaddr_in6 *)&address)->sin6_scope_id = INT32_MAX;
	assert_string_equal(address_text((struct sockaddr *)&address, text), "fe80::1");
}

static void test_text_of_other_families(void **unused)
{
	const struct sockaddr address = {.sa_family = AF_UNIX};
	char text[ADDRESS_TEXT];

	assert_string_equal(address_text(&address, text), "?");
}

static void test_ports(void **unused)
{
	static const uint16_t ports[] = {0, 1, 0x00ff, 0xff00, 65535};
	static const char *const hosts[] = {"192.0.2.1", "2001:db8::1"};

	for (size_t i = 0; i < ARRAY_LENGTH(hosts); i++) {
		struct sockaddr_storage address = parse(hosts[i]);

		for (size_t j = 0; j < ARRAY_LENGTH(ports); j++) {
			address_set_port(&address, ports[j]);
			assert_int_equal(address_port((struct sockaddr *)&address), ports[j]);
		}
	}
}

static void test_bad_hosts(void **unused)
{
	static char long_host[257];
	static const struct {
		const char *host;
		int code;
		const char *text;
	} rows[] = {
		{NULL,           -EINVAL, "'' is not a host"             },
		{"",             -EINVAL, "'' is not a host"             },
		{long_host,      -EINVAL, "is not a host"                },
		{"none.example", -ENOENT, "cannot resolve 'none.example'"},
		{"unix.example", -ENOENT, "'unix.example' has no IP"     },
		{"192.0.2.256",  -ENOENT, "cannot resolve '192.0.2.256'" },
		{"fe80::1%none", -ENOENT, "cannot resolve 'fe80::1%none'"},
		{"1.2.3.4 ",     -ENOENT, "cannot resolve '1.2.3.4 '"    },
	};

	memset(long_host, 'h', sizeof(long_host) - 1);
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct address_list list = {0};
		struct error error = {0};

		assert_int_equal(
			address_resolve(&list, rows[i].host, 1, clock_deadline(5000), &error),
			rows[i].code);
		assert_contains(error.text, rows[i].text);
	}
}

static void test_longest_host(void **unused)
{
	char host[256];
	struct address_list list = {0};
	struct error error = {0};

	memset(host, 'h', sizeof(host) - 1);
	host[sizeof(host) - 1] = '\0';
	assert_int_equal(address_resolve(&list, host, 1, clock_deadline(5000), &error), -ENOENT);
}

static void test_names(void **unused)
{
	struct address_list list = {0};
	struct error error = {0};
	char text[ADDRESS_TEXT];

	assert_int_equal(address_resolve(&list, "two.example", 99, clock_deadline(5000), &error),
			 0);
	assert_int_equal(list.count, 2);
	assert_string_equal(address_text((struct sockaddr *)&list.address[0], text), "2001:db8::1");
	assert_string_equal(address_text((struct sockaddr *)&list.address[1], text), "192.0.2.1");
	assert_int_equal(address_port((struct sockaddr *)&list.address[0]), 99);
	assert_int_equal(address_port((struct sockaddr *)&list.address[1]), 99);

	assert_int_equal(address_resolve(&list, "many.example", 1, clock_deadline(5000), &error),
			 0);
	assert_int_equal(list.count, ADDRESS_MAX);
}

/* The resolver answers only after the caller has given up; the result is freed then. */
static void test_resolver_timeout(void **unused)
{
	struct address_list list = {0};
	struct error error = {0};

	assert_int_equal(address_resolve(&list, "slow.example", 1, clock_deadline(20), &error),
			 -ETIMEDOUT);
	assert_string_equal(error.text, "cannot resolve 'slow.example': no answer in time");
	sem_post(&may_answer);
	sem_wait(&has_answered);
}

static void test_networks(void **unused)
{
	static const struct {
		const char *a;
		const char *b;
		unsigned int prefix;
		bool same;
	} rows[] = {
		{"10.0.0.1",        "192.168.0.1",      0,   true },
		{"10.0.0.1",        "10.0.0.1",         32,  true },
		{"10.0.0.0",        "10.0.0.1",         31,  true },
		{"10.0.0.1",        "10.0.0.2",         31,  false},
		{"10.0.0.1",        "10.0.0.0",         32,  false},
		{"10.0.0.1",        "10.0.0.0",         33,  false},
		{"10.0.0.1",        "10.0.0.1",         33,  true },
		{"10.0.0.1",        "10.0.0.1",         128, true },
		{"127.255.255.255", "128.0.0.0",        1,   false},
		{"128.0.0.0",       "255.255.255.255",  1,   true },
		{"10.1.0.0",        "10.2.255.255",     14,  true },
		{"10.3.255.255",    "10.4.0.0",         14,  false},
		{"10.3.255.255",    "10.4.0.0",         13,  true },
		{"10.7.255.255",    "10.8.0.0",         13,  false},
		{"2001:db8::",      "ffff::",           0,   true },
		{"2001:db8::1",     "2001:db8::1",      128, true },
		{"2001:db8::",      "2001:db8::1",      128, false},
		{"2001:db8::",      "2001:db8::1",      127, true },
		{"2001:db8::",      "2001:db8::1",      200, false},
		{"2001:db8::1",     "2001:db8::1",      200, true },
		{"2001:db8:0:1::",  "2001:db8:0:2::",   64,  false},
		{"2001:db8:0:1::",  "2001:db8:0:1:8::", 64,  true },
		{"2001:db8::",      "2001:db8:8000::",  33,  false},
		{"2001:db8::",      "2001:db8:7fff::",  33,  true },
		{"10.0.0.1",        "::a00:1",          0,   false},
		{"10.0.0.1",        "::ffff:10.0.0.1",  32,  false},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct sockaddr_storage a = parse(rows[i].a);
		struct sockaddr_storage b = parse(rows[i].b);

		assert_int_equal(address_same_network((struct sockaddr *)&a, (struct sockaddr *)&b,
						      rows[i].prefix),
				 rows[i].same);
		assert_int_equal(address_same_network((struct sockaddr *)&b, (struct sockaddr *)&a,
						      rows[i].prefix),
				 rows[i].same);
	}
}

static void test_equality_ignores_ports(void **unused)
{
	struct sockaddr_storage a = parse("192.0.2.1");
	struct sockaddr_storage b = parse("192.0.2.1");
	struct sockaddr_storage c = parse("192.0.2.2");

	address_set_port(&b, 7);
	assert_true(address_equal((struct sockaddr *)&a, (struct sockaddr *)&b));
	assert_false(address_equal((struct sockaddr *)&a, (struct sockaddr *)&c));
}

static void test_loopback_and_link_local(void **unused)
{
	static const struct {
		const char *text;
		bool loopback;
		bool link_local;
	} rows[] = {
		{"127.0.0.1",        true,  false},
		{"127.255.255.254",  true,  false},
		{"126.255.255.255",  false, false},
		{"128.0.0.1",        false, false},
		{"::1",              true,  false},
		{"::2",              false, false},
		{"::ffff:127.0.0.1", true,  false},
		{"::ffff:10.0.0.1",  false, false},
		{"fe80::1",          false, true },
		{"febf::1",          false, true },
		{"fec0::1",          false, false},
		{"169.254.1.1",      false, false},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct sockaddr_storage address = parse(rows[i].text);

		assert_int_equal(address_is_loopback((struct sockaddr *)&address),
				 rows[i].loopback);
		assert_int_equal(address_is_link_local((struct sockaddr *)&address),
				 rows[i].link_local);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_zones),
		cmocka_unit_test(test_text_of_other_families),
		cmocka_unit_test(test_ports),
		cmocka_unit_test(test_bad_hosts),
		cmocka_unit_test(test_longest_host),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_resolver_timeout),
		cmocka_unit_test(test_networks),
		cmocka_unit_test(test_equality_ignores_ports),
		cmocka_unit_test(test_loopback_and_link_local),
	};

	sem_init(&may_answer, 0, 0);
	sem_init(&has_answered, 0, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
