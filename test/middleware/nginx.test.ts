/** Holds the nginx recipe to what it promises, with the real nginx. Skipped where nginx is missing. */
import t from "tap";
import { startNginx } from "./proxies.js";
import { checkProxy, missing } from "./proxy.js";

t.test("nginx", { skip: missing("nginx") ?? false }, (t) => checkProxy(t, startNginx, { speaksHttp2: false }));
