# SPDX-License-Identifier: MIT
"""ci/job, called on the software device as CI services call it; and the workflows to copy, as far
as they can be checked without those services."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as tree

from verbmark import VERBMARK

try:
    import yaml
except ImportError:
    yaml = None

TOP = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.."))
# Stands in for verbmark when a gate is run: records its arguments and writes files.
GATE = """#!/bin/sh
printf '%s\\n' "$@" >"$OUT/arguments"
command -v verbmark >"$OUT/found"
while [ $# -gt 0 ]; do
	case $1 in
	--json | --markdown | --junit) echo "made $1" >"$2" && shift ;;
	esac
	shift
done
exit 1
"""
# Stands in for ci/softroce: records its arguments and runs the command without a machine.
MACHINE = """#!/bin/sh
echo "$@" >"$OUT/machine"
while [ "$1" != -- ]; do shift; done
shift
exec "$@"
"""


def written(path, text, mode=0o644):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Job(unittest.TestCase):
    """ci/job in its own checkout, with the environment of a step on GitHub."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        shutil.copytree(f"{TOP}/ci", self.path("top/ci"))
        os.makedirs(self.path("top/build-job/bench"))
        self.program = self.path("top/build-job/bench/verbmark")
        os.symlink(VERBMARK, self.program)
        os.mkdir(self.path("device"), 0o700)
        self.files = {name: self.path(name) for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
        for path in self.files.values():
            written(path, "before=\n")

    def path(self, name):
        return os.path.join(self.folder, name)

    def left(self):
        return sorted(os.listdir(self.path("out")))

    def job(self, *words, status=0, **settings):
        environment = {
            "PATH": os.environ["PATH"], "HOME": self.folder, "GITHUB_ACTIONS": "true",
            "VERBMARK_SOFT_DIR": self.path("device"), "VERBMARK_ON": "soft0", "OUT": "out",
            "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1",
            **self.files, **settings,
        }
        done = subprocess.run([self.path("top/ci/job"), *words], env=environment, check=False,
                              cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              encoding="utf-8")
        self.assertEqual(done.returncode, status, done)
        return done

    def run_job(self, options, **settings):
        return self.job("run", VERBMARK_OPTIONS="--quiet --op send --metric lat -s 64 --cq poll "
                        f"-n 100 --trials 1 {options}", **settings)

    def outputs(self):
        return dict(line.split("=", 1) for line in read(self.files["GITHUB_OUTPUT"]).splitlines())

    def test_run_writes_all_formats(self):
        self.run_job("")
        self.assertEqual(self.left(), ["junit.xml", "metrics.txt", "report.html", "result.json",
                                       "summary.md"])
        document = json.loads(read(self.path("out/result.json")))
        self.assertEqual([case["id"] for case in document["cases"]], ["send/lat/64/poll"])
        suites = tree.parse(self.path("out/junit.xml")).getroot()
        self.assertEqual(len(list(suites.iter("testcase"))), 1)
        self.assertIn("# TYPE ", read(self.path("out/metrics.txt")))

    def test_run_appends_to_the_summary(self):
        self.run_job("")
        summary = read(self.files["GITHUB_STEP_SUMMARY"])
        self.assertTrue(summary.startswith("before=\n"))
        self.assertIn("SOFTWARE DEVICE", summary)
        self.assertEqual(summary, "before=\n" + read(self.path("out/summary.md")))

    def test_run_sets_outputs_for_later_steps(self):
        self.run_job("")
        self.assertEqual(self.outputs(), {
            "before": "", "status": "0", "out": self.path("out"),
            "json": self.path("out/result.json")})

    def test_without_github_no_summary_and_outputs(self):
        self.files = {}
        done = self.run_job("", GITHUB_ACTIONS="")
        self.assertNotIn("::", done.stdout)
        self.assertIn("summary.md", self.left())

    def test_crossed_limit_is_an_error(self):
        done = self.job("run", status=1, VERBMARK_OPTIONS="--quiet --op send --metric bw -s 64 "
                        "-n 1000 --trials 1 --cq poll --fail-below 99999Gb/s")
        self.assertIn("::error title=verbmark::exit status 1", done.stdout)
        self.assertEqual(self.outputs()["status"], "1")
        self.assertIn("SOFTWARE DEVICE", read(self.files["GITHUB_STEP_SUMMARY"]))

    def test_failed_run_keeps_its_status(self):
        done = self.job("run", status=2, VERBMARK_OPTIONS="--op no-such")
        self.assertIn("no-such", done.stderr)
        self.assertIn("job: verbmark wrote no result", done.stderr)
        self.assertEqual(self.outputs()["status"], "2")

    def test_options_are_split_but_not_expanded(self):
        done = self.job("run", status=2, VERBMARK_OPTIONS="--op '$(touch bad) x;y' `touch bad` *")
        self.assertIn("$(touch bad) x;y", done.stderr)
        self.assertFalse(os.path.exists(self.path("bad")))
        done = self.job("run", status=2, VERBMARK_OPTIONS="--op 'send")
        self.assertRegex(done.stderr, r"\Ajob: VERBMARK_OPTIONS: unterminated quote[^\n]*\n\Z")

    def install(self, **settings):
        """
        Returns the commands that the installation ran, with stand-ins for all those that would
        change the machine.
        """
        for path, script in {
            "tools/apt-get": 'echo apt-get "$@" >>"$OUT/commands"',
            "tools/sudo": 'shift && exec "$@"',
            "tools/meson": 'echo meson "$@" >>"$OUT/commands" && mkdir -p build-job/bench &&\n'
                           ': >build-job/build.ninja && ln -fs "$VERBMARK" build-job/bench/verbmark',
            "top/ci/setup": 'echo setup "$@" >>"$OUT/commands"',
        }.items():
            os.makedirs(os.path.dirname(self.path(path)), exist_ok=True)
            written(self.path(path), f"#!/bin/sh\n{script}\n", 0o755)
        if not os.path.exists(self.path("tools/verbmark")):
            os.symlink(VERBMARK, self.path("tools/verbmark"))
        for name in ("verbmark.deb", "softrdma.deb"):
            written(self.path(name), "")
        self.job("install", PATH=f"{self.path('tools')}:{os.environ['PATH']}", VERBMARK=VERBMARK,
                 **settings)
        commands = read(self.path("out/commands")).splitlines()
        os.unlink(self.path("out/commands"))
        return commands

    def test_install_recovers_from_interrupted_setup(self):
        setup = "meson setup build-job -Dbuildtype=release"
        os.makedirs(self.path("top/build-job/meson-private"))
        first = self.install()
        self.assertEqual(first[:2], ["setup build", setup])
        self.assertFalse(os.path.exists(self.path("top/build-job/meson-private")))
        self.assertEqual(self.install(), [line for line in first if line != setup])

    def test_install_of_package_sets_up_the_device(self):
        debs = " ".join(map(self.path, ("verbmark.deb", "softrdma.deb")))
        apt = ["apt-get -qq update",
               f"apt-get -qq -y --no-install-recommends install {debs} python3"]
        for on, more in (("here", ["setup native"]), ("soft-roce", ["setup softroce"]),
                         ("virtual-time", ["setup softroce"]), ("soft0", [])):
            commands = self.install(VERBMARK_DEB="verbmark.deb softrdma.deb", VERBMARK_ON=on)
            self.assertEqual(commands, apt + more)

    def test_wrong_arguments(self):
        for words, settings, reason in (
            ((), {}, "expected one of install, run and gate"),
            (("walk",), {}, "expected one of install, run and gate"),
            (("run",), {"VERBMARK_ON": "moon"}, "'moon' is not soft-roce"),
            (("gate",), {}, "VERBMARK_BASE: not set"),
            (("install",), {"VERBMARK_DEB": "no.deb"}, "no file 'no.deb'"),
        ):
            done = self.job(*words, status=2, **settings)
            self.assertRegex(done.stderr, rf"\Ajob: [^\n]*{re.escape(reason)}[^\n]*\n\Z")

    def test_missing_program(self):
        os.remove(self.program)
        self.assertIn("is missing; run", self.job("run", status=2).stderr)

    def gate(self, **settings):
        os.remove(self.program)
        written(self.program, GATE, 0o755)
        project = self.path("project")
        os.mkdir(project)
        for words in (("init", "-q"), ("commit", "-q", "--allow-empty", "-m", "one"),
                      ("commit", "-q", "--allow-empty", "-m", "two")):
            subprocess.run(["git", "-c", "user.name=Tester", "-c", "user.email=t@example.org",
                            *words], cwd=project, check=True)
        return self.job("gate", status=1, VERBMARK_BASE="HEAD^1", VERBMARK_PROJECT=project,
                        VERBMARK_BUILD="git rev-parse HEAD >built", **settings)

    def test_gate_is_run_by_ci_gate(self):
        self.gate(VERBMARK_ARM="env HERE={} verbmark", VERBMARK_OPTIONS="--op send --rounds 20")
        words = read(self.path("out/arguments")).splitlines()
        self.assertEqual(words[0], "gate")
        self.assertEqual(words[-6:], ["soft0", "--op", "send", "--rounds", "20", "--annotations"])
        sides = [words[words.index(name) + 1] for name in ("--base", "--head")]
        built = [read(re.fullmatch(r"env HERE=(\S+) verbmark", side)[1] + "/built")
                 for side in sides]
        self.assertEqual(built, subprocess.run(
            ["git", "rev-parse", "HEAD^1", "HEAD"], cwd=self.path("project"), check=True,
            stdout=subprocess.PIPE, encoding="utf-8").stdout.splitlines(keepends=True))

    def test_virtual_time_runs_in_ci_softroce(self):
        written(self.path("top/ci/softroce"), MACHINE, 0o755)
        self.gate(VERBMARK_ARM="{}/verbmark", VERBMARK_ON="virtual-time")
        self.assertIn(" --virtual-time -- ", read(self.path("out/machine")))
        self.assertIn("\n--cq\nevent\n", read(self.path("out/arguments")))
        self.job("run", VERBMARK_ON="virtual-time", status=1)
        self.assertRegex(read(self.path("out/machine")), r"\A--virtual-time -- .* --cq event\n\Z")
        self.job("run", VERBMARK_ON="virtual-time", VERBMARK_OPTIONS="--cq poll", status=1)
        self.assertRegex(read(self.path("out/machine")), r" --cq poll\n\Z")

    def test_gate_writes_files_for_services(self):
        self.gate(VERBMARK_ARM="{}/verbmark")
        self.assertEqual([name for name in self.left() if name.startswith("gate.")],
                         ["gate.json", "gate.md", "gate.xml"])
        self.assertEqual(read(self.files["GITHUB_STEP_SUMMARY"]), "before=\nmade --markdown\n")
        self.assertEqual(self.outputs()["status"], "1")

    def test_side_finds_verbmark_in_path(self):
        self.gate(VERBMARK_ARM="env HERE={} verbmark")
        self.assertEqual(read(self.path("out/found")).strip(), self.program)

    def annotations(self, document, status):
        written(self.path("some.json"), json.dumps(document))
        return subprocess.run([f"{TOP}/ci/job.d/annotate", self.path("some.json"), str(status)],
                              check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout

    def test_annotations_are_escaped(self):
        warning = {"host": "n02", "what": "governor powersave", "why": "slow", "mend": "100%"}
        document = {
            "cases": [{"id": "a:b,c", "status": "failed", "error": "one\n::error::two\r%0A"},
                      {"id": "good", "status": "complete"}],
            "warnings": [{**warning, "spoils": True}, {**warning, "spoils": False}],
        }
        self.assertEqual(self.annotations(document, 1), (
            "::error title=a%3Ab%2Cc::one%0A::error::two%0D%250A\n"
            "::warning title=n02::governor powersave: slow; 100%25\n"))

    def test_annotations_are_limited_to_ten(self):
        cases = [{"id": f"c{i}", "status": "failed", "error": "e"} for i in range(30)]
        lines = self.annotations({"cases": cases}, 1).splitlines()
        self.assertEqual(len(lines), 10)
        self.assertEqual(lines[-1], "::error title=verbmark::21 more: see the summary")


@unittest.skipIf(yaml is None, "python3-yaml is not installed; run ci/setup test")
class Workflows(unittest.TestCase):
    def load(self, path):
        # BaseLoader has no booleans, so the key 'on' stays a string.
        return yaml.load(read(f"{TOP}/ci/{path}"), Loader=yaml.BaseLoader)

    def test_action_passes_its_inputs_to_the_script(self):
        action = self.load("github/action.yml")
        used = set()
        for step in action["runs"]["steps"]:
            self.assertEqual(step["shell"], "bash")
            # Untrusted text is passed in the environment: in a script the shell would interpret it.
            self.assertNotIn("${{", step["run"])
            self.assertIn('"$GITHUB_ACTION_PATH/../job" ', step["run"])
            script = read(f"{TOP}/ci/job")
            for name, value in step["env"].items():
                used.add(re.fullmatch(r"\$\{\{ inputs\.(\w+) \}\}", value)[1])
                self.assertIn(name, script + step["run"])
        self.assertEqual(used, set(action["inputs"]))
        steps = {step.get("id") for step in action["runs"]["steps"]}
        for name, output in action["outputs"].items():
            step, key = re.fullmatch(r"\$\{\{ steps\.(\w+)\.outputs\.(\w+) \}\}",
                                      output["value"]).groups()
            self.assertIn(step, steps)
            self.assertEqual(key, name)
            self.assertIn(f"output {key} ", read(f"{TOP}/ci/job"))

    def test_workflows_use_existing_inputs(self):
        inputs = self.load("github/action.yml")["inputs"]
        for name in ("gate", "run", "own"):
            workflow = self.load(f"github/{name}.yml")
            self.assertEqual(workflow["permissions"], {"contents": "read"})
            (job,) = workflow["jobs"].values()
            actions = {step.get("uses", ""): step for step in job["steps"]}
            (ours,) = [use for use in actions if "ci/github" in use]
            self.assertLessEqual(set(actions[ours]["with"]), set(inputs), name)
            (upload,) = [use for use in actions if "upload-artifact" in use]
            self.assertEqual(actions[upload]["with"]["path"], inputs["out"]["default"])
            if actions[ours]["with"].get("command") == "gate":
                (checkout,) = [use for use in actions if "checkout" in use]
                self.assertEqual(actions[checkout]["with"]["fetch-depth"], "0")

    def test_gitlab_jobs_use_files_of_the_script(self):
        jobs = self.load("gitlab/verbmark.gitlab-ci.yml")
        self.assertEqual(set(jobs), {".verbmark", ".verbmark-run", ".verbmark-gate"})
        made = read(f"{TOP}/ci/job") + read(f"{TOP}/ci/gate")
        variables = jobs[".verbmark"]["variables"]
        out = variables["OUT"]
        # Users may set a package to install there.
        self.assertEqual(variables["VERBMARK_DEB"], "")
        for name in (".verbmark-run", ".verbmark-gate"):
            self.assertEqual(jobs[name]["extends"], ".verbmark")
            for path in jobs[name]["artifacts"]["reports"].values():
                folder, file = path.split("/")
                self.assertEqual(folder, out)
                self.assertIn(f"$OUT/{file}", made)

    def test_gitlab_scripts_are_valid_shell(self):
        jobs = self.load("gitlab/verbmark.gitlab-ci.yml")
        for lines in ([".verbmark", "before_script"], [".verbmark-run", "script"],
                      [".verbmark-gate", "script"]):
            script = "\n".join(jobs[lines[0]][lines[1]])
            subprocess.run(["sh", "-n"], input=script, encoding="utf-8", check=True)
            self.assertRegex(script, r'"\$verbmark/ci/job" (install|run|gate)\b')
