#!/usr/bin/env python3
"""A web server for test_fetch.sh that goes wrong on purpose.

fetch_server.py ROOT LOG: serves the files under ROOT at an address that it prints. How a file is
served depends on its folder's name, which is that of a matrix group (see the functions below;
others are served as they are). LOG has a line for each request: METHOD PATH RANGE STATUS BYTES,
where BYTES is how much of the body was sent. It ends when its stdin does.
"""
import http.server
import os
import re
import sys
import threading
import time

root, log_path = sys.argv[1:3]
lock = threading.Lock()
requests = {}  # of a path, without HEAD


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.answer()

    def do_GET(self):
        self.answer()

    def answer(self):
        self.status, self.sent = 0, 0
        with lock:
            count = requests.get(self.path, 0)
            if self.command == "GET":
                requests[self.path] = count + 1
        try:
            group = self.path.split("/")[-2]
            getattr(self, "serve_" + group, self.serve)(count)
        except ConnectionError:
            self.close_connection = True
        with lock, open(log_path, "a") as log:
            log.write(f"{self.command} {self.path} {self.headers.get('Range', '-')} {self.status} {self.sent}\n")

    def head(self, status, length, *headers):
        self.status = status
        self.send_response(status)
        if length is not None:
            self.send_header("Content-Length", str(length))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()

    def body(self, data):
        if self.command == "GET":
            self.wfile.write(data)
            self.sent += len(data)

    def page(self, status, text, *headers):
        self.head(status, len(text), *headers)
        self.body(text.encode())

    def data(self):
        try:
            with open(os.path.join(root, self.path.lstrip("/")), "rb") as file:
                return file.read()
        except OSError:
            return None

    def serve(self, count, ranges=True, upto=None, after=None, pieces=1, change=bytes):
        """The file, or what is asked for of it: no byte behind `upto`, then after()."""
        data = self.data()
        if data is None:
            return self.page(404, "not found")
        data = change(data)
        begin = 0
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if ranges and asked:
            begin = int(asked[1])
            if begin >= len(data):
                return self.page(416, "", ("Content-Range", f"bytes */{len(data)}"))
            self.head(206, len(data) - begin, ("Content-Range", f"bytes {begin}-{len(data) - 1}/{len(data)}"))
        else:
            self.head(200, len(data))
        rest = data[begin:upto]
        step = max(1, -(-len(rest) // pieces))
        for i in range(0, len(rest), step):
            self.body(rest[i : i + step])
            self.wfile.flush()
            if pieces > 1:
                time.sleep(0.1)
        if after and self.command == "GET":
            after()

    def hang_up(self):
        self.close_connection = True

    def half(self):
        return len(self.data()) // 2

    # The groups. "Once": only the first request goes wrong.

    def serve_Slow(self, count):
        self.serve(count, pieces=10)

    def serve_CutOnce(self, count):
        self.serve(count, upto=self.half() if count == 0 else None, after=self.hang_up)

    def serve_CutNoRange(self, count):
        self.serve(count, ranges=False, upto=self.half() if count == 0 else None, after=self.hang_up)

    def serve_CutSilent(self, count):
        """The length is not said, so half of it looks like all: once."""
        self.protocol_version = "HTTP/1.0"
        data = self.data()
        self.head(200, None, ("Connection", "close"))
        self.body(data[: len(data) // 2] if count == 0 else data)
        self.close_connection = True

    def serve_StallOnce(self, count):
        """Half of it, then nothing more until the client has enough."""
        self.serve(count, upto=self.half() if count == 0 else None, after=self.wait if count == 0 else None)

    def wait(self):
        self.wfile.flush()
        self.connection.settimeout(120)
        try:
            self.connection.recv(1)
        except OSError:
            pass
        self.close_connection = True

    def corrupt(self, data):
        middle = len(data) // 2
        return data[:middle] + bytes([data[middle] ^ 255]) + data[middle + 1 :]

    def serve_Corrupt(self, count):
        self.serve(count, change=self.corrupt)

    def serve_CorruptOnce(self, count):
        self.serve(count, change=self.corrupt if count == 0 else bytes)

    def serve_Page(self, count):
        self.page(200, "<!DOCTYPE html><title>We will be back soon</title>", ("Content-Type", "text/html"))

    def serve_PageOnce(self, count):
        self.serve(count) if count else self.serve_Page(count)

    def serve_BusyOnce(self, count):
        self.serve(count) if count else self.page(503, "busy")

    def serve_Forbidden(self, count):
        self.page(403, "no")

    def serve_Redirect(self, count):
        self.page(302, "", ("Location", self.path.replace("Redirect", "Slow")))

    def serve_Loop(self, count):
        self.page(302, "", ("Location", self.path))

    def serve_ToFile(self, count):
        self.page(302, "", ("Location", "file://" + os.path.join(root, "G/one.tar.gz")))

    def serve_NoHead(self, count):
        self.page(405, "no") if self.command == "HEAD" else self.serve(count)


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        # That a client hangs up is no error of the server.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


server = Server(("127.0.0.1", 0), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
sys.stdin.read()
