"""The adapter of the Python client, by its middleware for WSGI, or with the argument `asgi` by that for ASGI: see `protocol.ts`."""
import asyncio
import json
import re
import sys
import urllib.parse

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import verdictd  # noqa: E402

IS_ASGI = sys.argv[2:] == ["asgi"]
failures, told, now_ms = [], 0, [1_000_000]
client = middleware = None
loop = asyncio.new_event_loop()


def snake(name):
    return re.sub(r"[A-Z]", lambda each: "_" + each.group().lower(), name)


def snaked(value):
    return {snake(name): snaked(each) for name, each in value.items()} if isinstance(value, dict) else value


def fail():
    raise RuntimeError("a hook of the test")


def create(options, hooks):
    global client, middleware
    options = snaked(options)
    asked = options.pop("client", None)
    if asked is not None:
        client = verdictd.Client(**asked, on_error=lambda failure: failures.append(failure["reason"]), now=lambda: now_ms[0])
        options["client"] = client
    if "skip" in hooks:
        options["skip"] = lambda source: fail() if hooks["skip"] == "throws" else path_of(source).startswith("/private")
    if "clientIp" in hooks:
        options["client_ip"] = lambda source: fail() if hooks["clientIp"] == "throws" else hooks["clientIp"]
    if "waitForReport" in hooks:
        options["wait_for_report"] = lambda source: fail() if hooks["waitForReport"] == "throws" else hooks["waitForReport"]
    if "challenge" in hooks:
        options["challenge"] = (asgi_challenge if IS_ASGI else wsgi_challenge)(hooks["challenge"])
    if "onVerdict" in hooks:
        options["on_verdict"] = lambda visit: count(hooks["onVerdict"])
    middleware = (verdictd.ASGI if IS_ASGI else verdictd.WSGI)(asgi_app if IS_ASGI else wsgi_app, **options)


def count(how):
    global told
    told += 1
    if how == "throws":
        fail()


def path_of(source):
    return source["path"] if IS_ASGI else source["PATH_INFO"]


def wsgi_challenge(how):
    def challenge(environ, start_response):
        if how == "throws":
            fail()
        if how == "passes":
            return None
        start_response("418 I'm a teapot", [])
        return [b"prove it"]

    return challenge


def asgi_challenge(how):
    async def challenge(scope, receive, send):
        if how == "throws":
            fail()
        if how == "own":
            await send({"type": "http.response.start", "status": 418, "headers": []})
            await send({"type": "http.response.body", "body": b"prove it"})

    return challenge


reached = []


def wsgi_app(environ, start_response):
    reached.append(environ["verdictd"])
    start_response("200 OK", [("Cache-Control", "max-age=60"), ("Set-Cookie", "app=1")])
    return [b"ok"]


async def asgi_app(scope, receive, send):
    reached.append(scope["verdictd"])
    await send({"type": "http.response.start", "status": 200, "headers": [(b"cache-control", b"max-age=60"), (b"set-cookie", b"app=1")]})
    await send({"type": "http.response.body", "body": b"ok"})


def routed(target):
    """The path and query as servers hand them over: without scheme and host, decoded."""
    path, _, query = re.sub(r"^[a-z]+://[^/]*", "", target).partition("?")
    return urllib.parse.unquote_to_bytes(path.encode("latin-1")), query


def visit(request):
    reached.clear()
    status, headers, body = (visit_asgi if IS_ASGI else visit_wsgi)(request)
    lines = {}
    for name, value in headers:
        lines.setdefault(name.lower(), []).append(value)
    seen = reached[0] if reached else None
    answer = {"status": status, "headers": lines, "body": body.decode(), "reached": bool(reached), "visit": None, "told": told}
    if seen is not None:
        verdict = seen.verdict
        fields = {name: getattr(verdict, name) for name in ("verdict", "score", "action", "detection_ids", "reason", "failed")}
        fields.update(resolvedAction=verdict.resolved_action, requestId=verdict.request_id, **verdict.others)
        context = {"userAgent" if name == "user_agent" else name: value for name, value in seen.context.items()}
        answer["visit"] = {"verdict": fields, "sessionToken": seen.session_token, "context": context}
    return answer


def visit_wsgi(request):
    path, query = routed(request["target"])
    environ = {
        "REQUEST_METHOD": request["method"], "SCRIPT_NAME": "", "PATH_INFO": path.decode("latin-1"), "QUERY_STRING": query,
        "RAW_URI": request["target"], "REMOTE_ADDR": request["ip"], "SERVER_NAME": "server", "wsgi.url_scheme": "https" if request["secure"] else "http",
    }  # fmt: skip
    for name, value in request["headers"]:
        key = "HTTP_" + name.upper().replace("-", "_")
        environ[key] = value if key not in environ else environ[key] + ("; " if key == "HTTP_COOKIE" else ",") + value
    started = []
    body = b"".join(middleware(environ, lambda status, headers, *info: started.append((status, headers))))
    status, headers = started[-1]
    return int(status[:3]), headers, body


def visit_asgi(request):
    path, query = routed(request["target"])
    scope = {
        "type": "http", "method": request["method"], "path": path.decode("utf-8", "replace"), "raw_path": request["target"].partition("?")[0].encode("latin-1"),
        "query_string": query.encode("latin-1"), "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in request["headers"]],
        "client": (request["ip"], 1), "scheme": "https" if request["secure"] else "http",
    }  # fmt: skip
    sent = []

    async def send(message):
        sent.append(message)

    loop.run_until_complete(middleware(scope, None, send))
    start = sent[0]
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in start["headers"]]
    return start["status"], headers, b"".join(message.get("body", b"") for message in sent[1:])


def obey(command):
    if command["do"] == "visit":
        return visit(command["request"])
    if command["do"] == "loggedIn":
        result = loop.run_until_complete(client.alogged_in(command["token"])) if IS_ASGI else client.logged_in(command["token"])
        return {"loggedIn": {snake_back(name): value for name, value in result.items()}}
    if command["do"] == "advance":
        now_ms[0] += command["ms"]
        return {}
    try:
        create(command["options"], command["hooks"])
        return {}
    except TypeError as error:
        return {"error": str(error)}


def snake_back(name):
    return re.sub(r"_([a-z])", lambda each: each.group(1).upper(), name)


for line in sys.stdin:
    failures.clear()
    told = 0
    print(json.dumps({**obey(json.loads(line)), "failures": list(failures)}), flush=True)
