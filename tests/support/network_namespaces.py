"""Simulated hosts on this machine: network namespaces with a link between them that can be throttled and cut.

Needs root and iproute2. Touches nothing outside the namespaces: devices and addresses exist only inside them."""

import itertools
import os
import shutil
import subprocess

from tests.support.pistachio_cluster import wait_until

DEVICE = "link0"
_numbers = itertools.count()


def _run(*words):
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=60, check=False)


def why_not():
    """None if namespaces are available, else what is missing."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    for program in ("ip", "tc"):
        if shutil.which(program) is None:
            return f"the program {program} (iproute2) is not there"
    name = f"pistachio_{os.getpid()}_probe"
    made = _run("ip", "netns", "add", name)
    if made.returncode != 0:
        return f"network namespaces cannot be made: {made.stderr.strip()}"
    veth = _run("ip", "link", "add", "veth0", "netns", name, "type", "veth", "peer", "name", "veth1", "netns", name)
    _run("ip", "netns", "del", name)
    return None if veth.returncode == 0 else f"there are no virtual links: {veth.stderr.strip()}"


class TwoHosts:
    """Two namespaces, 10.213.7.1 and 10.213.7.2, connected by a link called link0 on both sides. Use as a context manager."""

    addresses = ("10.213.7.1", "10.213.7.2")

    def __init__(self):
        job = next(_numbers)
        self.names = [f"pistachio_{os.getpid()}_{job}_{side}" for side in ("left", "right")]

    def __enter__(self):
        try:
            for name in self.names:
                self._must("ip", "netns", "add", name)
            self._must("ip", "link", "add", DEVICE, "netns", self.names[0], "type", "veth", "peer", "name", DEVICE, "netns", self.names[1])
            for name, address in zip(self.names, self.addresses):
                self._must("ip", "-n", name, "link", "set", "lo", "up")
                self._must("ip", "-n", name, "addr", "add", f"{address}/24", "dev", DEVICE)
                self._must("ip", "-n", name, "link", "set", DEVICE, "up")
            # The kernel reports the link as up with a delay, and transports ignore devices that are down.
            for host in range(len(self.names)):
                wait_until(lambda side=host: self._of_device(side, "operstate") == "up", "a link that is up")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for name in self.names:
            _run("ip", "netns", "del", name)

    @staticmethod
    def _must(*words):
        done = _run(*words)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, words))}: {done.stderr.strip()}")

    def inside(self, host, *words):
        """The command prefix that runs a program on the host."""
        return ["ip", "netns", "exec", self.names[host], *map(str, words)]

    def hold_to(self, bits_per_second):
        """Throttles the link in both directions. Returns None, or why the kernel cannot."""
        return self._shape("tbf", "rate", f"{bits_per_second}bit", "burst", "256kb", "latency", "400ms")

    def disturb(self, delay_milliseconds, loss_percent):
        """Delays and drops packets in both directions. Returns None, or why the kernel cannot."""
        return self._shape("netem", "delay", f"{delay_milliseconds}ms", "loss", f"{loss_percent}%")

    def _shape(self, *words):
        for name in self.names:
            done = _run("tc", "-n", name, "qdisc", "replace", "dev", DEVICE, "root", *words)
            if done.returncode != 0:
                return f"tc {words[0]}: {done.stderr.strip()}"
        return None

    def cut(self):
        self._must("ip", "-n", self.names[0], "link", "set", DEVICE, "down")

    def bytes_sent(self, host):
        """Over the link since it was created."""
        return int(self._of_device(host, "statistics/tx_bytes"))

    def _of_device(self, host, what):
        done = subprocess.run(self.inside(host, "cat", f"/sys/class/net/{DEVICE}/{what}"), capture_output=True, text=True, timeout=60, check=True)
        return done.stdout.strip()
