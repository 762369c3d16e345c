# SPDX-License-Identifier: MIT
"""
Starts a Slurm cluster on this machine, for tests of programs under srun. Everything belongs to
the cluster: the daemons, a munged with its own key, the ports and a temporary folder. No service
has to run, and clusters do not disturb one another.
"""

import contextlib
import glob
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

PATIENCE = 60
ATTEMPTS = 3
POLL = 0.1
LOG_LINES = 20
# Marks the processes of a cluster, which close() kills. Only run() and popen() set it: a shell
# that merely points SLURM_CONF at the cluster survives.
MARK = "VERBMARK_TEST_CLUSTER"

# Debian's package of each program.
PACKAGES = {
    "munged": "munge",
    "slurmctld": "slurmctld",
    "slurmd": "slurmd",
    "srun": "slurm-client",
}
PMIX_PLUGIN = "slurm*/mpi_pmix.so"
LIBRARIES = ("/usr/lib", "/usr/lib64", "/usr/lib/*", "/usr/local/lib")

# Nodes share the host name and differ in their ports. With config_overrides, a node has as many
# CPUs as its line says. The PMIx plugin fails if two nodes share TmpFS.
SETTINGS = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={control}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
TmpFS={folder}/tmp-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerType=sched/builtin
SelectType=select/linear
ReturnToService=2
{more}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class Failure(Exception):
    """A daemon ended or a node did not become idle during start-up."""


def reason_to_skip():
    """Returns why no cluster can run here, or None."""
    if os.geteuid() != 0:
        return "a Slurm cluster needs root"
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    missing = [PACKAGES[name] for name in PACKAGES if not shutil.which(name, path=path)]
    if not any(glob.glob(f"{folder}/{PMIX_PLUGIN}") for folder in LIBRARIES):
        missing.append("slurm-wlm-basic-plugins")
    if missing:
        return f"Slurm is not installed: {', '.join(missing)}"
    return None


def free_ports(count):
    """Returns ports that are free now. Another program may take one before a daemon does."""
    with contextlib.ExitStack() as stack:
        taken = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in taken:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in taken]


def last_lines(path):
    with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
        return "".join(file.readlines()[-LOG_LINES:])
    return ""


class Cluster:
    """
    Nodes n0, n1, ... that are idle once the constructor returns. settings are further lines of
    slurm.conf; topology is the text of topology.conf. close() ends every process of the cluster,
    including jobs.
    """

    def __init__(self, nodes=4, cpus=16, settings=(), topology=None):
        self.nodes = [f"n{index}" for index in range(nodes)]
        self.cpus = cpus
        self.settings = list(settings)
        if topology:
            self.settings.append("TopologyPlugin=topology/tree")
        self.topology = topology
        for attempt in range(ATTEMPTS):
            # The path is short because it becomes part of socket names.
            self.folder = tempfile.mkdtemp(prefix="slurm-", dir="/tmp")
            self.daemons = {}
            try:
                self.start()
                return
            except Failure:
                # A port may have been taken in the meantime.
                self.close()
                if attempt == ATTEMPTS - 1:
                    raise
            except BaseException:
                self.close()
                raise

    @property
    def environment(self):
        """The variables of this process without those of a surrounding Slurm job."""
        mine = {name: value for name, value in os.environ.items()
                if not name.startswith(("SLURM", "SBATCH", "PMIX", "OMPI"))}
        mine["PATH"] = mine.get("PATH", "") + ":/usr/sbin:/sbin"
        return mine | {"SLURM_CONF": f"{self.folder}/slurm.conf", MARK: self.folder}

    def start(self):
        os.chmod(self.folder, 0o755)
        self.write_settings()
        munge = f"{self.folder}/munge"
        os.mkdir(munge, 0o755)
        with open(f"{munge}/key", "wb", opener=lambda *a: os.open(*a, 0o600)) as file:
            file.write(os.urandom(128))
        self.start_daemon(
            "munged", "munged", "--foreground", "--force", "--num-threads=2",
            f"--socket={munge}/socket", f"--key-file={munge}/key", f"--pid-file={munge}/pid",
            f"--seed-file={munge}/seed", f"--log-file={self.folder}/munged-file.log",
        )
        self.wait(lambda: os.path.exists(f"{munge}/socket"), "munged")
        settings = f"{self.folder}/slurm.conf"
        self.start_daemon("slurmctld", "slurmctld", "-D", "-c", "-f", settings)
        for node in self.nodes:
            self.start_daemon(node, "slurmd", "-D", "-c", "-N", node, "-f", settings)
        self.wait(self.is_idle, "all nodes to become idle")

    def write_settings(self):
        host = socket.gethostname().split(".")[0]
        control, *ports = free_ports(1 + len(self.nodes))
        for name in ("state", *(f"{kind}-{node}" for kind in ("spool", "tmp")
                                for node in self.nodes)):
            os.mkdir(f"{self.folder}/{name}")
        lines = [
            f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} "
            f"CPUs={self.cpus} State=UNKNOWN"
            for node, port in zip(self.nodes, ports)
        ]
        with open(f"{self.folder}/slurm.conf", "w", encoding="ascii") as file:
            file.write(SETTINGS.format(host=host, control=control, folder=self.folder,
                                       more="\n".join(self.settings + lines)))
        if self.topology:
            with open(f"{self.folder}/topology.conf", "w", encoding="ascii") as file:
                file.write(self.topology)

    def start_daemon(self, name, *command):
        with open(f"{self.folder}/{name}.log", "wb") as log:
            self.daemons[name] = subprocess.Popen(
                command, env=self.environment, cwd=self.folder, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )

    def wait(self, condition, what):
        """Waits for the condition; raises Failure with the logs if a daemon ends before."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            for name, daemon in self.daemons.items():
                if daemon.poll() is not None:
                    raise Failure(f"{name} ended with status {daemon.returncode}\n{self.logs()}")
            if time.monotonic() > deadline:
                raise Failure(f"timed out after {PATIENCE} s waiting for {what}\n{self.logs()}")
            time.sleep(POLL)

    def is_idle(self):
        """Returns whether every node can take a job."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            listing = self.run("sinfo", "-h", "-N", "-o", "%T", limit=10)
            return listing.stdout.split() == ["idle"] * len(self.nodes)
        return False

    def logs(self):
        """Returns the last lines of each daemon's log."""
        paths = sorted(glob.glob(f"{self.folder}/*.log"))
        return "\n".join(f"{os.path.basename(path)}:\n{last_lines(path)}" for path in paths)

    def run(self, *command, limit=PATIENCE, **options):
        """Runs a command such as srun on the cluster. Returns its CompletedProcess."""
        return subprocess.run(
            [str(word) for word in command], env=self.environment | options.pop("env", {}),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            errors="replace", timeout=limit, check=False, **options,
        )

    def popen(self, *command, **options):
        """Starts a command such as srun on the cluster. Returns its Popen."""
        options.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.Popen(
            [str(word) for word in command], env=self.environment | options.pop("env", {}),
            **options,
        )

    def wait_idle(self):
        """Waits until the jobs have ended and left their nodes."""
        self.wait(self.is_idle, "the nodes to become idle again")

    def is_member(self, pid):
        """Returns whether a process is a daemon, a step or a task of this cluster."""
        mark = f"{MARK}={self.folder}".encode()
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                return mark in file.read().split(b"\0")
        except OSError:
            return False

    def kill_members(self):
        """Kills every process of the cluster. Returns whether one was still running."""
        found = False
        for pid in [int(name) for name in os.listdir("/proc") if name.isdigit()]:
            if not self.is_member(pid):
                continue
            found = True
            with contextlib.suppress(ProcessLookupError):
                descriptor = os.pidfd_open(pid)
                try:
                    # The number may belong to another process by now.
                    if self.is_member(pid):
                        signal.pidfd_send_signal(descriptor, signal.SIGKILL)
                finally:
                    os.close(descriptor)
        return found

    def close(self):
        """Kills all processes, even stopped or hung ones, and removes the folder."""
        deadline = time.monotonic() + PATIENCE
        while self.kill_members() and time.monotonic() < deadline:
            time.sleep(POLL)
        for daemon in self.daemons.values():
            daemon.kill()
            daemon.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()
