# SPDX-License-Identifier: MIT
"""
Drives headless Chromium over a pipe, as its developer tools do, so that no port is open. Its
network reaches only this machine.
"""

import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

from verbmark import PATIENCE

PATH = shutil.which("chromium")
# The descriptors that Chromium reads commands from and writes answers to.
COMMANDS, ANSWERS = 3, 4


def hand_over(commands, answers):
    """Moves the pipes into place in the child, even if each one occupies the other's place."""
    high = [fcntl.fcntl(one, fcntl.F_DUPFD, 10) for one in (commands, answers)]
    os.dup2(high[0], COMMANDS)
    os.dup2(high[1], ANSWERS)


class Chromium:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        read_commands, self.commands = os.pipe()
        self.answers, write_answers = os.pipe()
        self.process = subprocess.Popen(
            [PATH, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             "--remote-debugging-pipe", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
             f"--user-data-dir={self.folder.name}", "about:blank"],
            preexec_fn=lambda: hand_over(read_commands, write_answers), close_fds=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True, env=dict(os.environ, TMPDIR=self.folder.name),
        )
        os.close(read_commands)
        os.close(write_answers)
        self.rest, self.count, self.session, self.events = b"", 0, None, []
        page = next(one for one in self("Target.getTargets")["targetInfos"]
                    if one["type"] == "page")
        self.session = self("Target.attachToTarget", targetId=page["targetId"],
                            flatten=True)["sessionId"]
        for domain in ("Page", "DOM", "CSS", "Log", "Runtime"):
            self(f"{domain}.enable")

    def close(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.commands)
        os.close(self.answers)
        self.folder.cleanup()

    def next(self):
        end = time.monotonic() + 2 * PATIENCE
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.answers], [], [], max(end - time.monotonic(), 0))
            more = os.read(self.answers, 1 << 20) if ready else b""
            if not more:
                raise AssertionError("chromium stopped answering")
            self.rest += more
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def __call__(self, method, **parameters):
        self.count += 1
        asked = {"id": self.count, "method": method, "params": parameters}
        data = json.dumps(asked | ({"sessionId": self.session} if self.session else {})).encode()
        os.write(self.commands, data + b"\0")
        while True:
            message = self.next()
            if message.get("id") == self.count:
                assert "error" not in message, (method, message["error"])
                return message["result"]
            self.events.append(message)

    def open(self, address):
        """Loads a page, and forgets all events before it."""
        self.events = []
        self("Page.navigate", url=address)
        while not any(one["method"] == "Page.loadEventFired" for one in self.events):
            self.events.append(self.next())

    def complaints(self):
        """Returns the texts of console messages and exceptions."""
        events = [one["params"] for one in self.events
                if one["method"] in ("Log.entryAdded", "Runtime.exceptionThrown")]
        return [one["entry"]["text"] if "entry" in one else str(one["exceptionDetails"])
                for one in events]

    def evaluate(self, expression):
        """Returns the value of an expression, even if the page itself may not run scripts."""
        found = self("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def node(self, selector):
        root = self("DOM.getDocument", depth=0)["root"]["nodeId"]
        return self("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]

    def style(self, selector, name):
        computed = self("CSS.getComputedStyleForNode", nodeId=self.node(selector))["computedStyle"]
        return next(one["value"] for one in computed if one["name"] == name)

    def middle(self, selector):
        node = self.node(selector)
        self("DOM.scrollIntoViewIfNeeded", nodeId=node)
        quad = self("DOM.getContentQuads", nodeId=node)["quads"][0]
        return sum(quad[::2]) / 4, sum(quad[1::2]) / 4

    def point(self, selector):
        x, y = self.middle(selector)
        self("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, selector):
        x, y = self.middle(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, selector, key, code):
        """Presses a key while the selected element has the focus."""
        self("DOM.focus", nodeId=self.node(selector))
        for kind in ("keyDown", "keyUp"):
            self("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                 windowsVirtualKeyCode=code)
