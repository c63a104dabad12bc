"""One run of the built program against a server of models, and what came of it; the table all runs end up in."""

import itertools
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

PATIENCE_S = 120
KEY = "key-of-a-test"
POLICY = """
version: 1
modes: { default: code, allow: [code] }
commands: { sandbox: off }
rules:
  - allow: ["read(**)", "edit(notes/**)"]
"""
FILES = {"first.txt": "the first file\n", "second.txt": "the second file\n"}
COLUMNS = "{:<12}{:<18}{:<26}{:<18}{:>8}{:>8}  {}"

numbers = itertools.count(1)
failures = []


def heading():
    """Prints the names of the columns."""
    print(COLUMNS.format("SERVER", "PROTOCOL", "WHAT", "OUTCOME", "REQUESTS", "TOKENS", "").rstrip(), flush=True)


def free_port():
    """Returns a port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def ask(url, body=None, headers=None, method=None):
    """Asks a server for JSON; the answer has to be a good one."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, method=method, headers={"content-type": "application/json", **(headers or {})})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read())


class Server:
    """A server that was started, its words in a file; stopped when it is left."""

    def __init__(self, name, scratch, command, ready, patience_s=PATIENCE_S, env=None):
        self.name, self.log = name, scratch / f"{name}.log"
        env = {"PATH": os.environ["PATH"], "HOME": str(scratch), "NO_COLOR": "1", **(env or {})}
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(command, cwd=scratch, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        until = time.monotonic() + patience_s
        while not self.answers(ready):
            if self.process.poll() is not None or time.monotonic() > until:
                self.stop()
                print(f"{name} does not start; its last words:\n{self.words()}", file=sys.stderr)
                sys.exit(2)
            time.sleep(0.1)

    @staticmethod
    def answers(url):
        try:
            urllib.request.urlopen(url, timeout=2).close()
        except urllib.error.HTTPError as error:
            return error.code < 500
        except OSError:
            return False
        return True

    def words(self):
        """Returns the end of what the server said."""
        return self.log.read_text(errors="replace")[-3000:]

    def stop(self):
        """Ends the server."""
        self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class Run:
    """A task in a checkout of its own, with one profile."""

    def __init__(self, locum, scratch, server, what, profile, key=KEY, budget="turns: 8", env=None):
        self.server, self.what, self.protocol = server, what, profile["provider"]
        self.label = f"{server}-{next(numbers)}"
        folder = scratch / self.label
        self.checkout = folder / "checkout"
        self.checkout.mkdir(parents=True)
        for name, text in FILES.items():
            (self.checkout / name).write_text(text)
        for arguments in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "first"]):
            subprocess.run(
                ["git", "-c", "user.name=Test", "-c", "user.email=test@example.com", *arguments],
                cwd=self.checkout, env=self.env(folder), check=True, capture_output=True,
            )
        (folder / "policy.yml").write_text(f"{POLICY}budget: {{ {budget} }}\n")
        config = folder / "config/locum"
        config.mkdir(parents=True)
        keyed = {} if env else {"api_key_env": "TEST_KEY"}
        profile = {**keyed, "idle_timeout_s": 60, "context_window": 65536, "price": {"input": 1, "output": 1}, **profile}
        (config / "config.yml").write_text(json.dumps({"models": {"profiles": {"tested": profile}}}))
        self.began = time.monotonic()
        done = subprocess.run(
            [locum, "run", "Look at both files and write what they say.", "--policy", folder / "policy.yml", "--output-format", "json"],
            cwd=self.checkout, env={**self.env(folder), "TEST_KEY": key, **(env or {})}, capture_output=True, text=True, timeout=PATIENCE_S * 2, check=False,
            stdin=subprocess.DEVNULL,
        )
        self.seconds = time.monotonic() - self.began
        self.code, self.said = done.returncode, done.stderr
        try:
            self.report = json.loads(done.stdout)
        except ValueError:
            self.report = {"outcome": f"exit code {self.code}", "spent": {}, "reason": done.stdout[-500:]}
        journals = list(folder.glob("state/locum/sessions/*/journal.jsonl"))
        self.journal = journals[0].read_text() if journals else ""

    @staticmethod
    def env(folder):
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "XDG_STATE_HOME": str(folder / "state"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "NO_PROXY": "127.0.0.1",
        }

    @property
    def outcome(self):
        return self.report["outcome"]

    @property
    def turns(self):
        return self.report["spent"].get("turns", 0)

    @property
    def tokens(self):
        spent = self.report["spent"]
        return spent.get("input_tokens", 0) + spent.get("output_tokens", 0)

    @property
    def reason(self):
        return f"{self.report.get('reason') or ''} {self.report.get('summary') or ''}"

    def text(self, path):
        """Returns a file of the checkout; nothing where there is none."""
        file = self.checkout / path
        return file.read_bytes().decode(errors="replace") if file.exists() else None

    def row(self, requests, claims):
        """Returns the run's row of the table, with what did not hold."""
        wrong = [claim for claim, holds in claims.items() if not holds]
        if KEY in self.journal or KEY in self.said:
            wrong.append("the key is nowhere to be read")
        tokens = f"{'~' if self.report['spent'].get('is_estimate') else ''}{self.tokens}"
        lines = [COLUMNS.format(self.server, self.protocol, self.what, self.outcome, requests, tokens, "NOT OK" if wrong else "ok")]
        if wrong:
            failures.append(f"{self.server} {self.protocol} {self.what}")
            lines += [f"    does not hold: {claim}" for claim in wrong]
            lines += [f"    | {line}" for line in f"{self.said}\n{self.reason}".splitlines()[-30:]]
        return "\n".join(lines)


def table(runs):
    """Makes runs, several at a time since most of each is waiting, and prints their rows in order."""
    with ThreadPoolExecutor(max_workers=6) as workers:
        for row in workers.map(lambda run: run(), runs):
            print(row, flush=True)
