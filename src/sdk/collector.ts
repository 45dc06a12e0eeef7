/** What a collector is given. Collectors see the page and record; they never send, and never keep what a person wrote. */
import type { PageHooks } from "./page-hooks.js";
import type { Recorder, Told } from "./recorder.js";

/** What a collector is given. */
export interface Scene extends PageHooks, Recorder {
  readonly told: Told;
  /** Sends all that was seen until now, because what comes next should find it known: a form on its way, another page. */
  report(): void;
  /** Ms since the page was opened at which a person last did something, and what: the input behind what follows. */
  input: { at: number; kind: "wheel" | "touch" | "key" | "pointer" | "none" };
}

/** A collector subscribes to what it needs when it is called. */
export type Collector = (scene: Scene) => void;
