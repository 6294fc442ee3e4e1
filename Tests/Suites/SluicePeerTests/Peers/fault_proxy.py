"""A proxy on loopback that loses and cuts answers, and forgets delta links, when it is told to.

POST /__faults with a JSON list such as [{"method": "POST", "path": "Orders", "fault": "lose"}] sets what comes next: each
entry is used for the first request that fits. Faults: "lose" (the request is carried out, its answer is not sent), "cut"
(half of the answer is sent), "refuse" (nothing is carried out, the connection ends), and a number: the request is answered
with that status and not carried out. GET /__log lists what was passed on, as [method, path, status].
"""

import http.client
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

upstream = int(sys.argv[2])
faults, log, lock = [], [], threading.Lock()


class Proxy(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def body(self):
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            parts = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def reply(self, status, body, headers=()):
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def take(self):
        with lock:
            for index, fault in enumerate(faults):
                if fault.get("method", self.command) == self.command and fault.get("path", "") in self.path:
                    return faults.pop(index)["fault"]

    def pass_on(self):
        body = self.body()
        if self.path == "/__faults":
            with lock:
                faults[:] = json.loads(body)
            return self.reply(200, b"[]")
        if self.path == "/__log":
            with lock:
                text = json.dumps(log).encode()
                log.clear()
            return self.reply(200, text, [("Content-Type", "application/json")])
        fault = self.take()
        if fault == "refuse":
            self.close_connection = True
            return
        if isinstance(fault, int):
            return self.reply(fault, b"{}", [("Content-Type", "application/json")])
        connection = http.client.HTTPConnection("127.0.0.1", upstream, timeout=60)
        headers = {k: v for k, v in self.headers.items() if k.lower() not in ("transfer-encoding", "connection")}
        headers["Content-Length"] = str(len(body))
        # Links in answers shall lead back here: the Host stays the proxy's.
        connection.request(self.command, self.path, body or None, headers)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        with lock:
            log.append([self.command, self.path, answer.status])
        if fault == "lose":
            self.close_connection = True
            return
        kept = [
            (k, v) for k, v in answer.getheaders() if k.lower() not in ("content-length", "transfer-encoding", "connection")
        ]
        if fault == "cut":
            self.send_response_only(answer.status)
            for name, value in kept:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content) + 10))
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(content[: len(content) // 2])
            self.close_connection = True
            return
        if answer.status == 204 or self.command == "HEAD":
            self.send_response_only(answer.status)
            for name, value in kept:
                self.send_header(name, value)
            self.end_headers()
            return
        self.reply(answer.status, content, kept)

    do_GET = do_POST = do_PUT = do_PATCH = do_MERGE = do_DELETE = do_HEAD = pass_on


ThreadingHTTPServer.daemon_threads = True
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Proxy).serve_forever()
