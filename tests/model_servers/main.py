"""Starts the servers that were installed and runs the program against each: main.py LOCUM SCRATCH INSTALLED SERVER..."""

import sys
from pathlib import Path

import aimock
import litellm
import llama
import llmock
from run import failures, heading

SERVERS = {"aimock": aimock.check, "llmock": llmock.check, "litellm": litellm.check, "llama": llama.check}

locum, scratch, installed = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
heading()
for server in sys.argv[4:]:
    SERVERS[server](locum, scratch, installed)
if failures:
    sys.exit(f"{len(failures)} runs did not go as they have to: {', '.join(failures)}")
