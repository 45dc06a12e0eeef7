/** What a proxy's recipe does with tokens that are handed out before the first report. */
import type { Test } from "tap";
import type { Echo } from "./echo.js";
import type { VerdictdProcess } from "./verdictd-process.js";

/** A visitor without a token is given one with a page, and no cache may store that. */
export async function checkTokens(t: Test, site: string, verdictd: VerdictdProcess): Promise<void> {
  await verdictd.issueTokens(true);
  const page = { Accept: "text/html", "Sec-Fetch-Dest": "document", "Sec-Fetch-Mode": "navigate" };
  const get = (path: string, headers: Record<string, string>) => fetch(site + path, { headers });
  const plain = await get("/ok", page);
  t.match(plain.headers.getSetCookie(), [/^service_session=sess_[\w-]{28}; Path=\/; Max-Age=86400; SameSite=Lax$/]);
  t.equal(plain.headers.get("cache-control"), "private");
  t.notMatch(
    JSON.stringify(((await plain.json()) as Echo).headers),
    "sess_",
    "the application is not told the answer's",
  );
  for (const [set, expected] of [
    ["public, max-age=600", "private"],
    ["no-cache, no-store", "no-cache, no-store"],
  ] as const) {
    const given = await get(`/caching-${set}`, page);
    t.equal(given.headers.get("cache-control"), expected);
    t.equal(given.headers.getSetCookie().length, 1, set);
    const known = await get(`/caching-${set}`, { ...page, Cookie: given.headers.getSetCookie()[0]!.split(";")[0]! });
    t.equal(known.headers.get("cache-control"), set, "an answer without a token is left alone");
    t.same(known.headers.getSetCookie(), []);
  }
  t.equal((await get("/app-404", page)).headers.getSetCookie().length, 1, "an error of the application has it too");
  t.same((await get("/ok", { ...page, "Sec-Purpose": "prefetch" })).headers.getSetCookie(), []);
  t.same((await get("/ok", { "Sec-Fetch-Dest": "image", Accept: "image/*" })).headers.getSetCookie(), []);
  await verdictd.judgeRequests(true);
  for (const [path, status] of [
    ["/block", 403],
    ["/challenge", 403],
  ] as const) {
    const denied = await get(path, page);
    t.equal(denied.status, status, path);
    t.equal(denied.headers.getSetCookie().length, 1, path);
  }
  await verdictd.judgeRequests(false);
  await verdictd.issueTokens(false);
  t.same((await get("/ok", page)).headers.getSetCookie(), []);
}
