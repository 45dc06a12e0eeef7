/** The odd browsers of `odd-browsers/`: used by people, so that none may be called a bot. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { EventPayload } from "../../src/contract/events/events.js";
import type { RequestFacts } from "../../src/contract/evidence/header-facts.js";
import { chromeEnvironment } from "../engines/sessions.js";

interface OddBrowser {
  readonly name: string;
  readonly why: string;
  /** What differs from a plain Chrome's request. */
  readonly facts: Partial<RequestFacts>;
  /** null takes a fact away: the browser does not offer it. */
  readonly environment: Record<string, EventPayload[keyof EventPayload] | null>;
}

const folder = fileURLToPath(new URL("../../../test/detections/odd-browsers", import.meta.url));

export function oddBrowsers(): OddBrowser[] {
  return readdirSync(folder).map((file) => {
    const browser = JSON.parse(readFileSync(join(folder, file), "utf8")) as Omit<OddBrowser, "name">;
    return { ...browser, name: file.replace(".json", "") };
  });
}

/** What its page reports of its environment. */
export function environmentOf({ environment }: OddBrowser): EventPayload {
  const merged = { ...chromeEnvironment, ...environment };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null));
}
