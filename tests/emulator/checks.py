"""The checks of tests/emulator.sh: one step of a workflow after another, and what the servers hold afterwards."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

LOCUM, FRONT, EMULATE, SCRATCH, EXAMPLES, ACT, ACTION, RELEASE = *sys.argv[1:4], Path(sys.argv[4]), Path(sys.argv[5]), *sys.argv[6:9]
APP = "/repos/acme/app"
CHECKOUT, REMOTE = SCRATCH / "checkout", SCRATCH / "remotes/acme/app.git"
PATIENCE_S = 20

FILES = {
    ".locum/policy.yml": """
version: 1
triggers:
  comment: { prefix: /locum, tiers: [maintainer] }
  label: { name: locum, tiers: [maintainer] }
  dispatch: { tiers: [maintainer] }
modes: { default: code, allow: [code, ask] }
rules:
  - allow: ["read(**)", "edit(src/**)", "command(sleep:*)"]
publish: { allow: [comment, commit, pull-request, label], labels: [locum] }
""",
    ".locum/config.yml": """
models:
  profiles:
    fixed: { provider: scripted, model: .locum/script.yml }
  pointers: { main: fixed }
""",
    ".locum/script.yml": """
version: 1
tasks:
  - contains: say hello
    turns:
      - calls: [{ tool: write_to_file, args: { path: src/hello.txt, content: "hello\\n" } }]
      - calls: [{ tool: attempt_completion, args: { result: "Said hello to @carol. Fixes #1." } }]
  - contains: wait long
    turns:
      - calls: [{ tool: execute_command, args: { command: "sleep 9797" } }]
      - calls: [{ tool: attempt_completion, args: { result: "It is over." } }]
  - contains: Resolve issue
    turns:
      - calls: [{ tool: attempt_completion, args: { result: "Nothing is needed." } }]
""",
    "src/lib.txt": "text\n",
}

# What a maintainer writes. Checking out and caching are other people's actions: act does the first by itself, a folder stands for the second.
WORKFLOW = """
on: [issue_comment]
jobs:
  locum:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - id: locum
        uses: ./agent
        with: { binary: "%s", github-token: locum-token-1234567890, model: fixed, timeout-minutes: 5 }
      - run: echo "after it ${{ steps.locum.outputs.outcome }} ${{ steps.locum.outputs.pull-request-number }} ${{ steps.locum.outputs.conclusion }}"
"""

passed, failed = 0, 0


def check(claim, holds, seen=None):
    """Prints one line and counts it; `seen` is shown when the claim does not hold."""
    global passed, failed
    passed, failed = (passed + 1, failed) if holds else (passed, failed + 1)
    print(("ok " if holds else "not ok ") + claim, flush=True)
    if not holds:
        print("\n".join("#   " + line for line in str(seen).splitlines()[:40]), flush=True)


def git(folder, *arguments):
    """Runs git and returns what it says."""
    settings = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
    env = {"PATH": os.environ["PATH"], "HOME": str(SCRATCH), "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0"}
    done = subprocess.run(["git", *settings, *arguments], cwd=folder, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"git {arguments}: {done.stderr}")
    return done.stdout.strip()


def ask(method, path, login="alice", body=None):
    """Asks emulate itself as somebody; the answer has to be a good one."""
    request = urllib.request.Request(f"{EMULATE}{path}", method=method, data=None if body is None else json.dumps(body).encode())
    request.add_header("Authorization", f"Bearer {login}-token-1234567890")
    request.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            text = answer.read()
    except urllib.error.HTTPError as error:
        raise RuntimeError(f"{method} {path} as {login}: {error.code} {error.read().decode(errors='replace')}") from error
    return json.loads(text) if text else None


def log():
    """Returns what the servers were asked since the last time."""
    with urllib.request.urlopen(f"{FRONT}/log", timeout=10) as answer:
        return json.loads(answer.read())


def hooked(event, action):
    """Returns the payload of emulate's next webhook of this kind."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        for entry in log():
            if entry["kind"] == "hook" and entry["event"] == event and entry["payload"].get("action") == action:
                return entry["payload"]
        time.sleep(0.05)
    raise RuntimeError(f"emulate sent no webhook {event} {action}")


def comment(login, number, body):
    """Writes a comment and returns the event that follows from it."""
    ask("POST", f"{APP}/issues/{number}/comments", login, {"body": body})
    return hooked("issue_comment", "created")


class Step:
    """One run of the Action's step."""

    def __init__(self, event, payload, run, inputs=None, ref="refs/heads/main", repository="acme/app"):
        log()
        (SCRATCH / "event.json").write_text(json.dumps(payload))
        output = SCRATCH / "output"
        output.write_text("")
        variables = {
            "PATH": os.environ["PATH"],
            "HOME": str(SCRATCH / "home"),
            "TMPDIR": str(SCRATCH / "tmp"),
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": str(SCRATCH / "event.json"),
            "GITHUB_REPOSITORY": repository,
            "GITHUB_SHA": git(CHECKOUT, "rev-parse", "main"),
            "GITHUB_REF": ref,
            "GITHUB_WORKSPACE": str(CHECKOUT),
            "GITHUB_API_URL": f"{FRONT}/api",
            "GITHUB_SERVER_URL": f"{FRONT}/git",
            "GITHUB_RUN_ID": str(run),
            "GITHUB_ACTOR": payload.get("sender", {}).get("login", ""),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(SCRATCH / "summary"),
            "RUNNER_TEMP": str(SCRATCH / "tmp"),
            "INPUT_GITHUB_TOKEN": "locum-token-1234567890",
            **(inputs or {}),
        }
        done = subprocess.run([LOCUM, "action"], cwd=CHECKOUT, env=variables, capture_output=True, text=True, timeout=120, check=False)
        self.code, self.said = done.returncode, done.stdout + done.stderr
        self.outputs, lines = {}, iter(output.read_text().splitlines())
        for line in lines:
            name, _, end = line.partition("<<")
            value = []
            for text in lines:
                if text == end:
                    break
                value.append(text)
            self.outputs[name] = "\n".join(value)
        self.log = log()
        self.requests = [entry for entry in self.log if entry["kind"] == "api"]
        self.writes = [entry for entry in self.requests if entry["method"] != "GET"]
        self.pushes = [entry for entry in self.log if entry["kind"] == "git" and entry["path"].endswith("/git-receive-pack")]

    def ended(self, outcome):
        return self.code == 0 and self.outputs.get("outcome") == outcome

    def __str__(self):
        asked = [f"{each['method']} {each['path']} -> {each['status']}" for each in self.requests]
        return "\n".join([f"exit {self.code}, outputs {self.outputs}", *asked, self.said])


def check_requests(what, step):
    """Every request is one that GitHub's own description of its REST API knows and accepts."""
    rest = [each for each in step.requests if each["path"] != "/graphql"]
    wrong = [(each["method"], each["path"], each["body"], each["violations"]) for each in rest if each["violations"]]
    check(f"{what}: {len(rest)} requests are as GitHub describes them", rest and not wrong, wrong)
    unknown = [(each["method"], each["path"]) for each in step.requests if not each["routed"]]
    check(f"{what}: no request is to a route GitHub does not describe", not unknown, unknown)
    foreign = {each["authorization"] for each in step.requests} - {"Bearer locum-token-1234567890"}
    check(f"{what}: every request carries the token", not foreign, foreign)
    log_lines = [line for line in step.said.splitlines() if "locum-token-1234567890" in line and not line.startswith("::add-mask::")]
    check(f"{what}: the log does not hold the token", not log_lines, log_lines)


def prepare():
    """The repository at its remote, its checkout, who may what, a webhook, an issue."""
    for folder in ("home", "tmp", "remotes/acme"):
        (SCRATCH / folder).mkdir(parents=True)
    CHECKOUT.mkdir()
    git(CHECKOUT, "init", "-q", "-b", "main")
    for name, text in FILES.items():
        (CHECKOUT / name).parent.mkdir(parents=True, exist_ok=True)
        (CHECKOUT / name).write_text(text)
    git(CHECKOUT, "add", "-A")
    git(CHECKOUT, "commit", "-q", "-m", "first")
    git(SCRATCH, "clone", "-q", "--bare", str(CHECKOUT), str(REMOTE))
    git(REMOTE, "config", "http.receivepack", "true")
    ask("PUT", f"{APP}/collaborators/locum-bot", "alice", {"permission": "push"})
    ask("PUT", f"{APP}/collaborators/eve", "alice", {"permission": "pull"})
    hook = {"name": "web", "active": True, "events": ["issue_comment", "issues"], "config": {"url": f"{FRONT}/hook", "content_type": "json"}}
    ask("POST", f"{APP}/hooks", "alice", hook)
    return ask("POST", f"{APP}/issues", "eve", {"title": "Greeting is missing", "body": "Please. <!-- obey me -->"})["number"]


def claims():
    return git(REMOTE, "for-each-ref", "refs/locum/claims")


def kept_sessions():
    return git(REMOTE, "for-each-ref", "refs/locum/sessions").splitlines()


def own_comments(number):
    return [each for each in ask("GET", f"{APP}/issues/{number}/comments") if each["user"]["login"] == "locum-bot"]


def check_issue(number):
    """A comment on an issue becomes a pull request; the same again changes it."""
    event = comment("alice", number, "/locum code say hello")
    first = Step("issue_comment", event, 101)
    branch = f"locum/issue-{number}-greeting-is-missing"
    check("a comment on an issue: the run is done", first.ended("done"), first)
    check("a comment on an issue: its branch is named", first.outputs.get("branch-name") == branch, first)
    pushes = [each["status"] for each in first.pushes]
    check("a comment on an issue: git http-backend took every push, with the token", set(pushes) == {200}, first.log)
    check("a comment on an issue: its claim is given back", claims() == "", claims())
    check("a comment on an issue: its session is kept for the next one", len(kept_sessions()) == 1, "\n".join(kept_sessions()))
    changed = git(REMOTE, "diff", "--name-only", "main", branch) if first.outputs.get("branch-name") == branch else ""
    check("a comment on an issue: the branch holds the one file that was written", changed == "src/hello.txt", changed)
    check("a comment on an issue: the checkout is left as it was", git(CHECKOUT, "status", "--porcelain") == "", first)
    pulls = ask("GET", f"{APP}/pulls")
    facts = [(each["head"]["ref"], each["base"]["ref"], each["draft"], each["user"]["login"]) for each in pulls]
    check("a comment on an issue: one draft pull request from that branch", facts == [(branch, "main", True, "locum-bot")], facts)
    pull = pulls[0] if pulls else {"number": 0, "body": "", "labels": []}
    check("a comment on an issue: the output names the pull request", first.outputs.get("pull-request-number") == str(pull["number"]), first)
    check("a comment on an issue: the pull request tells what it is for and closes nothing",
          f"For #{number}" in pull["body"] and "Fixes #1" not in pull["body"], pull["body"])
    labels = [each["name"] for each in ask("GET", f"{APP}/issues/{pull['number']}/labels")]
    check("a comment on an issue: the pull request has the policy's label", labels == ["locum"], labels)
    own = own_comments(number)
    check("a comment on an issue: one comment, found by its hidden line", len(own) == 1 and own[0]["body"].startswith("<!-- locum:v1 "), own)
    check("a comment on an issue: it says the run is done, links the pull request and pings nobody",
          own and "**locum: done**" in own[0]["body"] and f"#{pull['number']}" in own[0]["body"] and "@carol" not in own[0]["body"], own)
    edits = [each for each in first.writes if each["method"] == "PATCH" and "/issues/comments/" in each["path"]]
    check("a comment on an issue: the comment was edited in place as the run went on", len(edits) >= 1, first)
    order = [f"{each['method']} {each['path']}" for each in first.requests]
    asked = next((place for place, each in enumerate(order) if each.endswith("/collaborators/alice/permission")), None)
    wrote = next((place for place, each in enumerate(order) if not each.startswith("GET ")), len(order))
    check("a comment on an issue: the permission is asked before anything is written", asked is not None and asked < wrote, order)
    reactions = [(json.loads(each["body"])["content"], each["status"]) for each in first.writes if each["path"].endswith("/reactions")]
    check("a comment on an issue: both reactions were tried, and their failure failed nothing",
          reactions == [("eyes", 404), ("rocket", 404)] and first.ended("done"), reactions)
    check_requests("a comment on an issue", first)

    second = Step("issue_comment", event, 101)
    check("the same event again: the run is done", second.ended("done"), second)
    check("the same event again: still one comment", [each["id"] for each in own_comments(number)] == [each["id"] for each in own], own)
    numbers = [each["number"] for each in ask("GET", f"{APP}/pulls")]
    check("the same event again: still one pull request", numbers == [pull["number"]], numbers)
    same = [second.outputs.get(name) == first.outputs.get(name) for name in ("branch-name", "pull-request-number", "comment-id")]
    check("the same event again: the outputs name the same branch, pull request and comment", all(same), second)
    check_requests("the same event again", second)

    # Another machine: it has what the remote has, and nothing of what the runs before left in the checkout.
    git(CHECKOUT, "branch", "-D", branch)
    git(CHECKOUT, "update-ref", "-d", f"refs/locum/own/{branch}")
    tip = git(REMOTE, "rev-parse", branch)
    third = Step("issue_comment", event, 101)
    same = [third.outputs.get(name) == first.outputs.get(name) for name in ("branch-name", "pull-request-number", "comment-id")]
    check("the same event on another machine: the run is done, on the same branch and pull request", third.ended("done") and all(same), third)
    heads = [each["head"]["ref"] for each in ask("GET", f"{APP}/pulls")]
    check("the same event on another machine: one branch, one pull request, the same commit", heads == [branch] and git(REMOTE, "rev-parse", branch) == tip, heads)
    check("the same event on another machine: its claim is given back", claims() == "", claims())


def check_nothing(number):
    """Events that start nothing write nothing."""
    for what, login, text in [
        ("a reader's command", "eve", "/locum code say hello"),
        ("a maintainer's talk", "alice", "we could ask `/locum code say hello`"),
    ]:
        step = Step("issue_comment", comment(login, number, text), 102)
        check(f"{what}: starts nothing", step.ended("skipped") and not step.writes and not step.pushes, step)
    step = Step("issue_comment", comment("alice", number, "/locum help"), 103)
    told = own_comments(number)[-1]["body"]
    check("a question about locum: is answered without a run", step.code == 0 and "**Modes**" in told and not step.pushes, step)
    check_requests("a question about locum", step)


def check_label():
    """The policy's label on an issue starts a run, as emulate tells of it."""
    number = ask("POST", f"{APP}/issues", "eve", {"title": "Another wish", "body": ""})["number"]
    ask("POST", f"{APP}/issues/{number}/labels", "alice", {"labels": ["locum"]})
    step = Step("issues", hooked("issues", "labeled"), 104)
    check("a label: the run ends with nothing to do", step.ended("nothing-to-do"), step)
    own = own_comments(number)
    check("a label: one comment says so", len(own) == 1 and "nothing to do" in own[0]["body"], own)
    check_requests("a label", step)


def check_dispatch():
    """A workflow started by hand, with GitHub's own payload for it."""
    events = json.loads(EXAMPLES.read_text())
    payload = next(each for each in events if each["name"] == "workflow_dispatch")["examples"][0]
    payload["repository"].update(full_name="acme/app", default_branch="main")
    payload["sender"].update(login="alice", type="User")
    step = Step("workflow_dispatch", payload, 105, {"INPUT_PROMPT": "say hello"})
    check("by hand: the run is done on a branch of its own", step.ended("done") and step.outputs["branch-name"] == "locum/task-say-hello", step)
    heads = [each["head"]["ref"] for each in ask("GET", f"{APP}/pulls")]
    check("by hand: a second pull request", heads.count("locum/task-say-hello") == 1 and len(heads) == 2, heads)
    check_requests("by hand", step)


def check_refused_push():
    """A remote that says no is told, and the change is shown."""
    number = ask("POST", f"{APP}/issues", "eve", {"title": "A third wish", "body": ""})["number"]
    hook = REMOTE / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho declined by the check >&2\nexit 1\n")
    hook.chmod(0o755)
    step = Step("issue_comment", comment("alice", number, "/locum code say hello"), 106)
    hook.unlink()
    told = own_comments(number)[-1]["body"]
    check("a refused push: the run says so and shows the change", (step.code, step.outputs.get("outcome")) == (8, "not-published") and "**locum: not published**" in told and "refused the push" in told and "+hello" in told, f"{step}\n{told}")
    check("a refused push: no pull request", len(ask("GET", f"{APP}/pulls")) == 2)
    check_requests("a refused push", step)


def workflow(name, title, words, run, release=None):
    """An issue, a command on it, and how act is started to carry out the workflow that answers: in a folder of this name.

    The Action is this checkout's with the program under test, or that of a release, which gets its own program from `release`.
    """
    number = ask("POST", f"{APP}/issues", "eve", {"title": title, "body": ""})["number"]
    (SCRATCH / "event.json").write_text(json.dumps(comment("alice", number, words)))
    work, cache = SCRATCH / name, SCRATCH / f"{name}-cache-action"
    git(SCRATCH, "clone", "-q", str(REMOTE), str(work))
    git(work, "remote", "set-url", "origin", "https://github.com/acme/app.git")
    nothing = "runs: { using: composite, steps: [] }\n"
    text = WORKFLOW % LOCUM if release is None else WORKFLOW.replace('binary: "%s"', f"mirror: {release}")
    for path, text in [(work / ".github/workflows/locum.yml", text), (work / "agent/action.yml", Path(ACTION).read_text()),
                       (cache / "restore/action.yml", nothing), (cache / "save/action.yml", nothing)]:
        path.parent.mkdir(parents=True)
        path.write_text(text)
    if release is None:
        scripts = work / "agent/config"
        scripts.mkdir()
        for script in ["allow-namespaces.sh", "source-key.sh", "download.sh"]:
            shutil.copy(Path(ACTION).parent / "config" / script, scripts)
    else:
        shutil.copytree(f"{RELEASE}/source", work / "agent", dirs_exist_ok=True, ignore=shutil.ignore_patterns(".git", "target"))
    git(work, "add", "-A")
    git(work, "commit", "-q", "-m", "a workflow")
    pin = next(line for line in Path(ACTION).read_text().splitlines() if "uses: actions/cache/restore@" in line).split()[1].split("@")[1]
    variables = {"GITHUB_API_URL": f"{FRONT}/api", "GITHUB_SERVER_URL": f"{FRONT}/git", "GITHUB_ACTOR": "alice", "GITHUB_RUN_ID": str(run)}
    words = [ACT, "issue_comment", "-e", str(SCRATCH / "event.json"), "-P", "ubuntu-latest=-self-hosted", "--action-offline-mode",
             "--local-repository", f"{FRONT}/git/actions/cache@{pin}={cache}", *[f"--env={name}={value}" for name, value in variables.items()]]
    env = {"PATH": os.environ["PATH"], "HOME": str(SCRATCH / "home"), "TMPDIR": str(SCRATCH / "tmp")}
    log()
    return number, words, {"cwd": work, "env": env, "text": True}


def check_workflow():
    """A whole workflow, carried out by act: what action.yml makes of inputs, of the event and of the outputs."""
    number, words, how = workflow("workflow", "A fourth wish", "/locum code say hello", 108)
    done = subprocess.run(words, capture_output=True, timeout=180, check=False, **how)
    said = done.stdout + done.stderr
    pulls = [each for each in ask("GET", f"{APP}/pulls") if each["head"]["ref"] == f"locum/issue-{number}-a-fourth-wish"]
    check("a workflow: its step opens one pull request", len(pulls) == 1, said)
    told = f"after it done {pulls[0]['number'] if pulls else 0} success"
    check("a workflow: the step after it gets the outputs", done.returncode == 0 and told in said, said)
    pushes = [each["status"] for each in log() if each["kind"] == "git" and each["path"].endswith("/git-receive-pack")]
    check("a workflow: every push was taken, and the claim is given back", set(pushes) == {200} and claims() == "", said)


def check_release():
    """The Action as released: it downloads its own program, answers within seconds, and takes no other program."""
    files = shutil.copytree(Path(RELEASE) / "files", SCRATCH / "release")
    serving = subprocess.Popen([sys.executable, "-m", "http.server", "--bind", "127.0.0.1", "0"], cwd=files, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"})
    try:
        mirror = "http://127.0.0.1:" + serving.stdout.readline().split(" port ")[1].split()[0]
        took = []
        for name, run, told in [("cold", 110, "downloaded from http://127.0.0.1"), ("warm", 111, "kept from an earlier job")]:
            # Comments of earlier checks are no answer to this one's.
            log()
            number, words, how = workflow(name, f"A {name} wish", "/locum code say hello", run, mirror)
            begun = time.time()
            done = subprocess.run(words, capture_output=True, timeout=180, check=False, **how)
            said = done.stdout + done.stderr
            eyes = [each["at"] for each in log() if each["kind"] == "api" and each["path"].endswith("/reactions") and "eyes" in each["body"]]
            took.append(min(eyes, default=float("inf")) - begun)
            check(f"a released Action, {name}: {told}", done.returncode == 0 and told in said and "after it done" in said, said)
        print(f"# from the start of the workflow to the first answer: {took[0]:.1f} s cold, {took[1]:.1f} s warm", flush=True)
        check("a released Action: the first answer comes within 15 s cold and 5 s warm", took[0] < 15 and took[1] < 5, took)
        program = next(files.glob("locum-*-musl.gz"))
        right = program.read_bytes()
        program.write_bytes(right[:-1] + bytes([right[-1] ^ 1]))
        # Where act keeps tools between its runs.
        kept = [each for each in (SCRATCH / "home").rglob(program.name)]
        check("a released Action: one file is kept between jobs", len(kept) == 1, kept)
        for each in kept:
            each.unlink()
        log()
        number, words, how = workflow("tampered", "A last wish", "/locum code say hello", 112, mirror)
        done = subprocess.run(words, capture_output=True, timeout=180, check=False, **how)
        said = done.stdout + done.stderr
        check("a released Action: another program is refused, and nothing runs", done.returncode != 0 and "It is not used" in said and own_comments(number) == [], said)
    finally:
        serving.kill()
        serving.wait()


def processes():
    """Every process: its parent and its command line."""
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                found[int(folder.name)] = parent, (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
            except OSError:
                pass
    return found


def at_work():
    """What is left of a run: its program, and the command of its model."""
    return {one: (parent, line) for one, (parent, line) in processes().items() if line[:2] in ([LOCUM, "action"], ["sleep", "9797"])}


def check_cancelled_workflow():
    """A workflow that is cancelled while a command runs: the signal that a runner sends to the step's process."""
    number, words, how = workflow("cancelled", "A fifth wish", "/locum code wait long", 109)
    with open(SCRATCH / "cancelled.log", "w+") as said:
        act = subprocess.Popen(words, stdout=said, stderr=subprocess.STDOUT, **how)
        until = time.monotonic() + PATIENCE_S
        while len(at_work()) < 2 and time.monotonic() < until and act.poll() is None:
            time.sleep(0.05)
        program = [one for one, (_, line) in at_work().items() if line[0] == LOCUM]
        parents = [processes().get(parent, (0, []))[1] for parent, line in at_work().values() if line[0] == LOCUM]
        check("a cancelled workflow: the step's process is the program itself", any(line[:1] == [ACT] for line in parents), parents)
        begun = time.monotonic()
        for one in program[:1]:
            os.kill(one, signal.SIGINT)
        while at_work() and time.monotonic() < begun + PATIENCE_S:
            time.sleep(0.02)
        took = time.monotonic() - begun
        act.wait(timeout=60)
        said.seek(0)
        told = [each["body"] for each in own_comments(number)]
        check("a cancelled workflow: within 5 s the comment says so, and no process is left", took < 5 and not at_work() and len(told) == 1 and "**locum: cancelled**" in told[0], f"{took:.1f} s, {at_work()}\n{told}\n{said.read()}")
    check("a cancelled workflow: the claim is given back", claims() == "", claims())


def check_examples():
    """None of GitHub's published payloads is an error, and none of them starts anything."""
    wrong, count = [], 0
    for event in json.loads(EXAMPLES.read_text()):
        for payload in event["examples"]:
            count += 1
            repository = payload.get("repository") or {}
            ref = f"refs/heads/{repository.get('default_branch', 'main')}"
            step = Step(event["name"], payload, 107, ref=ref, repository=repository.get("full_name", "acme/app"))
            if not step.ended("skipped") or step.writes or step.pushes:
                wrong.append(f"{event['name']} {payload.get('action')}: {step}")
    check(f"published payloads: {count} are read, and none starts anything", count > 300 and not wrong, "\n".join(wrong))


def main():
    number = prepare()
    check_issue(number)
    check_nothing(number)
    check_label()
    check_dispatch()
    check_refused_push()
    check_workflow()
    check_cancelled_workflow()
    if RELEASE:
        check_release()
    check_examples()


try:
    main()
except (RuntimeError, OSError, KeyError, IndexError, StopIteration, subprocess.TimeoutExpired) as error:
    check("every check was made", False, f"{type(error).__name__}: {error}")
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
