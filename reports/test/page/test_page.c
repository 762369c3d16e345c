/* SPDX-License-Identifier: MIT */
#include "reports/page/page.h"
#include "reports/test/lib/sample.h"

static struct result sample;
static char *text;

static int open_sample(void **unused)
{
	sample_init(&sample);
	return 0;
}

static int close_sample(void **unused)
{
	result_finish(&sample);
	free(text);
	text = NULL;
	return 0;
}

static void make(const char *name)
{
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	struct page page;

	assert_non_null(out);
	assert_int_equal(page_open(&page), 0);
	page_add(page.body, &(struct charts){.result = &sample}, name);
	assert_int_equal(page_print(&page, out, name), 0);
	assert_int_equal(fclose(out), 0);
}

static size_t count(const char *part)
{
	size_t n = 0;

	for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
		n++;
	return n;
}

/* The same figures as in the table for terminals, see test_table.c. */
static void test_figures(void **unused)
{
	make("result.json");
	assert_contains(text, "<title>result.json - verbmark</title>");
	assert_contains(text, ">n01 mlx5_0/1 -&gt; n02 mlx5_1/2</h2>");
	assert_contains(text, "<dd>Ethernet 2.5 Gb/s MTU 1024 RC</dd>");
	assert_contains(text, ">Latency, microseconds</h3>");
	assert_contains(text, "<tr><th scope=\"row\" align=\"left\">send</th><td>64</td>"
			      "<td align=\"left\">poll</td><td align=\"left\">half</td>"
			      "<td>1.24</td><td>-</td>");
	assert_contains(text, ">Bandwidth</h3>");
	assert_contains(text, "<tr><th scope=\"row\" align=\"left\">write/t16</th>"
			      "<td>1000</td><td align=\"left\">event/poll</td>"
			      "<td>0.339</td><td>0.0992..0.579</td>"
			      "<td>13.6</td>");
	/* Not counting the tables of charts. */
	assert_int_equal(count("<table") - count("<summary>Values of this figure"), 2);
}

static void test_software_device(void **unused)
{
	make("result.json");
	assert_null(strstr(text, "SOFTWARE"));
	free(text);
	sample.server.kind = "soft";
	make("result.json");
	assert_contains(text, "<section>\n<p class=\"soft\"><b>SOFTWARE DEVICE");
	assert_contains(text, ">Latency, microseconds</h3>");
	free(text);
	json_object_set_new(sample.cases[SAMPLE_LATENCY].parameters, "needs", json_true());
	make("result.json");
	assert_null(strstr(text, ">Latency, microseconds</h3>"));
	assert_null(strstr(text, ">Bandwidth</h3>"));
}

static void test_cases_without_figures(void **unused)
{
	make("result.json");
	assert_contains(text,
			"<li>write/lat/4k/event/server-poll: failed: no completion for 5 s</li>");
	assert_contains(text,
			"<li>read/bw/64/poll/t4/Q5: skipped: --cq-mod exceeds --tx-depth</li>");
	assert_contains(text, "<li>read/lat/1m/adaptive: interrupted</li>");
	assert_contains(text,
			"<div class=\"note bad\">\n<h3 id=\"s3\">Failed, lost or not run</h3>");
}

/* Two of the three latency trials did not converge. */
static void test_cases_that_did_not_stabilize(void **unused)
{
	make("result.json");
	assert_null(strstr(text, "stabilize"));
	free(text);
	sample.cases[SAMPLE_LATENCY].trials[1].warmup.has_converged = false;
	make("result.json");
	assert_contains(text, "<li>1 of 2 cases did not stabilize during warm-up (e.g. "
			      "send/lat/64/poll); fix: a longer <code>--warmup</code></li>");
}

static void test_run_and_command(void **unused)
{
	make("result.json");
	assert_contains(text, "<dt>Measured</dt>\n"
			      "<dd>2001-02-03T04:05:06Z to 2001-02-03T04:05:07Z</dd>");
	assert_contains(text, "<dt>Status</dt>\n<dd>interrupted</dd>");
	assert_contains(text, "<dd>verbmark 1.2.3</dd>");
	assert_contains(text, "<dd>result.json</dd>");
	assert_contains(text, "<code>verbmark run n02</code>");
}

/* Text from documents is escaped. */
static void test_text_is_escaped(void **unused)
{
	struct result_case *failed = &sample.cases[SAMPLE_FAILED];

	snprintf(sample.client.host, sizeof(sample.client.host), "<script>&\"'");
	snprintf(failed->error, sizeof(failed->error), "<img src=x>");
	sample.warnings =
		sample_json("[{\"host\": \"<s>\", \"what\": \"a < b\", \"mend\": \"x > y\"}]");
	sample.client.facts = sample_json("{\"<i>\": \"</table>\", \"list\": [\"<u>\"]}");
	make("a&b");
	assert_contains(text, "&lt;script&gt;&amp;&quot;'");
	assert_contains(text, "failed: &lt;img src=x&gt;</li>");
	assert_contains(text, "<li>&lt;s&gt;: a &lt; b; fix: <code>x &gt; y</code></li>");
	assert_contains(text, "align=\"left\">&lt;i&gt;</th><td>&lt;/table&gt;</td><td>-</td>");
	assert_contains(text, "[&quot;&lt;u&gt;&quot;]");
	assert_contains(text, "<dd>a&amp;b</dd>");
	assert_contains(text, "<title>a&amp;b - verbmark</title>");
	assert_int_equal(count("<img") + count("<s>") + count("<u>"), 0);
	assert_int_equal(count("<script"), 1);
}

/* Facts of client and server are side by side, named by their path. */
static void test_host_facts(void **unused)
{
	sample.client.facts =
		sample_json("{\"cpu\": {\"model\": \"A\", \"cores\": 2}, \"near\": true}");
	sample.server.facts =
		sample_json("{\"cpu\": {\"model\": \"B\", \"cores\": 4}, \"far\": null}");
	make("result.json");
	assert_contains(text, ">cpu model</th><td>A</td><td>B</td><td>differs, hard</td>");
	assert_contains(text, ">cpu cores</th><td>2</td><td>4</td><td>differs</td>");
	assert_contains(text, ">near</th><td>true</td><td>-</td><td>differs</td>");
	assert_contains(text, ">far</th><td>-</td><td>-</td><td></td>");
	free(text);
	sample.client.fingerprint[0] = sample.server.fingerprint[0] = '\0';
	make("result.json");
	assert_contains(text, ">hard fingerprint</th><td>-</td><td>-</td><td></td>");
	free(text);
	snprintf(sample.client.fingerprint, sizeof(sample.client.fingerprint), "0123456789abcdef");
	snprintf(sample.server.fingerprint, sizeof(sample.server.fingerprint), "0123456789abcdee");
	make("result.json");
	assert_contains(text, ">hard fingerprint</th><td>0123456789abcdef</td>"
			      "<td>0123456789abcdee</td><td>differs</td>");
}

static void test_loss(void **unused)
{
	sample.cases[SAMPLE_LATENCY].lost = 3;
	sample.cases[SAMPLE_LATENCY].sent = 64;
	make("result.json");
	assert_contains(text, "<li>send/lat/64/poll: lost 3 of 64</li>");
}

static void test_shares(void **unused)
{
	struct shares *shares = &sample.cases[SAMPLE_BANDWIDTH].shares;
	struct error error = {0};

	make("result.json");
	assert_null(strstr(text, "Fairness"));
	assert_int_equal(shares_open(shares, 2, 1, &error), 0);
	shares->duration_ns[0] = shares->duration_ns[1] = 1;
	shares->messages[0] = 5;
	free(text);
	make("result.json");
	assert_contains(text, ">Fairness</h3>");
	assert_contains(text, ": fairness 0.500 of 2 threads</li>");
}

/* The page fetches nothing. Its only style and script are allowed by hash. */
static void test_policy(void **unused)
{
	static const char *const forbidden[] = {"style=",  " src=",   "https:", "url(",
						"@import", "onclick", "unsafe"};

	make("result.json");
	assert_contains(text, "content=\"default-src 'none'; style-src 'sha256-");
	assert_contains(text, "'; script-src 'sha256-");
	assert_int_equal(count("<script>"), 1);
	assert_int_equal(count("<style>"), 1);
	for (size_t i = 0; i < ARRAY_LENGTH(forbidden); i++)
		assert_null(strstr(text, forbidden[i]));
	assert_int_equal(count("href="), count("href=\"#"));
}

/* The contents have a link to each heading. */
static void test_contents(void **unused)
{
	size_t count_of[3];

	make("result.json");
	for (int level = 2; level <= 4; level++) {
		char part[16];

		snprintf(part, sizeof(part), "<h%d id=\"s", level);
		count_of[level - 2] = count(part);
		snprintf(part, sizeof(part), "<li class=\"h%d\"", level);
		assert_int_equal(count(part), count_of[level - 2]);
	}
	assert_int_equal(count_of[0], 1);
	assert_true(count_of[1] > 2);
	assert_contains(text, "<nav aria-label=\"Contents\"><ol>\n<li class=\"h2\">"
			      "<a href=\"#s1\">n01 mlx5_0/1 -&gt; n02 mlx5_1/2</a></li>\n");
	assert_contains(text, "<a href=\"#s3\">Failed, lost or not run</a>");
	assert_contains(text, "<h3 id=\"s3\">Failed, lost or not run</h3>");
}

#define on_sample(test) cmocka_unit_test_setup_teardown(test, open_sample, close_sample)

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_sample(test_figures),
		on_sample(test_software_device),
		on_sample(test_cases_without_figures),
		on_sample(test_cases_that_did_not_stabilize),
		on_sample(test_run_and_command),
		on_sample(test_text_is_escaped),
		on_sample(test_host_facts),
		on_sample(test_loss),
		on_sample(test_shares),
		on_sample(test_policy),
		on_sample(test_contents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
