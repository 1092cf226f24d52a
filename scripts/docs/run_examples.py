"""Runs the shell commands of documentation pages and compares their output with the block that follows each.

    python3 scripts/docs/run_examples.py [--update] PIDQ PAGE...

`PIDQ` is the program, with the services. The `sh` blocks of a page run in order in one shell, in a copy of the directory
that the page's `files` comment names first. A `text` or `json` block directly below is the expected output;
`…` in it stands for any text. Comments above a block change how it runs:

    <!-- files: examples/tutorial examples/data -->   directories to copy
    <!-- exit 1 -->         the exit code of the commands; 0 if not stated
    <!-- skip: reason -->   the block is not run; the reason is printed
    <!-- server -->         the command is a server: it runs on free ports until the end of the page
    <!-- model -->          a language model that is a part of this program listens at the address in the block

Pictures of the page in `images/tutorial/` are those that its commands draw, under the same names.
`--update` replaces outputs and pictures that differ.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(
    r"(?:^<!-- (?P<directive>[^\n]*) -->\n+)?^```sh\n(?P<code>.*?)^```$"
    r"(?:\n+^```(?:text|json)\n(?P<output>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)
PICTURE = re.compile(r"\]\(([^)]*images/tutorial/([^)]*))\)")
FILES = re.compile(r"^<!-- files: (.*) -->$", re.MULTILINE)
START_TIMEOUT = 30
BLOCK_TIMEOUT = 60

# Default addresses in the documentation, by the setting that moves the service to another one.
ADDRESSES = {"127.0.0.1:8000": "PIDQ_LISTEN", "127.0.0.1:8080": "PIDQ_LISTEN", "127.0.0.1:3000": "PIDQ_DASHBOARD_LISTEN"}
MODEL_ADDRESS = "127.0.0.1:11434"


class Failure(Exception):
    """An example that does not do what its page says."""


@dataclass
class Session:
    """The directory, the shell and the servers of one page."""

    folder: Path
    program: Path
    addresses: dict = field(default_factory=dict)
    servers: list = field(default_factory=list)
    model: ThreadingHTTPServer = None

    def __post_init__(self):
        environment = os.environ | {"PATH": f"{self.program.parent}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
        self.environment = {name: value for name, value in environment.items() if not name.startswith("PIDQ_")}
        self.shell = self.start("bash", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def start(self, *command, **streams):
        return subprocess.Popen(
            command, cwd=self.folder, env=self.environment, start_new_session=True, text=True, encoding="utf-8", **streams
        )

    def run(self, code):
        """Runs commands in the shell of the page; returns their exit code and output."""
        marker = f"--- end of block {time.monotonic_ns()}"
        # A group, not a subshell: variables and the directory are those of the next block.
        self.shell.stdin.write(f"{{\n{self.localized(code)}\n}} < /dev/null\nprintf '\\n%s %s\\n' '{marker}' $?\n")
        self.shell.stdin.flush()
        timer = threading.Timer(BLOCK_TIMEOUT, lambda: os.killpg(self.shell.pid, signal.SIGKILL))
        timer.start()
        lines = []
        for line in self.shell.stdout:
            if line.startswith(marker):
                timer.cancel()
                return int(line.rsplit(" ", 1)[1]), self.general("".join(lines)).strip("\n") + "\n"
            lines.append(line)
        timer.cancel()
        raise Failure(f"the shell ended: {''.join(lines)}")

    def serve(self, code):
        """Starts a server with its addresses replaced by free ports, and waits until it is ready."""
        address, dashboard = free_address(), free_address()
        self.addresses |= {"127.0.0.1:8000": address, "127.0.0.1:8080": address, "127.0.0.1:3000": dashboard}
        self.environment |= {"PIDQ_LISTEN": address, "PIDQ_DASHBOARD_LISTEN": dashboard, "PIDQ_ADMIN_LISTEN": "", "PIDQ_SHUTDOWN_DELAY": "0s"}
        log = self.folder / "server.log"
        with log.open("w") as file:
            server = self.start("bash", "-c", code, stdout=file, stderr=file, stdin=subprocess.DEVNULL)
        self.servers.append(server)
        deadline = time.monotonic() + START_TIMEOUT
        while not responds(f"http://{address}/readyz"):
            if time.monotonic() > deadline or server.poll() is not None:
                raise Failure(f"the server does not start:\n{log.read_text()}")
            time.sleep(0.1)

    def start_model(self):
        if self.model is None:
            self.model = ThreadingHTTPServer(("127.0.0.1", 0), Model)
            threading.Thread(target=self.model.serve_forever, daemon=True).start()
            self.addresses[MODEL_ADDRESS] = f"127.0.0.1:{self.model.server_port}"

    def localized(self, text):
        for documented, actual in self.addresses.items():
            text = text.replace(documented, actual)
        return text

    def general(self, text):
        for documented, actual in self.addresses.items():
            text = text.replace(actual, documented)
        return text

    def close(self):
        for process in [*self.servers, self.shell]:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
        for process in [*self.servers, self.shell]:
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
        if self.model:
            self.model.shutdown()


class Model(BaseHTTPRequestHandler):
    """An OpenAI-compatible model that answers with the first sentence about 45 m³/h in the passages, and cites it."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = "\n".join(str(message["content"]) for message in body["messages"])
        found = "45 m³/h" in text
        answer = "Each pump is rated for 45 m³/h at a head of 170 m [1]." if found else "NOT_IN_CONTEXT"
        message = {"role": "assistant", "content": answer}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 900, "completion_tokens": 18, "total_tokens": 918}
        reply = {"id": "1", "object": "chat.completion", "model": body["model"], "choices": [choice], "usage": usage}
        content = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments):
        """Prints nothing: the output of the examples is compared."""


def free_address():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return "127.0.0.1:{}".format(listener.getsockname()[1])


def responds(url):
    try:
        with urllib.request.urlopen(url, timeout=1):
            return True
    except (urllib.error.URLError, OSError):
        return False


def matches(expected, actual):
    """Compares texts; `…` in the expected one stands for any text."""
    pattern = ".*?".join(re.escape(part) for part in expected.split("…"))
    return re.fullmatch(pattern, actual, re.DOTALL) is not None


def copy_files(names, folder):
    """Copies directories of the repository to the same places in `folder`; returns the first one."""
    for name in names:
        shutil.copytree(ROOT / name, folder / name)
    return folder / names[0]


def run_block(session, block):
    """Runs a block; returns its output if it has one that is compared, else `None`."""
    directive = block["directive"] or ""
    code = block["code"]
    if directive.startswith("skip: "):
        print(f"  not run ({directive.removeprefix('skip: ')}): {code.splitlines()[0]}")
        return None
    if directive == "server":
        session.serve(code)
        return None
    if directive == "model":
        session.start_model()
    status, output = session.run(code)
    expected = int(directive.removeprefix("exit ")) if directive.startswith("exit ") else 0
    if status != expected:
        raise Failure(f"{code}exits with {status}, not {expected}:\n{output}")
    return output


def compare_picture(picture, drawn, update):
    """Returns the number of differences of a picture: 0 or 1."""
    if not drawn.exists():
        raise Failure(f"no command draws {drawn.name}")
    if picture.exists() and picture.read_bytes() == drawn.read_bytes():
        return 0
    print(f"{picture.resolve().relative_to(ROOT)} differs from what the page draws")
    if update:
        shutil.copy(drawn, picture)
    return 1


def run_page(path, program, update):
    """Runs the blocks of a page; returns the number of differences and the page with the actual outputs."""
    page = path.read_text(encoding="utf-8")
    if "\ncurl " in page and not shutil.which("curl"):
        print(f"missing: curl; {path.relative_to(ROOT)} is not run")
        return 0
    files = FILES.search(page)
    if not files:
        raise Failure("the page names no files to start with")
    differences = 0
    count = 0
    with tempfile.TemporaryDirectory(prefix="pidq-docs-") as root:
        folder = copy_files(files[1].split(), Path(root))
        session = Session(folder, program)
        pieces, end = [], 0
        try:
            for block in BLOCK.finditer(page):
                count += 1
                output = run_block(session, block)
                if output is None or block["output"] is None or matches(block["output"], output):
                    continue
                differences += 1
                print(f"{path}: the output differs\n{block['code']}--- expected\n{block['output']}--- actual\n{output}")
                pieces += [page[end : block.start("output")], output]
                end = block.end("output")
            for link, name in PICTURE.findall(page):
                differences += compare_picture(path.parent / link, folder / name, update)
        finally:
            session.close()
    print(f"{path.relative_to(ROOT)}: {count} blocks, {differences} differences")
    if update and pieces:
        path.write_text("".join(pieces) + page[end:], encoding="utf-8")
    return differences


def main(arguments):
    update = "--update" in arguments
    program, *pages = [Path(name).resolve() for name in arguments if name != "--update"]
    if not os.access(program, os.X_OK):
        print(f"{program} is not a program; build it with `cargo build --features full`")
        return 1
    failures = 0
    for page in pages:
        try:
            failures += run_page(page, program, update)
        except Failure as failure:
            print(f"{page}: {failure}")
            failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
