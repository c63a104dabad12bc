"""LiteLLM: a translator. Each protocol in front, each one behind it, and llmock at the far end."""

import itertools
import json
from functools import partial

import llmock
from run import KEY, Run, Server, ask, free_port, table

FRONT = {"openai": "/v1", "openai-responses": "/v1", "anthropic": "", "gemini": "/v1beta"}
# The protocols behind it: how it calls their models, and where llmock answers them.
BEHIND = {
    "openai": ("openai", "/v1"),
    "openai-responses": ("openai/responses", "/v1"),
    "anthropic": ("anthropic", "/anthropic"),
    "gemini": ("gemini", "/gemini/v1beta"),
}
# It turns a mark for the cache into a request of its own to Gemini's store of cached contents, which llmock does not have.
LEFT_OUT = ("anthropic", "gemini")
# Its start alone reads some thousand files.
PATIENCE_S = 180


def check(locum, scratch, installed):
    """Runs every pair of protocols."""
    pairs = [pair for pair in itertools.product(FRONT, BEHIND) if pair != LEFT_OUT]
    with llmock.started(scratch, installed) as far:
        port = free_port()
        at = f"http://127.0.0.1:{port}"
        settings = {
            "model_list": [model(far, *pair) for pair in pairs],
            "general_settings": {"master_key": KEY},
            "router_settings": {"num_retries": 0, "disable_cooldowns": True},
        }
        (scratch / "litellm.json").write_text(json.dumps(settings))
        command = [installed / "litellm/bin/litellm", "--config", scratch / "litellm.json", "--host", "127.0.0.1", "--port", str(port)]
        env = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "NO_PROXY": "127.0.0.1"}
        with Server("litellm", scratch, [*command, "--telemetry", "False"], f"{at}/health/liveliness", PATIENCE_S, env):
            table(partial(work, locum, scratch, at, far, *pair) for pair in pairs)
            print("litellm: not run: {} to {}, for which llmock has not all that is asked".format(*LEFT_OUT), flush=True)


def model(far, front, behind):
    """Returns LiteLLM's settings of a pair."""
    kind, path = BEHIND[behind]
    name = f"{front}-to-{behind}"
    return {"model_name": name, "litellm_params": {"model": f"{kind}/{name}", "api_base": far + path, "api_key": KEY}}


def work(locum, scratch, at, far, front, behind):
    """One run."""
    name = f"{front}-to-{behind}"
    ask(f"{far}/_llmock/scenario", {"behaviors": [{**reply, "match": {"model": name}} for reply in llmock.TASK]})
    run = Run(locum, scratch, "litellm", f"to {behind}", {"provider": front, "base_url": at + FRONT[front], "model": name})
    claims = {
        "the outcome is done": run.outcome == "done",
        "three turns": run.turns == 3,
        "tokens are counted": run.tokens > 0,
        "the file is what the model wrote, to the letter": run.text("notes/both.md") == llmock.NOTE,
    }
    return run.row(run.turns, claims)
