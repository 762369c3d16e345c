# SPDX-License-Identifier: MIT
"""Plans, results and their files."""

import contextlib
import json
import os
import subprocess
import tempfile

import verbmark as v
from scene import Stage, check, check_message, item


@item("invalid or huge plans", 1)
def plans(tally, count, dice):
    good = '{"op": ["send"], "size": [64]}'
    for name, text in {
        "empty": "", "not JSON": "size: 64", "half": good[:-5], "twice": good + good,
        "not UTF-8": b"\xff\xfe\x00", "binary": bytes(range(256)) * 10, "null": "null",
        "a number": "7", "a text": '"send"', "deep": "[" * 100000 + "]" * 100000,
        "deep objects": '{"a":' * 5000 + "1" + "}" * 5000,
        "a deeply nested plan": "[" * 1000 + good + "]" * 1000, "huge": " " * (80 << 20) + good,
        "a million sizes": '{"size": [' + ",".join(map(str, range(1, 1 << 20))) + "]}",
        "a million keys": "{" + ",".join(f'"k{i}": 1' for i in range(1 << 20)) + "}",
        "a product of millions": json.dumps({
            "size": list(range(1, 257)), "tx-depth": list(range(1, 257)),
            "rx-depth": list(range(1, 257)), "metric": "bw",
        }),
        "another version": '{"schema": "verbmark.result/99", "run": {"plan": [{"size": [1]}]}}',
        "a foreign schema": '{"schema": "fio", "jobs": []}',
        "a schema that is not a string": '{"schema": {"a": 1}}',
        "a result without a plan": '{"schema": "verbmark.result/1", "run": 7}',
        "a size of 1e999": '{"size": [1e999]}', "a size of 2^64": '{"size": [18446744073709551616]}',
        "a NUL": '{"op": ["send\\u0000"]}', "the same key twice": '{"size": 1, "size": 2}',
        "an option of the command": '{"json": "/etc/passwd", "launch": "reboot"}',
    }.items():
        with tally.attempt(name), tempfile.NamedTemporaryFile(suffix=".json") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
            file.flush()
            ended = v.Ended(v.Program(v.VERBMARK, "run", "nobody.invalid", "--plan", file.name))
            check(ended.status == 2, f"exit status {ended.status}: {ended.err[:200]}")
            check_message(ended)
    for path in ("/dev/zero", "/dev/null", "/", "/nowhere"):
        with tally.attempt(path):
            check(v.verbmark("run", "n02", "--plan", path).status == 2, "the exit status is not 2")


@item("an unwritable result path is reported before the sweep", 1)
def paths(tally, count, dice):
    with Stage() as stage, tempfile.TemporaryDirectory() as folder:
        def refuse(path, **options):
            ended = v.Ended(v.client("-n", 10, "--json", path, port=stage.server.port, **options))
            check_message(ended)
            check("cannot write" in ended.err, ended.err)
            check(not ended.out, "a case was measured")
            check(not stage.server.err, "the client connected to the server")

        file = f"{folder}/file"
        with open(file, "w", encoding="ascii"):
            pass
        long = f"{folder}/" + "x" * 300
        for path in (folder, "/nowhere/x.json", f"{file}/x.json", "/proc/x.json", long):
            with tally.attempt(path[:60]):
                refuse(path)
        if not os.geteuid():
            with tally.attempt("a full disk"), full_disk(folder) as disk:
                refuse(f"{disk}/x.json")
        else:
            tally.notes.append("no full disk: mounting one requires root")
        with tally.attempt("a limit on file sizes"):
            refuse(
                f"{folder}/x.json",
                before=("bash", "-c", "ulimit -f 1; trap '' XFSZ; exec \"$@\"", "-"),
            )
        check(sorted(os.listdir(folder)) == ["file"], f"files are left: {os.listdir(folder)}")


@contextlib.contextmanager
def full_disk(folder):
    disk = f"{folder}/disk"
    os.mkdir(disk)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", disk], check=True)
    try:
        with contextlib.suppress(OSError), open(f"{disk}/fill", "wb", buffering=0) as file:
            while file.write(bytes(4096)):
                pass
        yield disk
    finally:
        subprocess.run(["umount", disk], check=True)
        os.rmdir(disk)


@item("a result file that exists", 1)
def results(tally, count, dice):
    with Stage() as stage, tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/x.json"
        for name, content in (("a text", "mine"), ("a result", None), ("nothing", "")):
            with tally.attempt(f"--json on {name}"):
                if content is not None:
                    with open(path, "w", encoding="ascii") as file:
                        file.write(content)
                ended = v.Ended(v.client("-n", 10, "--json", path, port=stage.server.port))
                check(ended.status == 0, ended.err)
                with open(path, encoding="utf-8") as file:
                    check(json.load(file)["run"]["status"] == "complete", "the run is not complete")
                check(os.listdir(folder) == ["x.json"], f"the folder contains {os.listdir(folder)}")
        with tally.attempt("default file names"):
            names = set()
            for _ in range(3):
                ended = v.Ended(v.Program(
                    v.VERBMARK, "run", v.ADDRESS, "-p", stage.server.port, "-n", 10, "--op", "send",
                    cwd=folder,
                ))
                check(ended.status == 0, ended.err)
                names.add(ended.out.rpartition("-> ")[2])
            check(len(names) == 3, f"a result was overwritten: {names}")
