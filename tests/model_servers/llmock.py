"""llmock: a second reading of the same protocols, with checked requests. It queues what goes wrong, and judges how its client bore it."""

from contextlib import contextmanager
from functools import partial

from run import Run, Server, ask, failures, free_port, table

NOTE = "what both files say: \"first\" and \"second\", 100 %\n"
DOORS = {
    "openai": ("openai", "/v1"),
    "openai-responses": ("openai-responses", "/v1"),
    "anthropic": ("anthropic", "/anthropic"),
    "gemini": ("gemini", "/gemini/v1beta"),
    "mistral": ("openai", "/mistral/v1"),
    "groq": ("openai", "/groq/openai/v1"),
}


def reply(*calls, text=None):
    return {"type": "reply", "text": text, "tool_calls": [{"name": name, "arguments": arguments} for name, arguments in calls]}


READ = reply(("read_file", {"path": "first.txt"}), ("read_file", {"path": "second.txt"}), text="I look at both.")
WRITE = reply(("write_to_file", {"path": "notes/both.md", "content": NOTE}))
END = reply(("attempt_completion", {"result": "Both files are read."}))
TASK = [READ, WRITE, END]
# What goes wrong, and how many requests it takes: a stream that breaks has used up its reply, which is given again.
FAULTS = {
    "a task": (TASK, 3),
    "429 with Retry-After": ([{"type": "fail", "status": 429, "retry_after": 1.5}, *TASK], 4),
    "503, then 529": ([{"type": "fail", "status": 503}, {"type": "fail", "status": 529}, *TASK], 5),
    "connection cut": ([{"type": "stream_fault", "kind": "disconnect"}, READ, *TASK], 4),
    "stream ends too early": ([{"type": "stream_fault", "kind": "truncate"}, READ, *TASK], 4),
    "malformed event": ([{"type": "stream_fault", "kind": "malformed"}, READ, *TASK], 4),
    "silence": ([{"type": "stream_fault", "kind": "stall", "stall_seconds": 20}, READ, *TASK], 4),
    "arguments cut short": ([{"type": "tool_fault", "kind": "malformed_arguments"}, READ, *TASK], 4),
    "a tool that is not there": ([{"type": "tool_fault", "kind": "unknown_tool"}, READ, *TASK], 4),
}


def check(locum, scratch, installed):
    """Runs every protocol against it, then asks what it thinks of the client."""
    with started(scratch, installed) as at:
        runs = []
        for name, (protocol, path) in DOORS.items():
            for number, (what, (behaviors, requests)) in enumerate(FAULTS.items()):
                if name == protocol or what == "a task":
                    profile = {"provider": protocol, "base_url": at + path, "model": f"{name}-{number}", "idle_timeout_s": 8}
                    what = what if name == protocol else f"{name}'s door"
                    runs.append(partial(work, locum, scratch, at, what, profile, behaviors, requests))
        table(runs)
        verdict = ask(f"{at}/_llmock/verdict")
        print(f"llmock: {verdict['calls']} calls in {verdict['attempts']} attempts, {verdict['faults_injected']} faults:", end=" ")
        print(f"{verdict['errors']} errors, {verdict['warnings']} warnings", flush=True)
        # A broken answer that was sent to its end before the client left is no failure to it: then the next try counts as a call of its own.
        for finding in (finding for finding in verdict["findings"] if finding["code"] != "malformed_chunk_ignored"):
            failures.append(f"llmock finds {finding['code']} at {finding['path']}")
            print(f"    {finding['severity']}: {finding['title']} {finding['path']}")


@contextmanager
def started(scratch, installed):
    """Starts it; gives where it listens."""
    port = free_port()
    at = f"http://127.0.0.1:{port}"
    command = [installed / "llmock/bin/llmock", "serve", "--host", "127.0.0.1", "--port", str(port), "--log-level", "warning"]
    with Server("llmock", scratch, command, f"{at}/_llmock/scenario"):
        yield at


def work(locum, scratch, at, what, profile, behaviors, requests):
    """One run; the model's name tells it apart from the others."""
    model = profile["model"]
    ask(f"{at}/_llmock/scenario", {"behaviors": [{**behavior, "match": {"model": model}} for behavior in behaviors]})
    run = Run(locum, scratch, "llmock", what, profile)
    seen = [request for request in ask(f"{at}/_llmock/requests")["requests"] if request["model"] == model]
    claims = {
        "the outcome is done": run.outcome == "done",
        f"{requests} requests": len(seen) == requests,
        "tokens are counted": run.tokens > 0,
        "the file is what the model wrote, to the letter": run.text("notes/both.md") == NOTE,
    }
    if what.startswith("429"):
        claims["it waited as long as it was asked"] = run.seconds >= 1.5
    return run.row(len(seen), claims)
