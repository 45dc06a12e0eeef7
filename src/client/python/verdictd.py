"""
Asks verdictd, bot detection that you host yourself, whether a visitor is a person or a program, and acts on the answer. One file, Python 3.9 or newer,
no dependencies. Your verdictd server gives it out in its own version under /clients/verdictd.py, and explains it under /docs/any-language.

    import verdictd
    app = verdictd.WSGI(app, client={"base_url": "http://127.0.0.1:8080", "private_key": os.environ["PRIVATE_KEY"]})

`WSGI` (Flask, Django) and `ASGI` (FastAPI, Starlette, Django) put the visit into `environ["verdictd"]` and `scope["verdictd"]`; `Client` asks alone.
Without an answer in 150 ms the visitor is let in: a broken or missing server never stops your site.
"""
import asyncio
import difflib
import inspect
import json
import os
import re
import socket
import ssl
import threading
import time
import urllib.parse
import warnings
from concurrent.futures import Future

__version__ = "0.0.0"
__all__ = ["ASGI", "WSGI", "Client", "Verdict", "Visit", "rule_path"]

_TOKEN = re.compile(r"sess_[A-Za-z0-9_-]{1,128}", re.A)
_ACTIONS = ("allow", "challenge", "block", "log", "delay")
# verdictd closes a connection after 10 idle seconds; this side does it before.
_IDLE_S_MAX = 4
_ANSWER_BYTES_MAX = 65536
_WARN_EVERY_S = 60
_WAIT_MS_MAX = 1000
# Statuses that depend on the one request they answer: verdictd is up, and refuses what a visitor or a proxy made of it.
_REFUSALS = (400, 413, 414, 422, 431, 505)


# What rules see of a path


def _decoded(path):
    """
    Decodes octets that form valid UTF-8; delimiters and control characters stay encoded, in capitals, and so does what is no UTF-8. One pass from the
    left, on a stack: what a decoded character completes (`%6%33` is `%63`) is decoded as well.
    """
    if "%" not in path:
        return path
    stack = []
    for character in path:
        stack.append(character)
        while len(stack) > 2 and stack[-3] == "%":
            octet = _octet(stack, len(stack))
            if octet < 0:
                break
            if octet >= 0x80:
                _take_octet(stack, octet)
                break
            if octet < 0x20 or octet == 0x7F or chr(octet) in "/\\%?#;":
                stack[-2:] = "%02X" % octet
                break
            stack[-3:] = [chr(octet)]
    return "".join(stack)


def _octet(stack, end):
    """The octet that three characters before `end` encode, or -1."""
    text = "".join(stack[max(0, end - 3) : end])
    return int(text[1:], 16) if _OCTET.fullmatch(text) else -1


_OCTET = re.compile("%[0-9A-Fa-f]{2}")


def _take_octet(stack, octet):
    """Decodes the last octet with those before it if they form a character."""
    stack[-2:] = "%02X" % octet
    octets = bytes([octet])
    end = len(stack)
    while octet < 0xC0 and len(octets) < 4:
        end -= 3
        octet = _octet(stack, end)
        if octet < 0x80:
            return
        octets = bytes([octet]) + octets
    try:
        character = octets.decode("utf-8")
    except UnicodeDecodeError:
        return
    if len(character) == 1 and ord(character) >= 0xA0:
        stack[end - 3 :] = [character]


def rule_path(target):
    """The path that rules see for a request target, or None for one that is no path. Linear in the target's length."""
    path = re.split(r"[?#]", target, maxsplit=1)[0].replace("\\", "/")
    if not path.startswith("/"):
        authority = re.match(r"[A-Za-z][A-Za-z0-9+.-]*://[^/]*", path)
        if authority is None:
            return None
        path = path[authority.end() :] or "/"
    path = re.sub(r"[\x00-\x1f\x7f-\x9f]", lambda each: urllib.parse.quote(each.group()), path)
    segments = _decoded(re.sub(r"[\ud800-\udfff]", "\ufffd", path)).split("/")
    kept = []
    for segment in segments:
        if segment == "..":
            if kept:
                kept.pop()
        elif segment not in ("", "."):
            kept.append(segment)
    path = "/" + "/".join(kept) + ("/" if kept and segments[-1] in ("", ".", "..") else "")
    if len(path) > 512:
        path = re.sub(r"%[0-9A-F]?$", "", path[:512])
        path = re.sub(r"/\.{1,2}$", "/", path)
    return path


_STATIC = frozenset(
    (
        "7z avi avif bmp br bz2 css csv doc docx eot eps flac flv gif gz ico jar jpeg jpg js jxl m4a m4v map mjs mkv mov mp3 mp4 "
        "mpeg mpg oga ogg ogv opus otf pdf png ppt pptx psd rar svg svgz swf tar tif tiff ttf txt wasm wav webm webmanifest webp "
        "woff woff2 xls xlsx xml zip zst"
    ).split(" ")
)

# Those of them of which pages are made; the others are what people come for.
_PAGE_PARTS = frozenset("avif bmp css eot gif ico jpeg jpg js jxl map mjs otf png svg svgz ttf wasm webmanifest webp woff woff2".split(" "))


def _is_static(path, extensions):
    if path is None or len(path) >= 508 or path.startswith("/.well-known/"):
        return False
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    ambiguous = re.search(r";|%(?:[01][0-9A-F]|23|25|2F|3B|3F|5C|7F|(?![0-9A-F]{2}))", name)
    return dot > 0 and name[dot + 1 :].lower() in extensions and ambiguous is None


# Options


def _check_names(what, given, known):
    if not isinstance(given, dict):
        raise TypeError(f"{what}: expected a dict of options")
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(str(name), known, 1)
            words = ", ".join(f"`{each}`" for each in known)
            raise TypeError(f"{what}: unknown option `{name}`" + (f"; did you mean `{near[0]}`?" if near else f"; expected one of {words}"))


def _check_ms(name, value, least, most):
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
        raise TypeError(f"{name}: expected {least} to {most} ms")
    return value


def _check_word(name, value, words):
    if value not in words:
        near = difflib.get_close_matches(str(value), words, 1)
        listed = ", ".join(f"`{each}`" for each in words)
        raise TypeError(f"{name}: unknown value `{value}`" + (f"; did you mean `{near[0]}`?" if near else f"; expected one of {listed}"))
    return value


def _checked_base(text):
    if not text:
        raise TypeError("base_url: missing; expected verdictd's address, such as http://127.0.0.1:8080")
    try:
        url = urllib.parse.urlsplit(text)
        port = url.port
    except (ValueError, AttributeError, TypeError):
        raise TypeError("base_url: expected an address such as http://127.0.0.1:8080") from None
    if url.scheme not in ("http", "https"):
        raise TypeError("base_url: expected http or https")
    if not url.hostname or re.search(r"[\x00-\x20\x7f]", text):
        raise TypeError("base_url: expected an address such as http://127.0.0.1:8080")
    if "@" in url.netloc or "?" in text or "#" in text:
        raise TypeError("base_url: expected no credentials, query or fragment")
    return url, port or (443 if url.scheme == "https" else 80)


def _checked_key(key):
    """The key is never echoed."""
    if not key:
        raise TypeError("private_key: missing; expected the project's private key (sk_…), often from the environment")
    if isinstance(key, str) and key.startswith("pk_"):
        raise TypeError("private_key: got the site key (pk_…); expected the project's private key (sk_…)")
    if not isinstance(key, str) or not re.fullmatch(r"sk_[A-Za-z0-9_-]{1,125}", key):
        raise TypeError("private_key: expected the project's private key (sk_…)")
    return key


# HTTP: one request, its whole answer within the time limit


class _Answer:
    """Reads one HTTP/1.1 answer from the pieces that it is fed."""

    def __init__(self):
        self.status = 0
        self.headers = {}
        self.text = ""
        self.is_over = False
        self.keeps = False
        self.has_begun = False
        self._data = b""
        self._body = None
        self._left = None

    def feed(self, piece):
        """An empty piece is the end of the connection."""
        self.has_begun = self.has_begun or piece != b""
        self._data += piece
        while self._body is None:
            head, found, rest = self._data.partition(b"\r\n\r\n")
            if not found:
                if len(self._data) > _ANSWER_BYTES_MAX or piece == b"":
                    raise ConnectionError("the connection was closed without an answer")
                return
            self._read_head(head.decode("latin-1"))
            self._data = rest
        self._read_body(piece == b"")

    def _read_head(self, head):
        lines = head.split("\r\n")
        status = re.fullmatch(r"HTTP/1\.[01] ([1-9][0-9]{2})(?: .*)?", lines[0])
        if status is None:
            raise ConnectionError("what answers does not speak HTTP")
        self.status = int(status.group(1))
        if self.status < 200:
            return
        self.headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        self._body = b""
        self._is_chunked = "chunked" in self.headers.get("transfer-encoding", "").lower()
        length = self.headers.get("content-length", "")
        self._left = 0 if self.status in (204, 304) else int(length) if re.fullmatch("[0-9]{1,9}", length) else None
        self.keeps = lines[0].startswith("HTTP/1.1") and "close" not in self.headers.get("connection", "").lower()

    def _read_body(self, is_end):
        if self._is_chunked:
            while not self.is_over:
                line, found, rest = self._data.partition(b"\r\n")
                size = int(line.split(b";")[0], 16) if found else 0
                if not found or len(rest) < size + 2:
                    break
                self._body += rest[:size]
                self._data = rest[size + 2 :]
                self.is_over = size == 0
        else:
            self._body += self._data
            self._data = b""
            self.is_over = self._left is not None and len(self._body) >= self._left
        if len(self._body) + len(self._data) > _ANSWER_BYTES_MAX:
            # No answer of verdictd is longer. Something else may send without end.
            self._body, self.keeps, self.is_over = b"", False, True
        if is_end and not self.is_over:
            if self._left is not None or self._is_chunked:
                raise ConnectionError("the connection was closed within the answer")
            self.is_over, self.keeps = True, False
        if self.is_over:
            self.text = self._body.decode("utf-8", "replace")


class _Timeout(Exception):
    pass


class _Connections:
    """Connections that are kept between requests, for one process."""

    def __init__(self, url, port):
        self._address = (url.hostname, port)
        self._tls = ssl.create_default_context() if url.scheme == "https" else None
        self._free = []
        self._lock = threading.Lock()
        self._pid = os.getpid()

    def send(self, data, timeout_s):
        deadline = time.monotonic() + timeout_s
        sock = self._take()
        while True:
            reused = sock is not None
            answer = _Answer()
            try:
                sock = sock or self._connect(deadline)
                self._exchange(sock, data, answer, deadline)
            except (TimeoutError, socket.timeout, _Timeout) as error:
                self._close(sock)
                raise _Timeout from error
            except Exception:
                self._close(sock)
                if reused and not answer.has_begun:
                    # The other side has closed it at the moment of use, and probably the others: any request of this client may be sent twice.
                    self._drop()
                    sock = None
                    continue
                raise
            if answer.keeps:
                self._give(sock)
            else:
                self._close(sock)
            return answer

    def _connect(self, deadline):
        sock = socket.create_connection(self._address, self._left(deadline))
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._tls is not None:
                sock.settimeout(self._left(deadline))
                sock = self._tls.wrap_socket(sock, server_hostname=self._address[0])
        except BaseException:
            sock.close()
            raise
        return sock

    def _exchange(self, sock, data, answer, deadline):
        sock.settimeout(self._left(deadline))
        sock.sendall(data)
        while not answer.is_over:
            # What has arrived is read first, however busy the program itself was.
            sock.settimeout(max(0.001, deadline - time.monotonic()))
            answer.feed(sock.recv(_ANSWER_BYTES_MAX))

    @staticmethod
    def _left(deadline):
        left = deadline - time.monotonic()
        if left <= 0:
            raise _Timeout
        return left

    @staticmethod
    def _close(sock):
        if sock is not None:
            sock.close()

    def _take(self):
        with self._lock:
            if self._pid != os.getpid():
                # The parent's connections: two processes must not write to one.
                self._free, self._pid = [], os.getpid()
            while self._free:
                sock, until = self._free.pop()
                if time.monotonic() < until:
                    return sock
                sock.close()
        return None

    def _give(self, sock):
        with self._lock:
            if len(self._free) < 256:
                self._free.append((sock, time.monotonic() + _IDLE_S_MAX))
                return
        sock.close()

    def _drop(self):
        with self._lock:
            free, self._free = self._free, []
        for sock, _ in free:
            sock.close()


class _Blocking:
    """How the core waits in threads. Its coroutines never suspend: `_run` runs them to their end."""

    def __init__(self, connections):
        self._connections = connections

    async def send(self, data, timeout_s):
        return self._connections.send(data, timeout_s)

    async def sleep(self, seconds):
        time.sleep(seconds)


class _Async:
    """How the core waits in an event loop. Connections are kept for each loop."""

    def __init__(self, url, port):
        self._address = (url.hostname, port)
        self._tls = ssl.create_default_context() if url.scheme == "https" else None
        self._free = []
        self._loop = None

    async def send(self, data, timeout_s):
        try:
            return await asyncio.wait_for(self._send(data), timeout_s)
        except asyncio.TimeoutError as error:
            raise _Timeout from error

    async def _send(self, data):
        pair = self._take()
        while True:
            reused = pair is not None
            answer = _Answer()
            try:
                if pair is None:
                    pair = await asyncio.open_connection(*self._address, ssl=self._tls)
                reader, writer = pair
                writer.write(data)
                await writer.drain()
                while not answer.is_over:
                    answer.feed(await reader.read(_ANSWER_BYTES_MAX))
            except BaseException as error:
                if pair is not None:
                    pair[1].close()
                if reused and not answer.has_begun and isinstance(error, Exception):
                    for (_, writer), _ in self._free:
                        writer.close()
                    self._free = []
                    pair = None
                    continue
                raise
            if answer.keeps and len(self._free) < 256:
                self._free.append((pair, time.monotonic() + _IDLE_S_MAX))
            else:
                pair[1].close()
            return answer

    def _take(self):
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._free, self._loop = [], loop
        while self._free:
            pair, until = self._free.pop()
            if time.monotonic() < until:
                return pair
            pair[1].close()
        return None

    async def sleep(self, seconds):
        await asyncio.sleep(seconds)


def _run(coroutine):
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    raise RuntimeError("a blocking call was suspended")


# The client


class _Breaker:
    """Stops asking a verdictd that does not answer, so that a dead one costs visitors nothing. One probe at a time finds out whether it is back."""

    def __init__(self, failures_max=5, open_ms=1000, open_ms_max=None):
        self._failures_max, self._first_open_ms = failures_max, open_ms
        self._open_ms_max = max(30000, open_ms) if open_ms_max is None else open_ms_max
        self._open_ms = open_ms
        self._failures = 0
        self._slow_for = set()
        self._open_until_ms = None
        self._lock = threading.Lock()

    def admit(self, now_ms):
        with self._lock:
            if self._open_until_ms is None:
                return "normal"
            if now_ms < self._open_until_ms:
                return None
            self._open_until_ms = now_ms + self._open_ms
            return "probe"

    def succeed(self):
        with self._lock:
            self._failures = 0
            self._slow_for.clear()
            self._open_ms = self._first_open_ms
            self._open_until_ms = None

    def fail(self, went, now_ms, slow_visitor=None):
        """True when this failure opened it. Of one visitor's slow answers only the first in a row counts: a visitor can make his own requests slow."""
        with self._lock:
            if went == "probe":
                self._open_ms = min(2 * self._open_ms, self._open_ms_max)
                self._open_until_ms = now_ms + self._open_ms
                return False
            if slow_visitor is not None:
                if slow_visitor in self._slow_for:
                    return False
                self._slow_for.add(slow_visitor)
            if self._open_until_ms is not None:
                return False
            self._failures += 1
            if self._failures < self._failures_max:
                return False
            self._open_until_ms = now_ms + self._open_ms
            return True


class Verdict:
    """A verdict and what became of the reading. `failed` says why there is none; None for one that verdictd gave."""

    def __init__(self, verdict, score, action, detection_ids, reason, resolved_action, request_id=None, failed=None, session_token=None, others=None):
        self.verdict, self.score, self.action = verdict, score, action
        self.detection_ids, self.reason = detection_ids, reason
        # What verdictd said, in monitor mode too.
        self.resolved_action = resolved_action
        self.request_id, self.failed, self.session_token = request_id, failed, session_token
        # `subject`, `agent`, `signed_agent` and whatever a newer verdictd adds.
        self.others = others or {}

    def __repr__(self):
        return f"Verdict({self.verdict!r}, action={self.action!r}, failed={self.failed!r})"


def _fail_open(failed, request_id=None):
    reason = "No verdict: the visitor has no session yet." if failed is None else f"No verdict: {failed}."
    return Verdict("not_computed", 0, "allow", [], reason, "allow", request_id, failed)


def _is_score(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 99


def _decode_verdict(text, mode, request_id):
    try:
        value = json.loads(text)
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    verdict, score, action, ids, reason = (value.pop(name, None) for name in ("verdict", "score", "action", "detection_ids", "reason"))
    if not isinstance(verdict, str) or not isinstance(reason, str) or not _is_score(score) or action not in _ACTIONS:
        return None
    if not isinstance(ids, list) or not all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in ids):
        return None
    token = value.pop("session_token", None)
    given = token if isinstance(token, str) and _TOKEN.fullmatch(token) else None
    return Verdict(verdict, score, "allow" if mode == "monitor" else action, ids, reason, action, request_id, None, given, value)


def _text(value):
    """Servers hand out header values with a character for each byte."""
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value


def _header_value(text, bytes_max):
    if not isinstance(text, str):
        return ""
    clean = re.sub(r"[\x00-\x1f\x7f]", " ", text[:512])
    return _text(clean).encode("utf-8", "replace")[:bytes_max].decode("latin-1").strip()


def _context_headers(context):
    """Valid and of bounded length, whatever a visitor sent."""
    path = rule_path(context["path"]) if isinstance(context.get("path"), str) else None
    headers = {
        "X-Service-Request-Path": "" if path is None else urllib.parse.quote(path.encode("utf-8", "replace"), safe="!#$%&'()*+,-./:;=?@[]_~|"),
        "X-Service-Request-Method": _header_value(context.get("method"), 20),
        "X-Service-Request-Host": _header_value(context.get("host"), 260),
        "X-Service-Client-IP": _header_value(context.get("ip"), 64),
        "X-Service-Client-UA": _header_value(context.get("user_agent"), 1536),
    }
    return {name: value for name, value in headers.items() if value != ""}


# Words of headers that hold credentials: they must not leave the backend.
_SECRET = re.compile(
    r"(?:^|[-_])(?:x?api-?key|auth|authorization|authentication|bearer|cookie2?|credentials?|csrf|xsrf|csrftoken|jwt|key|passw(?:or)?d|secret|session-?id"
    r"|session|token|[a-z]+(?:token|secret))(?:$|[-_0-9])"
)
_SIGNATURE = ("signature", "signature-input", "signature-agent")
_NEEDED = ("user-agent", "x-forwarded-proto", *_SIGNATURE)


def _json_bytes(text):
    return len(json.dumps(text))


def _judged_body(token, request, issue_token=False, wait_ms=0):
    """Valid JSON below verdictd's 64 KiB, whatever a visitor sent."""
    sent, left, count = {}, 24000, 0

    def add(name, value):
        nonlocal left, count
        if not isinstance(value, str):
            return
        text = _text(value[: 4096 if name in _SIGNATURE else 512])
        size = _json_bytes(name) + _json_bytes(text)
        if size > left or count >= 100:
            return
        left, count = left - size, count + 1
        sent.setdefault(name, []).append(text)

    given = request.get("headers") or []
    given = given.items() if isinstance(given, dict) else given
    lines = [(name.lower(), values if isinstance(values, (list, tuple)) else [values]) for name, values in given if isinstance(name, str)]
    # First what a visitor must not be able to push out with other headers.
    for wanted in _NEEDED:
        for name, values in lines:
            if name == wanted:
                for value in values:
                    add(name, value)
    if "user-agent" not in sent:
        add("user-agent", request.get("user_agent"))
    for name, values in lines:
        if name and name[0] != ":" and len(name) <= 128 and name not in _NEEDED and not _SECRET.search(name):
            for value in values:
                add(name, value)

    def cut(name):
        return request[name][:512] if isinstance(request.get(name), str) else None

    path, target = request.get("path"), request.get("target")
    path = path[:8000] if isinstance(path, str) else None
    if path is not None and _json_bytes(path) > 24000:
        path = path[:4000]
    asked = {"method": cut("method"), "path": path, "host": cut("host"), "ip": cut("ip"), "headers": sent}
    if _is_tellable(target):
        asked["target"] = target
    body = {"session_token": token, "request": {name: value for name, value in asked.items() if value is not None}}
    if issue_token:
        body["issue_token"] = True
    if wait_ms > 0:
        body["wait_ms"] = wait_ms
    return json.dumps(body).encode()


def _is_tellable(target):
    return isinstance(target, str) and len(target) <= 2000 and _json_bytes(target) <= 2000


def _is_token(token):
    return isinstance(token, str) and _TOKEN.fullmatch(token) is not None


def _visitor_of(token, context):
    """What tells visitors apart for the breaker: the address (of IPv6 about the subscriber's part), else the session."""
    ip = context.get("ip")
    if isinstance(ip, str) and ip != "":
        return ":".join(ip.split(":")[:4])
    return token if _is_token(token) else None


_FAILURES = {
    200: ("malformed", "verdictd's answer is not what the API promises: is the address right?"),
    401: ("unauthenticated", "verdictd does not accept the private key"),
    402: ("no_subscription", "verdictd gives no verdicts: the account has no active subscription"),
}


class _Warner:
    """`warnings.warn`, each reason at most once a minute."""

    def __init__(self):
        self._warned_at = {}

    def __call__(self, failure):
        now = time.monotonic()
        if now - self._warned_at.get(failure["reason"], -_WARN_EVERY_S) < _WARN_EVERY_S:
            return
        self._warned_at[failure["reason"]] = now
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.warn(f"{failure['message']} (verdictd: {failure['reason']})", RuntimeWarning, stacklevel=2)


class Client:
    """
    Asks one project's verdictd; shared by all requests and threads. Its calls never raise; a bad option raises `TypeError` at once.

    base_url, private_key; timeout_ms: how long a visitor waits for a verdict at most, 1 to 10000, default 150; logged_in_timeout_ms: default 1000;
    logged_in_retry_ms: pauses before the second, third, … report of a login, default (500, 1500); mode: "enforce" (default) or "monitor", which reads
    verdicts and acts on none; on_error: told of every failure, a dict with reason, message and maybe status, request_id, cause, default: a warning,
    each reason at most once a minute; breaker: failures_max (5), open_ms (1000), open_ms_max (30000); now: the breaker's clock, ms.
    """

    _OPTIONS = ("base_url", "private_key", "timeout_ms", "logged_in_timeout_ms", "logged_in_retry_ms", "mode", "on_error", "breaker", "now")

    def __init__(self, base_url=None, private_key=None, **options):
        _check_names("client", options, self._OPTIONS)
        breaker = options.get("breaker") or {}
        _check_names("breaker", breaker, ("failures_max", "open_ms", "open_ms_max"))
        for name, value in breaker.items():
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
                raise TypeError(f"breaker.{name}: expected a number above 0")
        if breaker.get("open_ms_max", 30000) < breaker.get("open_ms", 1000) and "open_ms_max" in breaker:
            raise TypeError(f"breaker.open_ms_max: expected at least {breaker.get('open_ms', 1000)}, which is open_ms")
        for name in ("on_error", "now"):
            if options.get(name) is not None and not callable(options[name]):
                raise TypeError(f"{name}: expected a function")
        self.mode = _check_word("mode", options.get("mode", "enforce"), ("enforce", "monitor"))
        url, port = _checked_base(base_url)
        self._base = f"{url.scheme}://{url.netloc}{url.path.rstrip('/')}"
        self._prefix = urllib.parse.quote(url.path.rstrip("/"), safe="/%:@!$&'()*+,;=~")
        self._head = f"Host: {url.netloc}\r\nAuthorization: Bearer {_checked_key(private_key)}\r\nUser-Agent: verdictd-python/{__version__}\r\n"
        self._timeout_ms = _check_ms("timeout_ms", options.get("timeout_ms", 150), 1, 10000)
        self._logged_in_timeout_ms = _check_ms("logged_in_timeout_ms", options.get("logged_in_timeout_ms", 1000), 1, 60000)
        retries = options.get("logged_in_retry_ms", (500, 1500))
        if not isinstance(retries, (list, tuple)):
            raise TypeError("logged_in_retry_ms: expected a list of pauses in ms")
        self._logged_in_retry_ms = [_check_ms("logged_in_retry_ms", each, 0, 60000) for each in retries]
        self._on_error = options.get("on_error") or _Warner()
        self._breaker = _Breaker(**breaker)
        self._now = options.get("now") or (lambda: time.monotonic() * 1000)
        self._blocking = _Blocking(_Connections(url, port))
        self._async = _Async(url, port)

    def verdict(self, session_token, context=None):
        """The verdict of a session. `context`: path, method, host, ip, user_agent. Without a well-formed token nothing is asked."""
        return _run(self._verdict(self._blocking, session_token, context or {}))

    def judge(self, session_token, request, issue_token=False, wait_ms=0):
        """The verdict on a request, with or without a session (`POST /v1/verdict`). `request`: a context, and `headers` and maybe `target`."""
        return _run(self._judge(self._blocking, session_token, request or {}, issue_token, wait_ms))

    def challenge_page(self, request, **options):
        """The page of verdictd's own challenge: (status, headers, body), or None where it can't be had."""
        return _run(self._challenge_page(self._blocking, request, options))

    def logged_in(self, session_token):
        """Asserts that the visitor has just logged in: {"ok": True, "asserted_at": …} or {"ok": False, "reason": …}. May take seconds."""
        return _run(self._logged_in(self._blocking, session_token))

    async def averdict(self, session_token, context=None):
        """`verdict` in an event loop."""
        return await self._verdict(self._async, session_token, context or {})

    async def ajudge(self, session_token, request, issue_token=False, wait_ms=0):
        """`judge` in an event loop."""
        return await self._judge(self._async, session_token, request or {}, issue_token, wait_ms)

    async def achallenge_page(self, request, **options):
        """`challenge_page` in an event loop."""
        return await self._challenge_page(self._async, request, options)

    async def alogged_in(self, session_token):
        """`logged_in` in an event loop."""
        return await self._logged_in(self._async, session_token)

    def report(self, reason, message, **more):
        """Tells `on_error`. A broken logger does not break the site."""
        try:
            self._on_error({"reason": reason, "message": message, **more})
        except Exception:
            pass

    async def _verdict(self, io, token, context):
        if not _is_token(token):
            return _fail_open(None)
        return await self._ask(io, lambda: ("GET", f"/v1/sessions/{token}/verdict", _context_headers(context), b""), _visitor_of(token, context), 0)

    async def _judge(self, io, token, request, issue_token, wait_ms):
        waited = min(max(round(wait_ms), 0), _WAIT_MS_MAX) if _is_token(token) and isinstance(wait_ms, (int, float)) and wait_ms == wait_ms else 0
        known = token if _is_token(token) else None
        ask = lambda: ("POST", "/v1/verdict", {"Content-Type": "application/json"}, _judged_body(known, request, issue_token, waited))  # noqa: E731
        return await self._ask(io, ask, _visitor_of(token, request), waited)

    async def _ask(self, io, ask, visitor, waited_ms):
        try:
            question = ask()
        except Exception as cause:
            self.report("hook_threw", "the request could not be read; the visitor was let in", cause=cause)
            return _fail_open("hook_threw")
        read = lambda answer, id: _decode_verdict(answer.text, self.mode, id) if answer.status == 200 else None  # noqa: E731
        return await self._call(io, question, self._timeout_ms + waited_ms, read, _fail_open, visitor)

    async def _challenge_page(self, io, request, options):
        body = {"session_token": None, "request": request, "action": "challenge", **options}

        def read(answer, _id):
            try:
                page = json.loads(answer.text) if answer.status == 200 else None
            except ValueError:
                return None
            if not isinstance(page, dict) or not isinstance(page.get("headers"), dict) or not isinstance(page.get("body"), str):
                return None
            return page.get("status"), [(name, str(value)) for name, value in page["headers"].items()], page["body"]

        question = ("POST", "/v1/challenge-page", {"Content-Type": "application/json"}, json.dumps(body).encode())
        return await self._call(io, question, self._timeout_ms, read, lambda failed: None)

    async def _logged_in(self, io, token):
        if not _is_token(token):
            return {"ok": False, "reason": "no_session"}
        result = await self._assert_logged_in(io, token)
        for pause_ms in self._logged_in_retry_ms:
            if result["ok"] or result["reason"] not in ("unknown_session", "timeout", "network", "bad_status"):
                break
            await io.sleep(pause_ms / 1000)
            result = await self._assert_logged_in(io, token)
        if not result["ok"] and result["reason"] == "unknown_session":
            self.report("unknown_session", "verdictd does not know the session that logged in", status=404)
        return result

    async def _assert_logged_in(self, io, token):
        def read(answer, _id):
            if answer.status == 404 and '"UNKNOWN_SESSION"' in answer.text:
                return {"ok": False, "reason": "unknown_session"}
            asserted = re.search(r'"asserted_at":"([^"]+)"', answer.text) if answer.status == 200 else None
            return None if asserted is None else {"ok": True, "asserted_at": asserted.group(1)}

        question = ("POST", f"/v1/sessions/{token}/logged-in", {}, b"")
        return await self._call(io, question, self._logged_in_timeout_ms, read, lambda failed: {"ok": False, "reason": failed})

    async def _call(self, io, question, timeout_ms, read, failed, visitor=None):
        """One request through the breaker. `read` gives None for an answer that is of no use."""
        went = self._breaker.admit(self._now())
        if went is None:
            return failed("circuit_open")
        method, path, headers, body = question
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        length = f"Content-Length: {len(body)}\r\n" if method == "POST" else ""
        data = f"{method} {self._prefix}{path} HTTP/1.1\r\n{self._head}{lines}{length}\r\n".encode("latin-1") + body
        status, more = None, {}
        try:
            answer = await io.send(data, timeout_ms / 1000)
            status, id = answer.status, answer.headers.get("x-request-id")
            value = read(answer, id)
            if value is not None:
                self._breaker.succeed()
                return value
            reason, message = _FAILURES.get(status, ("bad_status", f"verdictd answered with status {status}"))
            more = {"status": status, **({} if id is None else {"request_id": id})}
        except _Timeout as cause:
            reason, message, more = "timeout", f"verdictd gave no answer within {timeout_ms:g} ms", {"cause": cause}
        except Exception as cause:
            code = f" ({cause})" if str(cause) else ""
            reason, message, more = "network", f"verdictd could not be reached at {self._base}{code}", {"cause": cause}
        self.report(reason, message, **more)
        if status not in _REFUSALS and self._breaker.fail(went, self._now(), visitor if reason == "timeout" else None):
            self.report("circuit_open", "verdictd is left alone for a while; visitors are allowed")
        return failed(reason)


# Pages


# In English here; verdictd gives this file out with all the languages of its own pages.
_BUILT_IN = json.loads(r"""{"style":":root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:15vh auto;padding:0 1rem;overflow-wrap:anywhere}code{user-select:all}","policy":"default-src 'none'; style-src 'sha256-O7ULQecj8dvh6R4CuKG8LlK7Wc23W+KS/mxlc0LcKp4='; base-uri 'none'; form-action 'none'; frame-ancestors 'none'","texts":{"en":{"block":{"title":"Access denied","message":"This request looks automated, so it was not let through.","contact":"If you think this is a mistake, contact the site's support and give them the reference below."},"challenge":{"title":"Please confirm that you are a person","message":"This request may be automated, and this page could not confirm otherwise.","contact":"Reload the page to try again. If that does not help, give the site's support the reference below."},"reference":"Reference:"}}}""")
_CODES = {"block": "REQUEST_BLOCKED", "challenge": "CHALLENGE_REQUIRED"}


def _escape(text):
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#39;")):
        text = text.replace(character, entity)
    return text


def _page_language(accept_language):
    best, best_quality = "en", 0.0
    for item in accept_language[:512].split(",")[:20]:
        language, *parameters = item.strip().lower().split(";")
        language = language.split("-")[0].strip()
        weights = (re.fullmatch(r"\s*q=([01](?:\.[0-9]{0,3})?)\s*", each) for each in parameters)
        quality = next((float(weight[1]) for weight in weights if weight), 1.0)
        if language in _BUILT_IN["texts"] and quality > best_quality:
            best, best_quality = language, quality
    return best


def _denial(kind, verdict_id, accept, pages, site="", accept_language=""):
    """(status, headers, body) for a visitor who is refused: a page for browsers, else JSON; nothing that would help a bot."""
    is_page = "text/html" in accept
    given = {name: text for name, text in (pages.get(kind) or {}).items() if text is not None}
    # Programs read English, and words of the site's own stand among no other language.
    language = _page_language(accept_language) if is_page and not given else "en"
    texts = {**_BUILT_IN["texts"][language][kind], **given}
    id = verdict_id if re.fullmatch(r"[A-Za-z0-9_-]{1,128}", verdict_id) else ""
    headers = [
        ("Content-Type", "text/html; charset=utf-8" if is_page else "application/json; charset=utf-8"),
        ("Cache-Control", "no-store"),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("Content-Security-Policy", pages.get("content_security_policy", _BUILT_IN["policy"])),
    ]
    if kind == "challenge":
        headers.append(("X-Verdict-Action", "challenge"))
    if id != "":
        headers.append(("X-Verdict-Id", id))
    if not is_page:
        body = {"error": texts["title"], "message": texts["message"], "code": _CODES[kind], **({"verdict_id": id} if id else {})}
        return 403, headers, json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    try:
        own = pages["render"]({"kind": kind, "verdict_id": id}) if pages.get("render") else None
    except Exception:
        own = None
    return 403, headers, own if isinstance(own, str) else _page(texts, id, language, site)


def _page(texts, id, language, site):
    reference = f"<p>{_BUILT_IN['texts'][language]['reference']} <code>{_escape(id)}</code></p>\n" if id else ""
    name = f"<p>{_escape(site)}</p>\n" if site else ""
    direction = "rtl" if language == "ar" else "ltr"
    title, message, contact = (_escape(texts[name]) for name in ("title", "message", "contact"))
    return (
        f'<!doctype html>\n<html lang="{language}" dir="{direction}">\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width">\n'
        f'<meta name="robots" content="noindex">\n<title>{title}</title>\n<style>{_BUILT_IN["style"]}</style>\n<main>\n<h1>{title}</h1>\n'
        f"{name}<p>{message}</p>\n<p>{contact}</p>\n{reference}</main>\n</html>\n"
    )


def _check_pages(pages):
    _check_names("pages", pages, ("block", "challenge", "render", "content_security_policy"))
    for kind in ("block", "challenge"):
        _check_names(f"pages.{kind}", pages.get(kind) or {}, ("title", "message", "contact"))
        for name, value in (pages.get(kind) or {}).items():
            if not isinstance(value, str):
                raise TypeError(f"pages.{kind}.{name}: expected a string")
    if pages.get("render") is not None and not callable(pages["render"]):
        raise TypeError("pages.render: expected a function")


# What the middlewares share


class Visit:
    """What a middleware attaches to a request: `verdict`, `session_token`, `context` (what verdictd was told), `set_cookie`."""

    def __init__(self, client, verdict, session_token=None, context=None, set_cookie=None, purpose=None):
        self._client = client
        self._purpose = purpose
        self.verdict, self.session_token, self.context, self.set_cookie = verdict, session_token, context or {}, set_cookie

    def logged_in(self):
        """Asserts that this visitor has just logged in, in a thread of its own. Returns a `Future`; no need to wait for it."""
        future = Future()
        run = lambda: future.set_result(self._client.logged_in(self.session_token))  # noqa: E731
        threading.Thread(target=run, daemon=True).start()
        return future

    async def alogged_in(self):
        """The same in an event loop."""
        return await self._client.alogged_in(self.session_token)


class _Seen:
    """A request as an adapter shows it. `target`: as it was asked for; `path`: as the application routes it, encoded."""

    def __init__(self, target, path, method, host, ip, headers, is_secure):
        self.target, self.path, self.method, self.host, self.ip = target, path, method, host, ip
        self.headers, self.is_secure = headers, is_secure

    def header(self, name):
        """All lines of a name, as a list; the first alone of one that is no list."""
        values = [value for each, value in self.headers if each == name]
        if name in ("cookie", "x-service-session"):
            return ("; " if name == "cookie" else ", ").join(values)
        return values[0] if values else ""


def _token_of(header, cookies, cookie_name):
    for sent in header.split(","):
        if _TOKEN.fullmatch(sent.strip()):
            return sent.strip()
    for pair in cookies.split(";"):
        name, equals, value = pair.partition("=")
        if equals and name.strip() == cookie_name:
            value = re.sub(r'^"(.*)"$', r"\1", value.strip())
            if _TOKEN.fullmatch(value):
                return value
    return None


def _routed_path(path, ignores):
    if "path-parameters" in ignores:
        path = re.sub(r";[^/\\]*", "", re.sub(r"[?#].*$", "", path, flags=re.S))
    path = rule_path(path)
    if path is None:
        return None
    if "trailing-slash" in ignores and path != "/":
        path = re.sub(r"/$", "", path)
    return path.lower() if "case" in ignores else path


_NOT_PREFETCHED = (403, [("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store")], "Not loaded in advance.\n")
_DELAYED_MAX = 1000


class _Guard:
    """From a request to a verdict and what to do with it. Nothing here raises; what goes wrong lets the visitor in."""

    OPTIONS = (
        "client", "cookie_name", "cookie_domain", "header_name", "requests", "issue_token", "wait_for_report", "skip_static", "router_ignores",
        "delay_ms", "challenge", "site_key", "script_origin", "path_prefix", "pages", "on_verdict", "client_ip", "skip",
    )  # fmt: skip

    def __init__(self, options):
        for name in ("base_url", "private_key"):
            if name in options:
                raise TypeError(f"verdictd: `{name}` belongs in `client`: client={{'base_url': …, 'private_key': …}}")
        _check_names("verdictd", options, self.OPTIONS)
        client = options.get("client")
        if not isinstance(client, (Client, dict)):
            raise TypeError("client: missing; expected a dict with base_url and private_key, or a Client")
        self.client = client if isinstance(client, Client) else Client(**client)
        for name in ("on_verdict", "client_ip", "skip"):
            if options.get(name) is not None and not callable(options[name]):
                raise TypeError(f"{name}: expected a function")
        for name in ("requests", "issue_token", "skip_static"):
            if not isinstance(options.get(name) or False, bool):
                raise TypeError(f"{name}: expected True or False")
        self.cookie_name = options.get("cookie_name", "service_session")
        if not isinstance(self.cookie_name, str) or not re.fullmatch(r"[A-Za-z0-9_!#$%&'*+.^`|~-]{1,128}", self.cookie_name):
            raise TypeError("cookie_name: expected the name of a cookie")
        self.cookie_domain = options.get("cookie_domain", "")
        self.header_name = options.get("header_name", "X-Service-Session").lower()
        self.requests, self.issue_token = options.get("requests", False), options.get("issue_token", False)
        self.skip_static = options.get("skip_static")
        self.wait = options.get("wait_for_report")
        is_number = isinstance(self.wait, int) and not isinstance(self.wait, bool) and 0 <= self.wait <= _WAIT_MS_MAX
        if self.wait is not None and not callable(self.wait) and not is_number:
            raise TypeError("wait_for_report: expected 0 to 1000 ms, or a function of the request")
        self.ignores = options.get("router_ignores", ())
        words = ("case", "trailing-slash", "path-parameters")
        if isinstance(self.ignores, str) or not all(each in words for each in self.ignores):
            raise TypeError(f"router_ignores: expected a list of {', '.join(words)}")
        self.delay_ms = _check_ms("delay_ms", options.get("delay_ms", 1000), 0, 10000)
        self.challenge = options.get("challenge", "allow")
        if not callable(self.challenge):
            if self.challenge in ("deny", "block", "forbid", "403"):
                raise TypeError(f"challenge: unknown value `{self.challenge}`; did you mean `page`?")
            _check_word("challenge", self.challenge, ("allow", "page", "verdictd"))
        self.page_options = {}
        for option, form, expected in (
            ("site_key", r"pk_[A-Za-z0-9_-]{1,125}", "the project's site key (pk_…), which the challenge page carries"),
            ("script_origin", r"https?://[^/]+/?", "an origin such as https://verdictd.example"),
            ("path_prefix", r"(?:/[A-Za-z0-9._~-]+)*", "a path such as /bots"),
        ):
            value = options.get(option)
            if value is None:
                continue
            if not isinstance(value, str) or not re.fullmatch(form, value):
                raise TypeError(f"{option}: expected {expected}")
            self.page_options[option] = value.rstrip("/")
        self.pages = options.get("pages") or {}
        _check_pages(self.pages)
        self.on_verdict, self.client_ip, self.skip = options.get("on_verdict"), options.get("client_ip"), options.get("skip")
        self._delayed = 0
        self._told_of_challenge = False

    def report_hook(self, message, cause):
        self.client.report("hook_threw", f"{message}; the visitor was let in", cause=cause)

    def skips(self, source):
        """One that raises lets the visitor in."""
        try:
            return self.skip is not None and self._sync("skip", self.skip(source)) is True
        except Exception as cause:
            self.report_hook("skip threw", cause)
            return True

    def _sync(self, name, value):
        if not inspect.isawaitable(value):
            return value
        if inspect.iscoroutine(value):
            value.close()
        self.client.report("hook_threw", f"{name} returned an awaitable, which is not waited for")
        return None

    async def visit(self, io, source, see):
        try:
            seen = see(source)
            if self.client_ip is not None:
                seen.ip = self._sync("client_ip", self.client_ip(source))
            context = {
                "path": _routed_path(seen.path, self.ignores),
                "method": seen.method,
                "host": seen.host,
                "ip": seen.ip,
                # Without one the session's own would count, and so a clearance that was passed with it.
                "user_agent": seen.header("user-agent") or "-",
            }
            context = {name: value for name, value in context.items() if value}
            token = _token_of(seen.header(self.header_name), seen.header("cookie"), self.cookie_name)
            if self._skips_static(seen.method, context.get("path")):
                return Visit(self.client, _fail_open(None), token, context)
            is_preflight = seen.method == "OPTIONS" and seen.header("origin") and seen.header("access-control-request-method")
            if self.requests or self.issue_token or self.wait is not None or (token is not None and is_preflight):
                judged = self._judged(seen, context)
                verdict = await self.client._judge(io, token, judged, self.issue_token, self._wait_ms(source))
            else:
                verdict = await self.client._verdict(io, token, context)
            cookie = None if verdict.session_token is None else self._cookie(verdict.session_token, seen.is_secure)
            purpose = _purpose_of(seen) if verdict.action == "challenge" else None
            visit = Visit(self.client, verdict, token, context, cookie, purpose)
        except Exception as cause:
            self.report_hook("the request could not be read", cause)
            return Visit(self.client, _fail_open("hook_threw"))
        try:
            if self.on_verdict is not None:
                self._sync("on_verdict", self.on_verdict(visit))
        except Exception as cause:
            self.client.report("hook_threw", "on_verdict threw", cause=cause)
        return visit

    def _skips_static(self, method, path):
        if self.skip_static is None:
            return method in ("GET", "HEAD") and _is_static(path, _PAGE_PARTS)
        return self.skip_static and _is_static(path, _STATIC)

    def _judged(self, seen, context):
        # The server's word for it, which knows whom to believe, and not the visitor's.
        headers = [line for line in seen.headers if line[0] != "x-forwarded-proto"]
        if seen.is_secure:
            headers.append(("x-forwarded-proto", "https"))
        target = _text(seen.target)
        if context.get("path") is None or context["path"] == rule_path(target):
            return {**context, "path": target, "headers": headers}
        # A signature covers the path as it was asked for, which is told beside the router's.
        told = headers if _is_tellable(target) else [line for line in headers if not line[0].startswith("signature")]
        return {**context, "target": target, "headers": told}

    def _wait_ms(self, source):
        if not callable(self.wait):
            return self.wait or 0
        try:
            wait_ms = self._sync("wait_for_report", self.wait(source))
            return wait_ms if isinstance(wait_ms, (int, float)) and not isinstance(wait_ms, bool) else 0
        except Exception as cause:
            self.report_hook("wait_for_report threw", cause)
            return 0

    def _cookie(self, token, is_secure):
        is_domain = re.fullmatch(r"\.?[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})*", self.cookie_domain)
        domain = f"; Domain={self.cookie_domain}" if is_domain else ""
        return f"{self.cookie_name}={token}; Path=/; Max-Age=86400; SameSite=Lax{domain}{'; Secure' if is_secure else ''}"

    async def step(self, io, visit, accept, accept_language):
        """None: go on; "challenge": ask the hook; else (status, headers, body). The delay is over by then."""
        action, id = visit.verdict.action, visit.verdict.request_id or ""
        site = visit.context.get("host", "")
        if action == "block":
            return _denial("block", id, accept, self.pages, site, accept_language)
        if action == "delay":
            await self._delay(io)
        if action != "challenge":
            return None
        if visit._purpose == "prefetch" and self.challenge != "allow":
            # Nobody has clicked yet, so there is nobody to challenge: browsers and routers ask again when somebody does.
            return _NOT_PREFETCHED
        if callable(self.challenge):
            return "challenge"
        if self.challenge == "page":
            page = _denial("challenge", id, accept, self.pages, site, accept_language)
        elif self.challenge == "verdictd":
            request = {name: visit.context[name] for name in ("method", "host") if name in visit.context}
            request["headers"] = [["Accept", accept[:512]], ["Accept-Language", accept_language[:512]]]
            options = {**self.page_options, "cookie_name": self.cookie_name, "cookie_domain": self.cookie_domain}
            # Without a page to show, nobody is kept out: the failure was reported.
            page = await self.client._challenge_page(io, request, {**options, **({"verdict_id": id} if id else {})})
            if page is None:
                return None
        else:
            if not self._told_of_challenge:
                self._told_of_challenge = True
                self.client.report("challenge_unhandled", "a rule asks for a challenge, and none is configured: such visitors are let in; set the option `challenge`")
            return None
        status, headers, body = page
        if isinstance(visit._purpose, tuple):
            headers = [*headers, ("X-Action-Redirect", f"{visit._purpose[1]};replace")]
        return status, headers, body

    async def _delay(self, io):
        # Each holds a connection or thread open.
        if self._delayed >= _DELAYED_MAX:
            return
        self._delayed += 1
        try:
            await io.sleep(self.delay_ms / 1000)
        finally:
            self._delayed -= 1


def _purpose_of(seen):
    """What a request is for: a page that nobody has asked for yet, or a script's call that has to name the page to load instead."""
    purpose = seen.header("sec-purpose") or seen.header("purpose") or seen.header("x-moz")
    if re.match(r"prefetch\b", purpose, re.I) or seen.header("next-router-prefetch"):
        return "prefetch"
    if seen.method != "POST" or not seen.header("next-action"):
        return None
    return ("reloads", seen.target.replace(";", "%3B")) if re.fullmatch(r"/(?!/)[\x21-\x7e]{0,2000}", seen.target) else None


def _private(cache_control):
    return cache_control if re.search(r"\bno-store\b", cache_control, re.I) else "private"


def _with_cookie(headers, set_cookie):
    """The answer's headers with the cookie; shared caches must not store it."""
    set_before = ", ".join(value for name, value in headers if name.lower() == "cache-control")
    kept = [line for line in headers if line[0].lower() != "cache-control"]
    return [*kept, ("Set-Cookie", set_cookie), ("Cache-Control", _private(set_before))]


_QUOTED_SAFE = "/:@!$&'()*+,;=~"


class WSGI:
    """
    Middleware for WSGI: `app.wsgi_app = verdictd.WSGI(app.wsgi_app, client={…})` for Flask, `application = verdictd.WSGI(get_wsgi_application(),
    client={…})` for Django. The visit is `environ["verdictd"]` (`request.environ`, Django's `request.META`); None for a request that was skipped.

    client: a Client, or its options as a dict; cookie_name, cookie_domain, header_name; requests: judges requests without a session too; issue_token:
    gives visitors a token with the first page; wait_for_report: 0 to 1000 ms, or a function of environ; skip_static: default parts of pages
    (pictures, styles, scripts, fonts) are not asked about, True: no static resources, False: all are asked about; router_ignores: any of "case",
    "trailing-slash", "path-parameters"; delay_ms: default 1000; challenge: "allow" (default), "page", "verdictd", or a function (environ,
    start_response) that answers, or returns None to let in; site_key, script_origin, path_prefix of the challenge's page, default: as the project has
    them; pages: block and challenge with title, message, contact, a function render, content_security_policy; on_verdict(visit); client_ip(environ):
    default REMOTE_ADDR; skip(environ). A bad option raises `TypeError`.
    """

    def __init__(self, app, **options):
        self._app = app
        self._guard = _Guard(options)

    def __call__(self, environ, start_response):
        guard = self._guard
        if guard.skips(environ):
            environ["verdictd"] = None
            return self._app(environ, start_response)
        io = guard.client._blocking
        visit = _run(guard.visit(io, environ, _seen_environ))
        environ["verdictd"] = visit
        if visit.set_cookie is not None:
            start = start_response
            start_response = lambda status, headers, *info: start(status, _with_cookie(headers, visit.set_cookie), *info)  # noqa: E731
        step = _run(guard.step(io, visit, environ.get("HTTP_ACCEPT", ""), environ.get("HTTP_ACCEPT_LANGUAGE", "")))
        if step == "challenge":
            try:
                answer = guard.challenge(environ, start_response)
                if answer is not None:
                    return answer
            except Exception as cause:
                guard.report_hook("the challenge threw", cause)
        elif step is not None:
            status, headers, body = step
            data = body.encode()
            start_response(f"{status} Forbidden", [*headers, ("Content-Length", str(len(data)))])
            return [] if environ.get("REQUEST_METHOD") == "HEAD" else [data]
        return self._app(environ, start_response)


def _seen_environ(environ):
    # The application routes the decoded path: an encoded slash is one.
    routed = (environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")).encode("latin-1", "replace")
    path = urllib.parse.quote(routed, safe=_QUOTED_SAFE) or "/"
    query = environ.get("QUERY_STRING", "")
    target = environ.get("RAW_URI") or environ.get("REQUEST_URI") or path + (f"?{query}" if query else "")
    headers = [(name[5:].replace("_", "-").lower(), value) for name, value in environ.items() if name.startswith("HTTP_") and isinstance(value, str)]
    headers += [(name.replace("_", "-").lower(), environ[name]) for name in ("CONTENT_TYPE", "CONTENT_LENGTH") if environ.get(name)]
    host = environ.get("HTTP_HOST") or environ.get("SERVER_NAME", "")
    is_secure = environ.get("wsgi.url_scheme") == "https"
    return _Seen(target, path, environ.get("REQUEST_METHOD", ""), host, environ.get("REMOTE_ADDR"), headers, is_secure)


class ASGI:
    """
    Middleware for ASGI: `app.add_middleware(verdictd.ASGI, client={…})` for FastAPI and Starlette, `application = verdictd.ASGI(get_asgi_application(),
    client={…})` for Django. The visit is `scope["verdictd"]` (`request.scope`). Options as `WSGI`; functions get the scope, and `challenge` is an ASGI
    application, which lets in by sending nothing.
    """

    def __init__(self, app, **options):
        self._app = app
        self._guard = _Guard(options)

    async def __call__(self, scope, receive, send):
        guard = self._guard
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        if guard.skips(scope):
            return await self._app({**scope, "verdictd": None}, receive, send)
        io = guard.client._async
        visit = await guard.visit(io, scope, _seen_scope)
        scope = {**scope, "verdictd": visit}
        started = False
        inner = send

        async def send(message):
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                if visit.set_cookie is not None:
                    lines = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in message.get("headers", [])]
                    message = {**message, "headers": _bytes(_with_cookie(lines, visit.set_cookie))}
            await inner(message)

        named = {name.lower(): value.decode("latin-1") for name, value in reversed(list(scope["headers"]))}
        step = await guard.step(io, visit, named.get(b"accept", ""), named.get(b"accept-language", ""))
        if step == "challenge":
            try:
                result = guard.challenge(scope, receive, send)
                if inspect.isawaitable(result):
                    await result
            except Exception as cause:
                guard.report_hook("the challenge threw", cause)
            if started:
                return None
        elif step is not None:
            status, headers, body = step
            data = body.encode()
            await send({"type": "http.response.start", "status": status, "headers": _bytes([*headers, ("Content-Length", str(len(data)))])})
            await send({"type": "http.response.body", "body": b"" if scope.get("method") == "HEAD" else data})
            return None
        return await self._app(scope, receive, send)


def _bytes(headers):
    return [(name.lower().encode("latin-1"), value.encode("latin-1", "replace")) for name, value in headers]


def _seen_scope(scope):
    path = urllib.parse.quote(scope["path"].encode("utf-8", "surrogateescape"), safe=_QUOTED_SAFE) or "/"
    query = scope.get("query_string", b"").decode("latin-1")
    target = (scope.get("raw_path") or path.encode()).decode("latin-1") + (f"?{query}" if query else "")
    headers = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]]
    host = next((value for name, value in headers if name == "host"), "")
    ip = scope["client"][0] if scope.get("client") else None
    return _Seen(target, path, scope["method"], host, ip, headers, scope.get("scheme") == "https")
