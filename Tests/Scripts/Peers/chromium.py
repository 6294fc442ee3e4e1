"""A browser without a window, driven through its DevTools protocol over two pipes: no port, and nothing to install."""
import base64
import json
import os
import select
import subprocess
import tempfile
import time


class Chromium:
    """One page. Clicks and keys are the browser's own events, not calls of a script."""

    def __init__(self, program, width=1100, height=800):
        to_browser, ours_out = os.pipe()
        ours_in, from_browser = os.pipe()
        self.profile = tempfile.TemporaryDirectory()

        def descriptors():
            # Chromium reads commands from 3 and writes to 4.
            os.dup2(to_browser, 13)
            os.dup2(from_browser, 14)
            os.dup2(13, 3)
            os.dup2(14, 4)

        arguments = [
            program, "--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", "--mute-audio",
            f"--user-data-dir={self.profile.name}", f"--window-size={width},{height}", "about:blank",
        ]
        if os.geteuid() == 0:
            # The browser's own sandbox refuses to run as root: for tests alone.
            arguments.insert(1, "--no-sandbox")
        self.process = subprocess.Popen(
            arguments, preexec_fn=descriptors, close_fds=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.out, self.input = ours_out, ours_in
        self.buffer, self.last, self.session = b"", 0, None
        self.refused = []
        page = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + 60
        while True:
            answer = self._message(end - time.monotonic())
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def _message(self, limit):
        while b"\0" not in self.buffer:
            if not select.select([self.input], [], [], max(0, limit))[0]:
                raise TimeoutError("the browser does not answer")
            piece = os.read(self.input, 1 << 16)
            if not piece:
                raise RuntimeError("the browser has ended")
            self.buffer += piece
        text, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(text)
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.refused.append(json.dumps(parameters["exceptionDetails"])[:500])
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.refused.append(parameters["entry"]["text"])
        elif method == "Page.javascriptDialogOpening":
            os.write(self.out, json.dumps({
                "id": 1_000_000_000 + self.last, "method": "Page.handleJavaScriptDialog",
                "params": {"accept": True}, "sessionId": self.session}).encode() + b"\0")
        return message

    def run(self, script):
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"])[:800])
        return result["result"].get("value")

    def open(self, address):
        self.call("Page.navigate", url=address)

    def until(self, script, what, seconds=30):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                # A node is no value: it is there or not.
                if self.run(f"Boolean({script})"):
                    return
            except RuntimeError:
                pass
            time.sleep(0.1)
        raise AssertionError(f"never came: {what}; the page says: {self.run('document.body.innerText')[:1500]}")

    def click(self, selector, text=None):
        """Clicks in the middle of the first element that the selector finds and whose text is that one."""
        find = (f"[...document.querySelectorAll({json.dumps(selector)})]"
                f".find((one) => one.checkVisibility() && {json.dumps(text)} === null"
                f" || one.textContent.trim() === {json.dumps(text)})")
        self.until(f"Boolean({find}) && !{find}.disabled", f"{selector} {text or ''}")
        box = self.run(
            f"(() => {{ const e = {find}; e.scrollIntoView({{block: 'center'}}); const b = e.getBoundingClientRect();"
            " return [b.x + b.width / 2, b.y + b.height / 2]; })()")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def key(self, key):
        code = {"Tab": 9, "Enter": 13, "Escape": 27}.get(key, ord(key[0].upper()))
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, text=text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def look(self, width, height, scheme):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except Exception:
            pass
        self.process.kill()
        self.process.wait()
        os.close(self.out)
        os.close(self.input)
        try:
            self.profile.cleanup()
        except OSError:
            pass
