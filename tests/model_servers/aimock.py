"""aimock: answers from fixtures in each provider's own protocol, breaks what it is told to break, keeps every request."""

import json
from contextlib import contextmanager
from functools import partial

from run import KEY, Run, Server, ask, free_port, table

NOTE = 'Both files "say" — ünï/código 😀 \\ tab\there\n\tand a second line {"a": [1, 2]}\n'
USAGE = {
    "prompt_tokens": 100, "completion_tokens": 10, "input_tokens": 100, "output_tokens": 10,
    "promptTokenCount": 100, "candidatesTokenCount": 10, "total_tokens": 110, "totalTokenCount": 110,
}
TOKENS = 110
PROTOCOLS = {"openai": "/v1", "openai-responses": "/v1", "anthropic": "/v1", "gemini": "/v1beta"}
# Other doors of the same protocols: what hangs on the address, and where the model's name is.
DOORS = {
    "OpenRouter's door": ("openai", "/api/v1"),
    "Azure's door": ("openai", "/openai/deployments/{model}?api-version=2025-01-01"),
    "Vertex AI's door": ("gemini", "/v1/projects/p/locations/l/publishers/google/models"),
}

# Clouds, where the job's own variables say who asks. The signature of Bedrock is no key that the server could compare: it answers
# one that keeps none.
CLAUDE = "eu.anthropic.work-v1"
AWS = {"AWS_ACCESS_KEY_ID": "ASIATESTKEY", "AWS_SECRET_ACCESS_KEY": KEY, "AWS_SESSION_TOKEN": "session-of-a-test"}
CLOUDS = {
    "Azure, by key": ("azure", "work", {"AZURE_OPENAI_ENDPOINT": "{at}", "AZURE_OPENAI_API_KEY": KEY}),
    "Vertex AI, by token": (
        "vertex", "gemini-work", {"GOOGLE_VERTEX_BASE_URL": "{at}", "GOOGLE_OAUTH_ACCESS_TOKEN": KEY, "GOOGLE_CLOUD_PROJECT": "acme"},
    ),
    "Bedrock, by token": (
        "bedrock", CLAUDE, {"AWS_ENDPOINT_URL_BEDROCK_RUNTIME": "{at}", "AWS_REGION": "eu-west-1", "AWS_BEARER_TOKEN_BEDROCK": KEY},
    ),
}
SIGNED = {"Bedrock, signed": ("bedrock", CLAUDE, {"AWS_ENDPOINT_URL_BEDROCK_RUNTIME": "{at}", "AWS_REGION": "eu-west-1", **AWS})}


def call(name, **arguments):
    return {"name": name, "arguments": arguments}


def turns(model, first=None):
    """The fixtures of a task: two calls at once with thoughts and words, a file written, the end."""
    read = {
        "content": "I look at both.", "reasoning": "Two files, so two calls.", "reasoningSignature": "c2lnbmF0dXJl",
        "redactedThinking": ["b3BhcXVl"],
        "toolCalls": [call("read_file", path="first.txt"), call("read_file", path="second.txt")],
    }
    write = {"toolCalls": [call("write_to_file", path="notes/both.md", content=NOTE)]}
    end = {"toolCalls": [call("attempt_completion", result="Both files are read.")]}
    yield {"match": {"model": model, "toolResultContains": "notes/both.md"}, "response": {**end, "usage": USAGE}}
    yield {"match": {"model": model, "toolResultContains": "the second file"}, "response": {**write, "usage": USAGE}}
    begin = {"model": model, "hasToolResult": False}
    if first:
        yield {"match": {**begin, "sequenceIndex": 0}, **first(read)}
    yield {"match": begin, "response": {**read, "usage": USAGE}}


# What goes wrong with the first request: a fixture's fields, and what has to come of it: outcome, requests, words of the reason.
FAULTS = {
    "429 with Retry-After": (lambda _: {"response": {"error": {"message": "slow down"}, "status": 429, "retryAfter": 2}}, "done", 4, ""),
    "503": (lambda _: {"response": {"error": {"message": "overloaded"}, "status": 503}}, "done", 4, ""),
    "dropped with a 500": (lambda read: {"response": read, "chaos": {"dropRate": 1}}, "done", 4, ""),
    "malformed JSON": (lambda read: {"response": read, "chaos": {"malformedRate": 1}}, "done", 4, ""),
    "connection cut": (lambda read: {"response": read, "chaos": {"disconnectRate": 1}}, "done", 4, ""),
    "stream cut midway": (lambda read: {"response": read, "truncateAfterChunks": 4}, "done", 4, ""),
    "400": (lambda _: {"response": {"error": {"message": "no such tool"}, "status": 400}}, "failed", 1, "no such tool"),
}


def check(locum, scratch, installed):
    """Runs every protocol against it."""
    fixtures = [fixture for model in ("work", "gemini-work", CLAUDE) for fixture in turns(model)]
    fixtures += [{**fixture, "chunkSize": 1, "openRouterProcessing": True} for fixture in turns("slow")]
    for number, (first, *_) in enumerate(FAULTS.values()):
        fixtures += turns(f"fault-{number}", first)
    with started(scratch, installed, fixtures) as at:
        runs = []
        for protocol, path in PROTOCOLS.items():
            profile = {"provider": protocol, "base_url": at + path}
            task = partial(work, locum, scratch, at)
            runs += [partial(task, "a task", {**profile, "model": "work"})]
            runs += [partial(task, "one letter at a time", {**profile, "model": "slow"})]
            for number, (what, (_, outcome, requests, words)) in enumerate(FAULTS.items()):
                runs += [partial(task, what, {**profile, "model": f"fault-{number}"}, outcome, requests, words)]
            runs += [partial(task, "a wrong key", {**profile, "model": "work"}, "failed", 1, "refused the key", key="another")]
        for what, (protocol, path) in DOORS.items():
            runs += [partial(task, what, {"provider": protocol, "base_url": at + path.format(model="slow"), "model": "slow"})]
        runs += clouds(CLOUDS, locum, scratch, at)
        table(runs)
    with started(scratch, installed, fixtures, keys=None) as at:
        table(clouds(SIGNED, locum, scratch, at))


def clouds(these, locum, scratch, at):
    """The runs of clouds."""
    for what, (provider, model, variables) in these.items():
        env = {name: value.format(at=at) for name, value in variables.items()}
        yield partial(work, locum, scratch, at, what, {"provider": provider, "model": model}, env=env)


@contextmanager
def started(scratch, installed, fixtures, keys=KEY):
    """Starts it with fixtures; gives where it listens."""
    (scratch / "fixtures.json").write_text(json.dumps({"fixtures": list(fixtures)}))
    port = free_port()
    at = f"http://127.0.0.1:{port}"
    command = ["node", installed / "node_modules/@copilotkit/aimock/dist/cli.js", "--strict", "-h", "127.0.0.1", "-p", str(port)]
    command += ["-f", scratch / "fixtures.json", "--validate-on-load", "--log-level", "warn"]
    with Server("aimock", scratch, command, f"{at}/health", env={"AIMOCK_API_KEYS": keys} if keys else {}):
        yield at


def work(locum, scratch, at, what, profile, outcome="done", requests=3, words="", key=KEY, env=None):
    """One run, told apart from the others by a header; the server's own journal counts the requests."""
    scope = f"{profile['provider']}-{what}".translate({ord(" "): "-", ord("'"): None, ord(","): None})
    run = Run(locum, scratch, "aimock", what, {**profile, "headers": {"X-Test-Id": scope}}, key=key, env=env)
    entries = [entry for entry in ask(f"{at}/__aimock/journal", headers={"Authorization": f"Bearer {KEY}"}) if matches(entry, scope)]
    # A request with a wrong key is not written down.
    seen = len(entries) if key == KEY else requests
    done = outcome == "done"
    # A reply that broke off is charged by an estimate on top.
    surplus = run.tokens - 3 * TOKENS if done else run.tokens
    claims = {
        f"the outcome is {outcome}": run.outcome == outcome,
        f"{requests} requests": seen == requests,
        "every turn is counted": surplus == 0 or done and requests > 3 and surplus > 0,
        "the file is what the model wrote, to the letter": run.text("notes/both.md") == (NOTE if done else None),
        "the reason is told": words in run.reason + run.said,
    }
    if what == "Bedrock, signed":
        # The journal hides the signature itself.
        signed = [entry["headers"] for entry in entries]
        parts = ("authorization", "x-amz-date", "x-amz-security-token")
        claims["every request is signed"] = bool(signed) and all(part in headers for headers in signed for part in parts)
    if what.startswith("429"):
        claims["it waited as long as it was asked"] = run.seconds >= 2
    return run.row(seen, claims)


def matches(entry, scope):
    headers = {name.lower(): value for name, value in entry["headers"].items()}
    return entry["method"] == "POST" and headers.get("x-test-id") == scope
