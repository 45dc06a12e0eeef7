/** Holds the nginx recipe to what it promises, with the real nginx. Skipped where nginx is missing. */
import t from "tap";
import { startNginx } from "../middleware/proxies.js";
import { checkProxy, missing } from "../middleware/proxy.js";

t.test("nginx", { skip: missing("nginx") ?? false }, (t) => checkProxy(t, startNginx, { speaksHttp2: false }));
