/** Asks a running proxy, as a visitor would, whether it does what the recipes do. */

/** One thing that was looked at. `isGood` null: it can't be told from outside, and `says` why. */
interface Finding {
  readonly what: string;
  readonly isGood: boolean | null;
  readonly says: string;
}

const answerMs = 5000;
const script = /<script[^>]*\bsrc\s*=\s*["']?[^"'>]*\/sdk\.js/i;

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** What is there and what is missing at a site's address. Rejects when nothing answers there. */
export async function checkSite(address: string): Promise<Finding[]> {
  const ask = async (path: string, init: RequestInit = {}): Promise<Answer> => {
    const signal = AbortSignal.timeout(answerMs);
    const response = await fetch(new URL(path, address), { redirect: "manual", signal, ...init });
    return { status: response.status, headers: response.headers, body: await response.text() };
  };
  const page = await ask("/", {
    headers: { Accept: "text/html", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document" },
  });
  const findings: Finding[] = [];
  for (const file of ["/sdk.js", "/sdk-probes.js", "/sdk-agents.js", "/challenge.js"]) {
    const { status, headers } = await ask(file);
    const isGood = status === 200 && /javascript/.test(headers.get("content-type") ?? "");
    findings.push({
      what: file,
      isGood,
      says: isGood ? "is served" : `is not verdictd's: answered ${status}; pass it on`,
    });
  }
  for (const path of ["/v1/events", "/v1/start-tickets", "/v1/challenges", "/v1/challenges/solution"]) {
    const { status, body } = await ask(path, {
      method: "POST",
      body: "{}",
      headers: { "Content-Type": "application/json" },
    });
    const isGood = status === 401 && body.includes('"UNAUTHENTICATED"');
    findings.push({
      what: path,
      isGood,
      says: isGood ? "reaches verdictd" : `does not reach verdictd: answered ${status}; pass it on`,
    });
  }
  const own = await ask("/v1/forward-auth");
  const account = await ask("/v1/account");
  const isShut =
    !own.headers.has("x-verdict-error") && !(account.status === 401 && account.body.includes('"UNAUTHENTICATED"'));
  findings.push({
    what: "the rest of /v1",
    isGood: isShut,
    says: isShut
      ? "does not reach verdictd"
      : "reaches verdictd, where visitors have no business: pass on the paths above alone",
  });
  const told = ["x-verdict", "x-verdict-score", "x-verdict-agent"].filter((name) => page.headers.has(name));
  findings.push({
    what: "the score",
    isGood: told.length === 0,
    says:
      told.length === 0 ? "is not told to visitors" : `is told to visitors: take ${told.join(", ")} out of the answers`,
  });
  return [...findings, scriptFinding(page), askedFinding(page)];
}

function scriptFinding({ status, headers, body }: Answer): Finding {
  const what = "the script";
  if (status !== 200 || !/text\/html/.test(headers.get("content-type") ?? "")) {
    return { what, isGood: null, says: `can't be looked for: / answered ${status} and no page` };
  }
  return script.test(body)
    ? { what, isGood: true, says: "is in the page at /" }
    : { what, isGood: false, says: "is not in the page at /: add the script tag to its head" };
}

function askedFinding({ headers }: Answer): Finding {
  const what = "verdictd";
  if (headers.has("x-verdict-action") || /=sess_/.test(headers.get("set-cookie") ?? "")) {
    return { what, isGood: true, says: "is asked about /" };
  }
  return {
    what,
    isGood: null,
    says: "may be asked about / or not: nothing in the answer shows it. With the project's setting issue_tokens a first visit gets a cookie",
  };
}
