/** Folds a page's report of its environment and its timing into the features. The latest report of a fact counts. */

import type { EventPayload } from "../contract/events/events.js";
import { noHeaders, type RequestFacts, requestFactsOf } from "../contract/evidence/header-facts.js";
import { limits } from "../limits.js";
import { boundedCount } from "./bounded-sums.js";
import { textFields } from "./feature-fields.js";
import { F, newFeatures, type SessionFeatures, setText, T } from "./session-features.js";

type Fact = EventPayload["plugins"];
type Names = EventPayload["languages"];

/** Folds what an event, mostly one of type `env`, reports about the environment. */
export function foldEnvironment(features: SessionFeatures, payload: EventPayload, facts: RequestFacts): void {
  foldNavigator(features, payload, facts);
  foldScreen(features.numbers, payload);
  foldProbes(features, payload);
  foldLateProbes(features, payload);
  foldActs(features.numbers, payload);
}

/** Who comes from a bookmark that runs a script, or from a side panel, comes into the page by its border, px. */
const borderPx = 60;

/** Whether a move of the pointer was well inside the page; its size may not be known yet. */
function isInside(n: readonly number[], { x, y }: EventPayload): boolean {
  if (x === undefined || y === undefined || Math.min(x, y) < borderPx) return false;
  return !(x > n[F.innerW]! - borderPx) && !(y > n[F.innerH]! - borderPx);
}

/** Folds what the SDK's third file counts since its last report. */
function foldActs(n: number[], payload: EventPayload): void {
  n[F.loneActivations]! += boundedCount(payload.lone_activations);
  if (payload.lone_activations !== undefined && isInside(n, payload)) n[F.activeMoves]! += 1;
  n[F.exactClicks]! += boundedCount(payload.exact_clicks);
  n[F.hiddenActs]! += boundedCount(payload.hidden_acts);
  n[F.sharedFocus]! += boundedCount(payload.shared_focus);
  n[F.unpairedKeys]! += boundedCount(payload.unpaired_keys);
  n[F.placedTexts]! += boundedCount(payload.placed_texts);
  n[F.ledTexts]! += boundedCount(payload.led_texts);
  n[F.lateTexts]! += boundedCount(payload.late_texts);
}

function foldNavigator(features: SessionFeatures, payload: EventPayload, facts: RequestFacts): void {
  const n = features.numbers;
  // Proven automation is sticky: no later report removes it.
  setFlag(n, F.webdriver, payload.webdriver === undefined ? undefined : payload.webdriver || n[F.webdriver] === 1);
  setFlag(n, F.uaMobile, payload.ua_mobile);
  if (payload.user_agent !== undefined && payload.user_agent !== "" && facts.userAgent !== "") {
    const differs = payload.user_agent !== facts.userAgent;
    setFlag(n, F.uaDiffers, differs);
    setText(features, T.pageUserAgent, differs ? payload.user_agent : "");
  }
  if (payload.ua_brands !== undefined) foldBrands(n, joined(payload.ua_brands), facts);
  if (payload.platform !== undefined) setText(features, T.platform, payload.platform);
  if (payload.languages !== undefined) foldLanguages(n, payload.languages, facts);
  if (payload.timezone !== undefined) setText(features, T.timezone, payload.timezone);
  setNumber(n, F.tzOffset, payload.tz_offset);
  setNumber(n, F.cpu, payload.cpu);
  setNumber(n, F.memory, payload.memory);
  setNumber(n, F.touchPoints, payload.touch_points);
  if (payload.touch_points! > 0) n[F.touchScreens]! += 1;
  setNumber(n, F.plugins, countOf(payload.plugins));
  setNumber(n, F.rtt, payload.rtt);
}

function foldBrands(n: number[], brands: string, facts: RequestFacts): void {
  setFlag(n, F.headlessBrand, brands.includes("Headless") || facts.secChUa.includes("Headless"));
  const page = /Chromium\/(\d{1,4})/.exec(brands)?.[1];
  const header = /"Chromium";\s?v="(\d{1,4})/.exec(facts.secChUa)?.[1];
  if (page !== undefined && header !== undefined) setFlag(n, F.brandsDiffer, page !== header);
}

function foldLanguages(n: number[], languages: Names & {}, facts: RequestFacts): void {
  const list = joined(languages);
  n[F.languageCount] = list === "" ? 0 : list.split(",").length;
  if (list === "" || facts.acceptLanguage === "" || facts.acceptLanguage === "*") return;
  const primary = list.slice(0, 2).toLowerCase();
  setFlag(n, F.languagesDiffer, !facts.acceptLanguage.toLowerCase().includes(primary));
}

function foldScreen(n: number[], payload: EventPayload): void {
  setNumber(n, F.screenW, payload.screen_w);
  setNumber(n, F.screenH, payload.screen_h);
  setNumber(n, F.availW, payload.avail_w);
  setNumber(n, F.innerW, payload.inner_w);
  setNumber(n, F.innerH, payload.inner_h);
  setNumber(n, F.outerW, payload.outer_w);
  setNumber(n, F.outerH, payload.outer_h);
  setNumber(n, F.dpr, payload.dpr);
  setNumber(n, F.colorDepth, payload.color_depth);
}

function foldProbes(features: SessionFeatures, payload: EventPayload): void {
  const n = features.numbers;
  if (payload.webgl_renderer !== undefined) setText(features, T.webglRenderer, payload.webgl_renderer);
  setFlag(n, F.chromeObject, truth(payload.chrome_object));
  setFlag(n, F.permissionsMismatch, truth(payload.permissions_mismatch));
  setFlag(n, F.stackProbe, truth(payload.stack_probe));
  setNumber(n, F.evalLength, payload.eval_length);
  setNames(features, T.driverArtifacts, payload.driver_artifacts);
  foldAgentMarks(features, payload.agent_marks);
  setNames(features, T.nativeTampered, payload.native_tampered);
  setNames(features, T.iframeMismatch, payload.iframe_mismatch);
  setNames(features, T.workerMismatch, payload.worker_mismatch);
}

/** The first marks that were seen stay, as many as fit; what is no mark is left out. Whose they are is looked up when somebody asks. */
function foldAgentMarks(features: SessionFeatures, marks: Names): void {
  if (marks === undefined) return;
  let kept = features.texts[T.agentMarks]!;
  for (const mark of joined(marks).split(",")) {
    const all = kept === "" ? [] : kept.split(",");
    if (!agentMarkForm.test(mark) || all.includes(mark) || all.length >= limits.agentMarksKept) continue;
    const more = [...all, mark].join(",");
    if (more.length <= agentMarksCharactersMax) kept = more;
  }
  setText(features, T.agentMarks, kept);
}

/** As `agentMarkText` writes one. */
const agentMarkForm = /^(?:element|attribute|global|stylesheet|event):[!-~]{1,80}$/;
const agentMarksCharactersMax = textFields.find(({ name }) => name === "agentMarks")!.charactersMax;

/** Folds the report of the SDK's second file. */
function foldLateProbes(features: SessionFeatures, payload: EventPayload): void {
  const n = features.numbers;
  if (payload.any_pointer !== undefined) {
    n[F.anyPointer] = bitsOf(payload.any_pointer, ["fine", "coarse", "hover"]);
    if (joined(payload.any_pointer).includes("coarse")) n[F.touchScreens]! += 1;
  }
  if (payload.system_fonts !== undefined) n[F.systemFonts] = bitsOf(payload.system_fonts, ["windows", "mac", "linux"]);
  if (payload.ua_platform !== undefined) setText(features, T.uaPlatform, payload.ua_platform);
  if (payload.ua_full_version !== undefined) setText(features, T.uaFullVersion, payload.ua_full_version);
  const hints = [payload.ua_architecture, payload.ua_bitness, payload.ua_full_version];
  if (hints.some((hint) => hint !== undefined)) n[F.hintsEmpty] = hints.filter((hint) => hint === "").length;
}

/** Returns a bit for each word that is among the names, from the lowest. */
function bitsOf(names: Names & {}, words: readonly string[]): number {
  const list = joined(names).split(",");
  return words.reduce((bits, word, position) => bits + (list.includes(word) ? 2 ** position : 0), 0);
}

/** Folds a `timing` event. */
export function foldTiming(n: number[], payload: EventPayload): void {
  setNumber(n, F.rafMean, payload.raf_mean);
}

function setNumber(n: number[], position: number, value: number | undefined): void {
  if (value !== undefined && Number.isFinite(value)) n[position] = value;
}

function setFlag(n: number[], position: number, value: boolean | undefined): void {
  if (value !== undefined) n[position] = value ? 1 : 0;
}

/** Names found by a probe. A bare `true` is stored as "yes". A finding is sticky: a later empty report does not remove it. */
function setNames(features: SessionFeatures, position: number, value: Fact | Names): void {
  if (value === undefined || value === false || value === 0 || value === "") return;
  const names = value === true || typeof value === "number" ? "yes" : joined(value);
  if (names !== "") setText(features, position, names);
}

function joined(value: string | readonly (string | number | boolean)[]): string {
  return typeof value === "string" ? value : value.join(",");
}

/** A count, given as a number, a list, or a comma-separated text. */
function countOf(value: Fact): number | undefined {
  if (value === undefined || typeof value === "number") return value;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "string") return value === "" ? 0 : value.split(",").length;
  return value.length;
}

function truth(value: Fact): boolean | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "string") return value !== "" && value !== "false" && value !== "0";
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

/** Payload keys about the environment, whatever the type of their event: all that `foldEnvironment` reads of a payload without any. */
export const environmentKeys: ReadonlySet<string> = keysRead();

function keysRead(): Set<string> {
  const keys = new Set<string>();
  const payload = new Proxy<EventPayload>({}, { get: (_, key) => void keys.add(String(key)) });
  foldEnvironment(newFeatures(), payload, requestFactsOf(noHeaders, 0, ""));
  return keys;
}
