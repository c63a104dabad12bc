"""What stands before the servers of tests/emulator.sh: carries each request on and writes it down.

/api/...   to Prism, which judges the request and asks emulate; what Prism has no route for goes to emulate at once
/git/...   to `git http-backend` over the bare repositories, for the token alone
/hook      takes emulate's webhooks
/log       gives everything written down since the last time as one JSON list
"""

import base64
import http.client
import json
import os
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

PORT, PRISM, EMULATE, SCRATCH = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
TOKEN = "locum-token-1234567890"
LOG, LOCK = [], threading.Lock()
# Prism tells what it found in one header, emulate's own slips included: with every item of a list it grows.
http.client._MAXLINE = 16 * 1024 * 1024
NOT_CARRIED = {"connection", "keep-alive", "transfer-encoding", "content-length", "host", "accept-encoding", "sl-violations"}


def ask(server, method, path, headers, body):
    """Sends a request on and returns status, headers and body of the answer."""
    connection = http.client.HTTPConnection(urlsplit(server).netloc, timeout=60)
    carried = {name: value for name, value in headers.items() if name.lower() not in NOT_CARRIED}
    connection.request(method, path, body if body or method in ("POST", "PATCH", "PUT") else None, carried)
    answer = connection.getresponse()
    return answer.status, answer.getheaders(), answer.read()


def violations_in(value):
    """Reads what Prism found; where that is too much for it, words stand before the list and its end is cut off."""
    found, decoder, at = [], json.JSONDecoder(), value.find("{")
    while at >= 0:
        try:
            each, end = decoder.raw_decode(value, at)
        except ValueError:
            break
        found.append(each)
        at = value.find("{", end)
    return found


def git(method, path, query, headers, body):
    """Runs git's own CGI program."""
    variables = {
        "PATH": os.environ["PATH"],
        "GIT_PROJECT_ROOT": f"{SCRATCH}/remotes",
        "GIT_HTTP_EXPORT_ALL": "1",
        "GIT_CONFIG_NOSYSTEM": "1",
        "HOME": SCRATCH,
        "REMOTE_USER": "locum-bot",
        "REMOTE_ADDR": "127.0.0.1",
        "REQUEST_METHOD": method,
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "CONTENT_TYPE": headers.get("Content-Type", ""),
        "CONTENT_LENGTH": str(len(body)),
        "GIT_PROTOCOL": headers.get("Git-Protocol", ""),
        "HTTP_CONTENT_ENCODING": headers.get("Content-Encoding", ""),
    }
    done = subprocess.run(["git", "http-backend"], input=body, env=variables, capture_output=True, check=False)
    head, _, content = done.stdout.partition(b"\r\n\r\n")
    answer = [tuple(line.split(": ", 1)) for line in head.decode().split("\r\n") if ": " in line]
    status = next((int(value.split()[0]) for name, value in answer if name == "Status"), 200)
    return status, [(name, value) for name, value in answer if name != "Status"], content


class Front(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def body(self):
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            pieces = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                pieces.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(pieces)
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def answer(self, status, headers, body):
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in NOT_CARRIED:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def note(self, **entry):
        with LOCK:
            LOG.append(entry | {"at": time.time()})

    def handle_request(self):
        body = self.body()
        if self.path == "/log":
            with LOCK:
                entries, LOG[:] = list(LOG), []
            self.answer(200, [("Content-Type", "application/json")], json.dumps(entries).encode())
        elif self.path == "/hook":
            self.note(kind="hook", event=self.headers.get("X-GitHub-Event", ""), payload=json.loads(body))
            self.answer(200, [], b"")
        elif self.path.startswith("/api/"):
            self.api(body)
        elif self.path.startswith("/git/"):
            self.git(body)
        else:
            self.answer(404, [], b"")

    def api(self, body):
        path = self.path.removeprefix("/api")
        try:
            status, headers, answer = ask(PRISM, self.command, path, self.headers, body)
        except (OSError, http.client.HTTPException) as error:
            status, headers, answer = 502, [], f"Prism: {type(error).__name__}: {error}".encode()
        found = [violations_in(value) for name, value in headers if name.lower() == "sl-violations"]
        violations = [each for each in sum(found, []) if each.get("location", [])[:1] == ["request"]]
        routed = b"NO_PATH_MATCHED" not in answer and b"NO_METHOD_MATCHED" not in answer
        if not routed:
            status, headers, answer = ask(EMULATE, self.command, path, self.headers, body)
        entry = {"kind": "api", "method": self.command, "path": path, "status": status, "routed": routed, "violations": violations}
        self.note(**entry, authorization=self.headers.get("Authorization", ""), body=body.decode(errors="replace"))
        self.answer(status, headers, answer)

    def git(self, body):
        path, _, query = self.path.removeprefix("/git").partition("?")
        wanted = "Basic " + base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()
        if self.headers.get("Authorization") == wanted:
            status, headers, answer = git(self.command, path, query, self.headers, body)
        else:
            status, headers, answer = 401, [("WWW-Authenticate", 'Basic realm="git"')], b""
        self.note(kind="git", method=self.command, path=self.path.removeprefix("/git"), status=status)
        self.answer(status, headers, answer)

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = handle_request

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", PORT), Front).serve_forever()
