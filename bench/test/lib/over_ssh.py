# SPDX-License-Identifier: MIT
"""Tests that run commands on the second machine by ssh."""

import os
import subprocess
import tempfile
import unittest

from verbmark import Program, run, wait_until


class OverSsh(unittest.TestCase):
    """ssh is the command, without the name of the machine and what runs there."""

    @classmethod
    def setUpClass(cls):
        if not os.path.exists("/usr/sbin/sshd"):
            raise unittest.SkipTest("sshd is not installed")
        # Both machines share this folder.
        cls.folder = tempfile.mkdtemp(dir=os.environ["OUT"])
        for name in ("host", "user"):
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{cls.folder}/{name}")
        with open(f"{cls.folder}/config", "w", encoding="ascii") as config:
            config.write(
                f"HostKey {cls.folder}/host\nAuthorizedKeysFile {cls.folder}/user.pub\n"
                "StrictModes no\nPidFile none\nUsePAM no\nPermitRootLogin yes\n"
            )
        cls.sshd = Program(
            "on-second", "sh", "-c",
            f"mkdir -p /run/sshd && exec /usr/sbin/sshd -D -e -f {cls.folder}/config",
        )
        wait_until(lambda: "listening" in cls.sshd.errors, what="sshd")
        # Copy the key: ssh rejects it if permissions on the shared folder look too wide.
        cls.key = tempfile.NamedTemporaryFile()
        with open(f"{cls.folder}/user", "rb") as key:
            cls.key.write(key.read())
        cls.key.flush()
        cls.ssh = (
            f"ssh -i {cls.key.name} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null "
            "-o LogLevel=ERROR -o ControlPath=none -o BatchMode=yes"
        )

    @classmethod
    def tearDownClass(cls):
        cls.sshd.kill()
        cls.key.close()
        subprocess.run(["rm", "-rf", cls.folder], check=True)
