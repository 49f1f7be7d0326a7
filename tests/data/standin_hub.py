"""A stand-in for the Hugging Face hub on a free port of this machine: lists and serves the files of one dataset.

It speaks what `huggingface_hub` asks of the real one: dataset info with file metadata, HEAD and GET of files,
with Range.
``faults`` makes it fail on purpose.
"""

import contextlib
import hashlib
import json
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def blob_sha1(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


class Hub:
    """What the hub holds and what it was asked.

    Attributes:
        revisions: Revision -> commit.
        files: Commit -> name -> content.
        large: Names that are stored as LFS files, by SHA-256.
        gated: Whether a token is needed.
        elsewhere: Whether files are served from another address, as the hub does with large ones.
        faults: Requests left to fail: kind -> count. Kinds: "429", "503" (answers), "cut" (the connection breaks after
            half of what is left of a file), "short" (a file arrives shorter than stated).
        other: Name -> what is sent in place of its content.
        pace: Bytes a second; None for no limit.
        asked: (method, path, Range header) of every request.
        tokens: The Authorization headers seen.
    """

    def __init__(self, repo, files, commit="c" * 40):
        self.repo, self.large, self.gated = repo, {"large.bin"}, False
        self.elsewhere = False
        self.revisions, self.files = {"main": commit}, {commit: files}
        self.faults, self.retry_after = {}, None
        self.other, self.pace = {}, None
        self.asked, self.tokens = [], set()
        self.url = None

    def fails(self, kind):
        if self.faults.get(kind, 0) > 0:
            self.faults[kind] -= 1
            return True
        return False

    def info(self, commit):
        siblings = []
        for name, content in self.files[commit].items():
            entry = {"rfilename": name, "size": len(content), "blobId": blob_sha1(content)}
            if name in self.large:
                sha = hashlib.sha256(content).hexdigest()
                entry["lfs"] = {"sha256": sha, "oid": sha, "size": len(content), "pointerSize": 130}
            siblings.append(entry)
        return {"_id": "1", "id": self.repo, "sha": commit, "private": False, "gated": False, "disabled": False,
                "tags": [], "downloads": 0, "likes": 0, "siblings": siblings}  # fmt: skip


def handler(hub):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *arguments):
            pass

        def answer(self, status, body=b"", **headers):
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def refuse(self, status, code, message):
            self.answer(status, json.dumps({"error": message}).encode(), X_Error_Code=code, X_Error_Message=message)

        def do_HEAD(self):
            self.do_GET()

        def do_GET(self):
            hub.asked.append((self.command, self.path, self.headers.get("Range")))
            token = self.headers.get("Authorization")
            hub.tokens.add(token)
            for status in (429, 503):
                if "/datasets/" in self.path and hub.fails(str(status)):
                    wait = {"Retry_After": hub.retry_after} if hub.retry_after else {}
                    self.answer(status, b"busy", **wait)
                    return
            if hub.gated and token != "Bearer hf_secret":
                self.refuse(401, "GatedRepo", "Access to this dataset is restricted.")
                return
            path = self.path.split("?")[0]
            if hub.elsewhere and "/resolve/" in path and "?" not in self.path:
                self.answer(302, Location=f"{hub.url}{self.path}?elsewhere")
                return
            if found := re.fullmatch(f"/api/datasets/{hub.repo}(?:/revision/(.+))?", path):
                self.send_info(found[1] or "main")
            elif found := re.fullmatch(f"/datasets/{hub.repo}/resolve/([^/]+)/(.+)", path):
                self.send_file(found[1], found[2])
            else:
                self.refuse(401 if path.startswith("/api/datasets") else 404, "RepoNotFound", "Repository not found")

        def send_info(self, revision):
            commit = hub.revisions.get(revision, revision)
            if commit not in hub.files:
                self.refuse(404, "RevisionNotFound", f"Invalid rev id: {revision}")
                return
            self.answer(200, json.dumps(hub.info(commit)).encode(), Content_Type="application/json")

        def send_file(self, revision, name):
            commit = hub.revisions.get(revision, revision)
            content = hub.files.get(commit, {}).get(name)
            if content is None:
                self.refuse(404, "EntryNotFound", "Entry not found")
                return
            tag = hashlib.sha256(content).hexdigest() if name in hub.large else blob_sha1(content)
            stated = len(content)
            if self.command == "GET":
                content = hub.other.get(name, content)
            if self.command == "GET" and hub.fails("short"):
                content = content[:-1]
            start = int(re.match(r"bytes=(\d+)-", self.headers["Range"])[1]) if self.headers.get("Range") else 0
            body = content[start:]
            self.send_response(206 if start else 200)
            self.send_header("ETag", f'"{tag}"')
            self.send_header("X-Repo-Commit", commit)
            self.send_header("Accept-Ranges", "bytes")
            if start:
                self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
            self.send_header("Content-Length", str(stated if self.command == "HEAD" else len(body)))
            self.end_headers()
            if self.command == "HEAD":
                return
            if len(body) > 1000 and hub.fails("cut"):
                self.wfile.write(body[: len(body) // 2])
                self.wfile.flush()
                self.close_connection = True
                self.connection.close()
                return
            for start in range(0, len(body), 100_000):
                self.wfile.write(body[start : start + 100_000])
                if hub.pace:
                    time.sleep(100_000 / hub.pace)

    return Handler


@contextlib.contextmanager
def serving(hub):
    """Serve a hub; it is shut down whatever happens."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(hub))
    server.daemon_threads = True
    server.handle_error = lambda *arguments: None  # a client that broke off is what some tests are about
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
