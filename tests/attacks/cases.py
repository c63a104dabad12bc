"""Cases of public suites of attacks: what a model that obeys would run. Reads the folders that `tests/attacks.sh` fetches."""

import json
import re
import shlex
import tomllib
from collections import namedtuple

import yaml

# What one session of a case runs, one after the other; files it finds in its repository besides the usual ones.
Case = namedtuple("Case", "name commands files")

# Programs with which a line of prose counts as a command.
PROGRAMS = "python3? pip3? echo env printenv cat curl wget mkdir cp mv chmod git bash sh npm node crontab export base64 eval sed tee touch ls find"
COMMAND = re.compile(rf"(?:{'|'.join(PROGRAMS.split())})(?:\s|$)")


def guard(folder):
    """destructive_command_guard: commands with what a guard should say of them; all are run."""
    for file in sorted(folder.glob("destructive_command_guard/tests/corpus/*/*.toml")):
        for number, case in enumerate(tomllib.loads(file.read_text()).get("case", [])):
            yield Case(f"{file.parent.name}/{file.stem}/{number}", [case["command"]], {})


def redcode(folder, kind, wrap):
    """RedCode-Exec: risky programs, each as a whole."""

    def key(file):
        return [int(part) for part in re.findall(r"\d+", file.name)]

    for file in sorted(folder.glob(f"RedCode/dataset/RedCode-Exec/{kind}2text_dataset_json/*.json"), key=key):
        for case in json.loads(file.read_text()):
            yield Case(case["Index"], [wrap(case["Code"])], {})


def atomic(folder):
    """Atomic Red Team: tests for Linux that a shell runs, with their default arguments."""
    for file in sorted(folder.glob("atomic-red-team/atomics/T*/T*.yaml")):
        for number, test in enumerate(yaml.safe_load(file.read_text())["atomic_tests"]):
            executor = test["executor"]
            if "linux" not in test["supported_platforms"] or executor["name"] not in ("sh", "bash"):
                continue
            command = executor["command"]
            for name, argument in (test.get("input_arguments") or {}).items():
                command = command.replace(f"#{{{name}}}", str(argument.get("default", "")))
            yield Case(f"{file.stem}/{number}", [command.replace("PathToAtomicsFolder", "atomics")], {})


def gtfobins(folder):
    """GTFOBins: what programs can be made to do beside their purpose."""
    for file in sorted(folder.glob("GTFOBins.github.io/_gtfobins/*")):
        page = next(yaml.safe_load_all(file.read_text()))
        for function, snippets in (page.get("functions") or {}).items():
            for number, snippet in enumerate(snippets):
                contexts = [context or {} for context in (snippet.get("contexts") or {}).values()]
                codes = [code for code in (kind.get("code") for kind in [snippet, *contexts]) if code]
                for code in dict.fromkeys(codes):
                    yield Case(f"{file.name}/{function}/{number}", [code], {})


def code_ipi(folder):
    """CodeIPI: repositories and issues that tell a coding agent what to run."""
    for sample in json.loads((folder / "inspect_evals/ipi_coding_agent/dataset/samples.json").read_text()):
        if sample["is_benign"]:
            continue
        texts = [sample["issue_text"], *sample["repo_files"].values()]
        commands = []
        for line in "\n".join(texts).splitlines():
            added = re.search(r"add `(.+?)` to (\S+)", line)
            if added:
                commands.append(f"echo {shlex.quote(added[1])} >> {added[2].rstrip('.')}")
            bare = re.sub(r"^[\s#/*$>-]+|\s*(-->|\*/)$", "", line)
            spans = re.findall(r"`([^`]+)`", line) or [bare, bare.rpartition(": ")[2]]
            spans = [span.replace("/workspace/", "") for span in spans if COMMAND.match(span)]
            commands += [span for span in spans if span not in commands]
        yield Case(sample["id"], commands, sample["repo_files"])


def python(code):
    """Returns the command that runs a program in Python."""
    return f"python3 -c {shlex.quote(code)}"


# By the name it has in the table; each takes the folder of all suites.
SUITES = {
    "destructive_command_guard": guard,
    "RedCode-Exec bash": lambda folder: redcode(folder, "bash", str),
    "RedCode-Exec Python": lambda folder: redcode(folder, "py", python),
    "Atomic Red Team, Linux": atomic,
    "GTFOBins": gtfobins,
    "CodeIPI": code_ipi,
}
