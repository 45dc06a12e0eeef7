/** Holds the Caddy recipe to what it promises, with the real Caddy. Skipped where Caddy is missing. */
import t from "tap";
import { startCaddy } from "../middleware/proxies.js";
import { checkProxy, missing } from "../middleware/proxy.js";

t.test("caddy", { skip: missing("caddy") ?? false }, (t) => checkProxy(t, startCaddy, { speaksHttp2: true }));
