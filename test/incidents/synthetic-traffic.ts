/** Judged requests of people and programs, made up: what the detector's tests and its table of misses and false alarms are fed. */
import { seededRandom } from "../../scripts/live/randomness.js";
import { type JudgedFacts, singleDimensions } from "../../src/contract/traffic/traffic.js";
import { minuteMs } from "../../src/contract/values/durations.js";
import type { BaselineHours, HourOfCounts } from "../../src/incidents/baseline-hours.js";
import type { CountedRequest } from "../../src/incidents/counted-request.js";
import { IncidentDetector, type ProjectMinute } from "../../src/incidents/detector.js";

/** A Monday, midnight. */
export const mondayMs = Date.UTC(2026, 10, 2);

/** Hours in memory. */
function hoursInMemory(): BaselineHours {
  const rows = new Map<string, HourOfCounts>();
  return {
    read: (projectId, hour) => rows.get(`${projectId} ${hour}`),
    write: async (projectId, hour, counts) => {
      rows.set(`${projectId} ${hour}`, counts);
    },
  };
}

/** A request of a program without a session; `values` and the rest replace its own. */
export function programRequest(atMs: number, more: Partial<CountedRequest> = {}): CountedRequest {
  return {
    projectId: 1,
    atMs,
    weight: 1,
    detectionIds: [100101],
    hasSession: false,
    band: "definite",
    action: "allow",
    isByRule: false,
    isLoggedIn: false,
    ...more,
    values: {
      path: "/login",
      host: "shop.example",
      ip: "198.51.100.7",
      network: "198.51.100.0/24",
      asn: "64500",
      country: "NL",
      user_agent_family: "python-requests",
      declared_bot: "python-requests",
      ...more.values,
    },
  };
}

/** A request of a person with a session; `values` and the rest replace its own. */
export function personRequest(atMs: number, random: () => number, more: Partial<CountedRequest> = {}): CountedRequest {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() ** 2 * list.length)]!;
  const network = Math.floor(random() * 4000);
  const prefix = `${20 + (network >> 8)}.${network & 255}.3`;
  return {
    projectId: 1,
    atMs,
    weight: 1,
    detectionIds: [],
    hasSession: true,
    band: "likely_human",
    action: "allow",
    isByRule: false,
    isLoggedIn: random() < 0.2,
    ...more,
    values: {
      path: pick([
        "/",
        "/products/*",
        "/search",
        "/cart",
        "/login",
        "/account",
        "/checkout",
        "/help",
        "/about",
        "/blog/*",
      ]),
      host: "shop.example",
      ip: `${prefix}.${Math.floor(random() * 256)}`,
      network: `${prefix}.0/24`,
      asn: pick(["3320", "3209", "6805", "8881", "12322", "5089", "7922", "701", "6830", "20676"]),
      country: pick(["DE", "FR", "GB", "US"]),
      user_agent_family: pick(["Chrome", "Safari", "Firefox", "Edge"]),
      ...more.values,
    },
  };
}

/** The facts of the verdict that is counted as this request; the rest is as of a request without a session. */
export function judgedFacts(request: CountedRequest): JudgedFacts {
  const { values, isByRule, ...counted } = request;
  return {
    ...counted,
    subject: "request",
    sessionToken: request.hasSession ? "sess_of_somebody" : null,
    score: 0,
    reason: "",
    rule: isByRule ? { id: 1, name: "" } : null,
    values: { ...noValues, ...values },
    impostorOf: "",
    impostorCategory: "",
    verifiedBotCategory: "",
    network: { asn: 0, asName: "", country: "" },
    request: undefined,
    method: "",
    path: values.path ?? "",
    userAgent: "",
  };
}

const noValues = Object.fromEntries(singleDimensions.map((name) => [name, ""])) as JudgedFacts["values"];

/** Runs a detector minute by minute from `fromMs` on. `requestsOf` returns the requests of a minute. */
export async function runMinutes(
  detector: IncidentDetector,
  fromMs: number,
  minutes: number,
  requestsOf: (atMs: number, minute: number) => readonly CountedRequest[],
  onMinute: (outcome: readonly ProjectMinute[], minute: number) => void = () => {},
): Promise<void> {
  for (let minute = 0; minute < minutes; minute++) {
    const atMs = fromMs + minute * minuteMs;
    detector.take(requestsOf(atMs, minute));
    onMinute(await detector.endMinute(atMs + minuteMs), minute);
  }
}

/** A detector whose first minute is `atMs`. */
export function newDetector(
  atMs: number,
  hours: BaselineHours = hoursInMemory(),
  pause: () => void = () => {},
): IncidentDetector {
  return new IncidentDetector({
    hours,
    begin: () => ({ isOver: true, next: async () => pause() }),
    onFailure: (error) => {
      throw error;
    },
    nowMs: atMs,
    random: seededRandom(7),
  });
}
