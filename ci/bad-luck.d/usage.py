# SPDX-License-Identifier: MIT
"""Options."""

import os
import re
import shutil
import tempfile

import verbmark as v
from scene import PATIENCE, TOP, Stage, check, item

# Values that every option rejects unless it takes a name,
NEVER = (
    "", " ", "nonsense", "18446744073709551616", "99999999999999999999999999", "4q", "4kk", "٣",
    "\udcff", "\x1b[2J", "%s%n%s", "a" * 100000, ",", ",,,", "1,", "1:", ":1", "1:2:1", "/",
    "../..", "/dev/null/x", "\n", "{}", "=",
)
# and values that some options accept.
WRONG = (
    "0", "-0", "-1", "+1", "00000000000000000001", "18446744073709551615", "1e9", "0x10", "1.5",
    "nan", "1:0", "1:9:0", "1:18446744073709551615:+1", "all", "auto", "--", "-",
)
# Options whose value is a name: of a file, folder, device, program, version or case.
NAMES = {
    "plan", "json", "output", "baseline", "markdown", "junit", "dump", "pool-dump", "db",
    "secret-file", "device", "server-device", "base-device", "head-device", "launch", "base",
    "head", "version", "commit", "case", "history", "devices", "exclude", "groups", "csv",
    "bad-nodes", "save-dir", "html", "samples", "payload",
}


def options_of(command):
    """Returns (long name, how) of each option; how is '', ' ', or '=' for an optional value."""
    shown = v.verbmark(command, "--help-all").out
    found = re.findall(r"^  (?:-\w, |    )--([a-z-]+)( \[|\[=| \S)?", shown, re.MULTILINE)
    return [
        (name, "=" if "[" in value else value[:1]) for name, value in found if not name.startswith("help")
    ]


# Commands that measure nothing with any of the values above: they stop when options are checked, or
# for lack of a server. {} is a folder with results, a perftest log and a history.
COMMANDS = {
    "run": ("run", "--dry-run"),
    "tips": ("tips", "--dry-run"),
    "fleet": ("fleet", "--dry-run"),
    "gate": ("gate", "--base", "/bin/true", "--head", "/bin/true", "--dry-run"),
    "serve": ("serve", "-p", "0", "--idle", "200ms"),
    "devices": ("devices",), "doctor": ("doctor",), "pool": ("pool", "nobody.invalid"),
    "report": ("report", "{}/base.json"),
    "compare": ("compare", "{}/base.json", "{}/new.json"),
    "export": ("export", "--format", "csv", "{}/base.json"),
    "import": ("import", "perftest", "{}/log"),
    "history": ("history", "add", "--db", "{}/history.sqlite", "{}/base.json"),
    "history import": ("history", "import", "--db", "{}/history.sqlite", "{}"),
    "history list": ("history", "list", "--db", "{}/history.sqlite"),
    "history show": ("history", "show", "--db", "{}/history.sqlite"),
    "history check": ("history", "check", "--db", "{}/history.sqlite"),
}
LOG = "reports/fuzz/corpus/import_text/real-send-lat"


@item("each option of each command with each invalid value, and given twice", 1)
def options(tally, count, dice):
    with tally.attempt("each command"):
        shown = re.findall(r"^  ([a-z-]+) ", v.verbmark("--help").out, re.MULTILINE)
        check(set(shown) == {words[0] for words in COMMANDS.values()}, f"the commands are {shown}")
    with tempfile.TemporaryDirectory() as folder:
        make_inputs(folder)
        of_run = options_of("run")
        for name, words in COMMANDS.items():
            plain = [word.replace("{}", folder) for word in words]
            for option_name, how in options_of(plain[0]):
                # Options that these commands share with run.
                again = plain[0] in ("tips", "gate", "fleet") and (option_name, how) in of_run
                part = count / 4 if again else count
                uses = uses_of(option_name, how)
                for given, must in dice.sample(uses, max(1, min(len(uses), round(len(uses) * part)))):
                    with tally.attempt(f"{name} {str(given)[:60]}"):
                        option([*plain, *given], option_name, must)


def make_inputs(folder):
    with Stage() as stage:
        for name in ("base", "new"):
            ended = v.Ended(v.client(
                "-n", 200, "--op", "send", "--metric", "lat,bw", "--trials", 3,
                "--json", f"{folder}/{name}.json", port=stage.server.port,
            ))
            check(ended.status == 0, ended.err)
    shutil.copy(os.path.join(TOP, LOG), f"{folder}/log")
    added = v.verbmark("history", "add", "--db", f"{folder}/history.sqlite", f"{folder}/new.json")
    check(added.status == 0, added.err)


def uses_of(name, how):
    """Returns (arguments, must): ways to give the option, and whether each must be rejected."""
    if not how:
        return [([f"--{name}=x"], True), ([f"--{name}="], True)]
    gap = "=" if how == "=" else None
    uses = [
        ([f"--{name}={value}"] if gap else [f"--{name}", value], must)
        for values, must in ((NEVER, name not in NAMES), (WRONG, False)) for value in values
    ]
    twice = ([f"--{name}=1"] if gap else [f"--{name}", "1"]) * 2
    return [*uses, ([f"--{name}"], not gap), ([f"--{name}="], True), (twice, False)]


def option(words, name, must):
    with tempfile.TemporaryDirectory() as folder:
        ended = v.Ended(v.Program(v.VERBMARK, *words, cwd=folder), PATIENCE)
    lines = ended.err.splitlines()
    check(ended.status in (0, 1, 2, 3), f"exit status {ended.status}: {ended.err}")
    check(ended.status == 0 or lines or ended.out, "the program printed no reason")
    check(ended.status != 2 or (len(lines) == 1 and not ended.out), ended.err + ended.out)
    check(not must or ended.status == 2, f"exit status {ended.status}: {ended.err}")
    check(not must or f"--{name}" in ended.err, f"the option is not named: {ended.err}")
