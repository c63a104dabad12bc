"""A scripted run of the built program against one server of the conformance suite: the client that the suite tests.

In: a scratch folder and the server's address as arguments; the scenario, what goes with it and the program in the environment. Out: what the run printed,
and its exit code. The program alone talks to the server. Where it signs in is found as a user would: from what it says that the policy does not list.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from urllib.parse import urlsplit

SCRATCH, URL = sys.argv[1:3]
LOCUM = os.environ["LOCUM"]
SCENARIO = os.environ.get("MCP_CONFORMANCE_SCENARIO", "initialize")
CONTEXT = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")

# What is called in a scenario, besides what a run asks by itself.
CALLS = {
    "tools_call": ("add_numbers", {"a": 5, "b": 3}),
    "sse-retry": ("test_reconnection", {}),
    "elicitation-sep1034-client-defaults": ("test_client_elicitation_defaults", {}),
}


def git(folder, *args):
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    subprocess.run(["git", *identity, *args], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def write(folder, path, text):
    whole = os.path.join(folder, path)
    os.makedirs(os.path.dirname(whole), exist_ok=True)
    with open(whole, "w", encoding="utf-8") as file:
        file.write(text)


def policy(ports):
    settings = {
        "version": 1,
        "modes": {"default": "code", "allow": ["code"], "accept_risk": {"code": "a test with nothing worth taking"}},
        "mcp": {"env": {"suite": ["SUITE_SECRET"]}, "loopback": {"suite": ports}},
        "rules": [{"allow": ["mcp(suite/*)", "read(**)"]}],
    }
    return json.dumps(settings)


def main():
    folder = tempfile.mkdtemp(dir=SCRATCH)
    repository, home = os.path.join(folder, "repository"), os.path.join(folder, "home")
    os.makedirs(home)
    server = {"type": "http", "url": URL, "timeout": 20}
    if SCENARIO.startswith("auth/"):
        by = "private_key_env" if "private_key_pem" in CONTEXT else "client_secret_env"
        server["oauth"] = {"client_id": CONTEXT.get("client_id", "locum"), by: "SUITE_SECRET"}
        if "signing_algorithm" in CONTEXT:
            server["oauth"]["signing_algorithm"] = CONTEXT["signing_algorithm"]
    calls = [CALLS[SCENARIO]] if SCENARIO in CALLS else []
    turns = [{"calls": [{"tool": f"mcp--suite--{tool}", "args": args}]} for tool, args in calls]
    turns.append({"calls": [{"tool": "attempt_completion", "args": {"result": "Done."}}]})
    write(repository, ".mcp.json", json.dumps({"mcpServers": {"suite": server}}))
    write(repository, "script.yml", json.dumps({"version": 1, "tasks": [{"turns": turns}]}))
    environment = {"PATH": os.environ["PATH"], "HOME": home, "XDG_STATE_HOME": os.path.join(home, "state")}
    environment["SUITE_SECRET"] = CONTEXT.get("private_key_pem") or CONTEXT.get("client_secret") or "a-secret-of-nobody"
    git(folder, "init", "--quiet", "--initial-branch=main", repository)
    ports = [urlsplit(URL).netloc]
    for _ in range(3):
        write(repository, ".locum/policy.yml", policy(ports))
        git(repository, "add", "--all")
        git(repository, "commit", "--quiet", "--message", "the policy lists a port")
        run = subprocess.run(
            [LOCUM, "run", "Do the task.", "--script", os.path.join(repository, "script.yml"), "--publish", "none", "--output-format", "json"],
            cwd=repository, env=environment, capture_output=True, text=True, timeout=55,
        )
        print(run.stdout, run.stderr, file=sys.stderr)
        unlisted = re.search(r"`(?:http://)?([^`/]+)` is on this machine, and `mcp.loopback` does not list it", run.stdout + run.stderr)
        if not unlisted:
            break
        ports.append(unlisted[1])
    is_there = "did not start" not in run.stdout and "not started" not in run.stderr
    sys.exit(run.returncode if is_there else 1)


main()
