/** Reads the header lines of a judged request, within their bounds: from the JSON of `POST /v1/verdict`, or one by one from a proxy's. */
import type { HeaderMemo, JudgedRequest } from "../../../contract/verdicts/judged-request.js";
import { boundedValue } from "../../../ingest/frame.js";
import { limits } from "../../../limits.js";

/** What was trimmed from a request; all false at the start. */
export interface Trimming {
  /** A value was cut. */
  isCut: boolean;
  /** Header lines beyond `limits.requestHeadersMax`. */
  isOver: boolean;
  /** A field or a header of a wrong type, or a value that its field does not allow. */
  isIgnored: boolean;
}

/** Returns an empty trimming, to be marked while a request is read. */
export function untrimmed(): Trimming {
  return { isCut: false, isOver: false, isIgnored: false };
}

/** A line of a request's headers. */
export type HeaderLine = readonly [name: string, value: string];

/** Collects header lines within their bounds. */
class HeaderCollector {
  readonly headers: HeaderLine[] = [];
  /** What HTTP/2 sends among the headers in place of the request line (`:authority`); no header lines. */
  readonly pseudo: HeaderLine[] = [];
  readonly #trimming: Trimming;

  constructor(trimming: Trimming) {
    this.#trimming = trimming;
  }

  /** Keeps the line itself if nothing has to be cut. */
  add(line: HeaderLine): void {
    const headers = line[0].startsWith(":") ? this.pseudo : this.headers;
    if (headers.length >= limits.requestHeadersMax) {
      this.#trimming.isOver = true;
      return;
    }
    const [sentName, sentValue] = line;
    const name = boundedIn(this.#trimming, sentName);
    let value = sentValue;
    if (sentName.length < 9 || !signatureFields.has(sentName.toLowerCase()))
      value = boundedIn(this.#trimming, sentValue);
    else if (sentValue.length > limits.signatureFieldMax) {
      this.#trimming.isCut = true;
      value = sentValue.slice(0, limits.signatureFieldMax);
    }
    headers.push(name === sentName && value === sentValue ? line : [name, value]);
  }
}

/** A value within its bound. */
export function boundedIn(trimming: Trimming, value: string): string {
  if (value.length > limits.contextValueMax) trimming.isCut = true;
  return boundedValue(value);
}

const signatureFields: ReadonlySet<string> = new Set(["signature", "signature-input", "signature-agent"]);

/** Lines within their bounds, without HTTP/2's pseudo headers; what was trimmed is marked. */
export function collected(lines: readonly HeaderLine[], trimming: Trimming): Pick<ToldHeaders, "headers" | "memo"> {
  const collector = new HeaderCollector(trimming);
  for (const line of lines) collector.add(line);
  return { headers: collector.headers };
}

/** The header lines of a question as they were read. Shared by all questions with the same text: do not change it. */
export interface ToldHeaders {
  readonly headers: JudgedRequest["headers"];
  /** A list keeps the visitor's order and case; `null` means that there were none. */
  readonly form: "list" | "object" | null;
  readonly userAgent: string | undefined;
  readonly host: string | undefined;
  /** HTTP/2's name of the host. */
  readonly authority: string | undefined;
  readonly trimming: Readonly<Trimming>;
  /** Present if the same text came before. */
  readonly memo?: HeaderMemo;
}

/** Takes what is told as `headers`, of any type. */
export function toldHeaders(sent: unknown): ToldHeaders {
  const trimming = untrimmed();
  const lines = new HeaderCollector(trimming);
  const form = readHeaders(lines, trimming, sent);
  const { headers, pseudo } = lines;
  return {
    headers,
    form,
    userAgent: firstOf(headers, "user-agent"),
    host: firstOf(headers, "host"),
    authority: firstOf(pseudo, ":authority"),
    trimming,
  };
}

function readHeaders(lines: HeaderCollector, trimming: Trimming, sent: unknown): ToldHeaders["form"] {
  if (Array.isArray(sent)) {
    for (const line of sent) {
      if (isPair(line)) lines.add(line);
      else trimming.isIgnored = true;
    }
    return "list";
  }
  if (typeof sent === "object" && sent !== null) {
    for (const [name, values] of Object.entries(sent)) {
      for (const value of Array.isArray(values) ? values : [values]) {
        if (typeof value === "string" && name !== "") lines.add([name, value]);
        else trimming.isIgnored = true;
      }
    }
    return "object";
  }
  if (sent !== undefined && sent !== null) trimming.isIgnored = true;
  return null;
}

function isPair(line: unknown): line is [string, string] {
  return (
    Array.isArray(line) &&
    line.length === 2 &&
    typeof line[0] === "string" &&
    line[0] !== "" &&
    typeof line[1] === "string"
  );
}

/** The first value of a header that is not empty. */
export function firstOf(headers: JudgedRequest["headers"], name: string): string | undefined {
  for (const [each, value] of headers) {
    if (each.length === name.length && value !== "" && each.toLowerCase() === name) return value;
  }
  return undefined;
}
