"""Runs the built program against MCP servers that others wrote: one scripted task for each, under a policy.

In: the program, a scratch folder, a folder with what is installed, names of servers. Out: a row for each call, `ok` or `FAILED`, and an exit code. A
call that is to be refused has to be refused; what an answer has to hold is a regular expression.
"""

import json
import os
import re
import shutil
import subprocess
import sys

LOCUM, SCRATCH, INSTALLED = sys.argv[1:4]
PYTHON = os.path.join(INSTALLED, "python", "bin")
NODE = os.path.join(INSTALLED, "node_modules", ".bin")

# What each server is started with, what the policy says, and the calls: tool, arguments, what the answer has to hold.
SERVERS = {
    "time": {
        "program": "mcp-server-time",
        "command": [os.path.join(PYTHON, "mcp-server-time"), "--local-timezone", "UTC"],
        "rules": ['allow: "mcp(time/*)"'],
        "calls": [
            ("mcp--time--convert_time", {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}, r"21:00"),
            ("mcp--time--get_current_time", {"timezone": "Nowhere/Land"}, r"(?i)invalid timezone"),
            ("mcp--time--get_current_time", {"zone": "UTC"}, r"do not fit: .*timezone"),
        ],
    },
    "git": {
        "program": "mcp-server-git",
        "command": [os.path.join(PYTHON, "mcp-server-git"), "--repository", "."],
        "rules": ['allow: ["mcp(git/git_log)", "mcp(git/git_status)", "mcp(git/git_commit)"]'],
        "calls": [
            ("mcp--git--git_log", {"repo_path": "."}, r"first"),
            ("use_mcp_tool", {"server_name": "git", "tool_name": "git_status", "arguments": {"repo_path": "."}}, r"(?i)on branch main"),
            ("mcp--git--git_reset", {"repo_path": "."}, r"no rule allows|refused"),
            # It is let, and the sandbox lets no server write.
            ("mcp--git--git_commit", {"repo_path": ".", "message": "x"}, r"(?i)error|permission|read-only|denied"),
        ],
    },
    "everything": {
        "program": "mcp-server-everything",
        "command": [os.path.join(NODE, "mcp-server-everything"), "stdio"],
        "rules": ['allow: "mcp(everything/*)"'],
        "calls": [
            ("mcp--everything--echo", {"message": "hello"}, r"hello"),
            ("mcp--everything--get-sum", {"a": 2, "b": 40}, r"42"),
            ("mcp--everything--get-tiny-image", {}, r"It is an image \d+x\d+ png"),
            ("mcp--everything--get-structured-content", {"location": "Chicago"}, r"temperature"),
            ("mcp--everything--get-resource-links", {"count": 2}, r"\[resource demo:"),
            ("mcp--everything--get-annotated-message", {"messageType": "error", "includeImage": True}, r"(?s)Error.*It is an image"),
            ("access_mcp_resource", {"server_name": "everything", "uri": "demo://resource/dynamic/text/1"}, r"(?i)resource 1|Resource"),
            ("access_mcp_resource", {"server_name": "everything", "uri": "demo://nothing/there"}, r"answered with an error"),
            ("mcp--everything--get-env", {}, r"PATH"),
        ],
        "never": r"A_SECRET_VALUE_OF_THE_PARENT",
    },
    "filesystem": {
        "program": "mcp-server-filesystem",
        "command": [os.path.join(NODE, "mcp-server-filesystem"), "."],
        "rules": ['allow: "mcp(filesystem/*)"'],
        "calls": [
            ("mcp--filesystem--read_text_file", {"path": "a.txt"}, r"some text"),
            ("mcp--filesystem--read_media_file", {"path": "shot.png"}, r"It is an image 2x3 png"),
            ("mcp--filesystem--read_text_file", {"path": "/etc/passwd"}, r"(?i)access denied"),
            ("mcp--filesystem--read_text_file", {"path": ".env"}, r"(?i)denied|permission|EACCES|no such|\n````\n\n?````"),
            ("mcp--filesystem--write_file", {"path": "a.txt", "content": "x"}, r"(?i)EACCES|EROFS|permission|read-only"),
        ],
        "unchanged": ["a.txt"],
        "never": r"hunter2hunter2",
    },
    "memory": {
        "program": "mcp-server-memory",
        # Its home is the one place where it can write.
        "command": ["sh", "-c", 'MEMORY_FILE_PATH="$HOME/memory.jsonl" exec "$0"', os.path.join(NODE, "mcp-server-memory")],
        "rules": ['allow: "mcp(memory/*)"', 'hold: "mcp(memory/delete_entities)"'],
        "calls": [
            ("mcp--memory--create_entities", {"entities": [{"name": "Ada", "entityType": "person", "observations": ["counts"]}]}, r"Ada"),
            ("mcp--memory--read_graph", {}, r"Ada"),
            ("mcp--memory--delete_entities", {"entityNames": ["Ada"]}, r"mcp\(memory/delete_entities\)"),
        ],
    },
    "thinking": {
        "program": "mcp-server-sequential-thinking",
        "command": [os.path.join(NODE, "mcp-server-sequential-thinking")],
        "rules": ['allow: "mcp(thinking/*)"'],
        "calls": [
            (
                "mcp--thinking--sequentialthinking",
                {"thought": "one", "nextThoughtNeeded": False, "thoughtNumber": 1, "totalThoughts": 1},
                r"thoughtHistoryLength",
            ),
        ],
    },
}

PNG = bytes.fromhex("89504e470d0a1a0a0000000d494844520000000200000003080200000000")


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())


def stage(name, server):
    root = os.path.join(SCRATCH, name)
    checkout = os.path.join(root, "checkout")
    rules = "".join(f"  - {rule}\n" for rule in ['allow: "read(**)"', *server["rules"]])
    policy = f"version: 1\nmodes: {{ default: code, allow: [code] }}\non_hold: refuse\ncommands: {{ reads: [{json.dumps(INSTALLED)}] }}\nrules:\n{rules}"
    accept = '  accept_risk: { code: "a test with nothing worth taking" }\n'
    policy = policy.replace("modes: { default: code, allow: [code] }\n", "modes:\n  default: code\n  allow: [code]\n" + accept)
    command, *args = server["command"]
    definition = {"command": command, "args": args, "timeout": 30, "env": {}}
    write(os.path.join(checkout, ".locum/policy.yml"), policy)
    write(os.path.join(checkout, ".mcp.json"), json.dumps({"mcpServers": {name: definition}}))
    write(os.path.join(checkout, "a.txt"), "some text\n")
    write(os.path.join(checkout, "shot.png"), PNG)
    write(os.path.join(checkout, ".env"), "KEY=hunter2hunter2\n")
    git = ["git", "-c", "user.name=Test", "-c", "user.email=test@example.com"]
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "first"]):
        subprocess.run([*git, *words], cwd=checkout, check=True)
    turns = [{"calls": [{"tool": tool, "args": args}]} for tool, args, _ in server["calls"]]
    turns.append({"calls": [{"tool": "attempt_completion", "args": {"result": "Done."}}]})
    write(os.path.join(root, "script.yml"), json.dumps({"version": 1, "tasks": [{"turns": turns}]}))
    return root, checkout


def answers(root):
    sessions = os.path.join(root, "state/locum/sessions")
    found = []
    for session in os.listdir(sessions) if os.path.isdir(sessions) else []:
        with open(os.path.join(sessions, session, "journal.jsonl"), encoding="utf-8") as file:
            events = [json.loads(line) for line in file]
        found += [event["observation"]["text"] for event in events if event["event"] == "answered"]
    return found


def run(name, server):
    root, checkout = stage(name, server)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": os.path.join(root, "home"),
        "XDG_STATE_HOME": os.path.join(root, "state"),
        "ANYTHING": "A_SECRET_VALUE_OF_THE_PARENT",
    }
    os.makedirs(environment["HOME"], exist_ok=True)
    words = [LOCUM, "run", "Do the task.", "--script", os.path.join(root, "script.yml"), "--output-format", "json"]
    ran = subprocess.run(words, cwd=checkout, env=environment, capture_output=True, text=True, timeout=180)
    rows, said = [], answers(root)
    for at, (tool, _, wanted) in enumerate(server["calls"]):
        answer = said[at] if at < len(said) else "(no answer)"
        rows.append((tool, re.search(wanted, answer) is not None, answer))
    rows.append(("the run", ran.returncode == 0, f"exit {ran.returncode}: {ran.stderr[-600:]}"))
    if "never" in server:
        rows.append(("what is not its own", re.search(server["never"], "\n".join(said)) is None, "it was seen"))
    for path in server.get("unchanged", []):
        with open(os.path.join(checkout, path), encoding="utf-8") as file:
            rows.append((f"{path} stays", file.read() == "some text\n", "it changed"))
    listed = subprocess.run([LOCUM, "mcp", "list", "--tools", "--json"], cwd=checkout, env=environment, capture_output=True, text=True, timeout=120)
    tools = json.loads(listed.stdout)[0].get("tools") if listed.returncode == 0 else None
    rows.append(("mcp list --tools", bool(tools), listed.stdout[-300:] + listed.stderr[-300:]))
    left = subprocess.run(["pgrep", "-f", f"{INSTALLED}.*{server['program']}"], capture_output=True, text=True)
    rows.append(("nothing is left running", left.stdout.strip() == "", left.stdout))
    shutil.rmtree(root, ignore_errors=True)
    return rows


failed = 0
for name in sys.argv[4:]:
    for what, passed, told in run(name, SERVERS[name]):
        failed += not passed
        print(f"{'ok    ' if passed else 'FAILED'}  {name:<11} {what}", flush=True)
        if not passed:
            print("        " + told.replace("\n", "\n        "), flush=True)
print(f"{failed} failed" if failed else "all as they have to be")
sys.exit(1 if failed else 0)
