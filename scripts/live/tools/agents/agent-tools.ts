/**
 * Tools by which AI agents and scrapers work in Chromium, each set up as its own documentation says, with the model left out: the verbs are called that a model
 * would call. None is a dependency: `AGENT_TOOLS_PATH` names a folder in which they are installed.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import { missingProgram, programs, quietArgs } from "../../chromium.js";
import type { Display } from "../../display.js";
import type { DrivenPage } from "../../driven-page.js";

/** A tool that does what an agent's model says: looks at a page, opens, clicks, fills in. */
export interface Agent {
  open(url: string): Promise<void>;
  click(selector: string): Promise<void>;
  fill(selector: string, text: string): Promise<void>;
  /** The page as the model gets it. */
  look(): Promise<void>;
  /** Pointer and keys one by one, for who spends an hour on looking like a person; missing where the tool has none. */
  readonly hand?: DrivenPage;
  close(): Promise<void>;
}

/** Of one tool: how it starts a browser of its own, and how it joins one that a person works in; null for what it can't do. */
export interface AgentTool {
  readonly name: string;
  readonly missing: () => string | null;
  /** `display`: null for a browser without a window. */
  readonly open: ((display: Display | null) => Promise<Agent>) | null;
  /** Modes of `open` that the tool's documentation shows. */
  readonly modes: readonly ("headless" | "window")[];
  /** Joins the browser whose debugger listens on this port of loopback; its page is on `origin`. `close` leaves that browser open. */
  readonly attach: ((port: number, origin: string) => Promise<Agent>) | null;
}

/** Starts an agent's browser with these switches too. */
export const agentArgs: readonly string[] = [...quietArgs, "--window-position=0,0"];

const toolsFolder = process.env["AGENT_TOOLS_PATH"];
const here = createRequire(import.meta.url);
const beside = toolsFolder === undefined ? null : createRequire(join(toolsFolder, "package.json"));

/** Loads a package of the tools' folder, or of the project. */
export function loadTool<T>(name: string): T {
  return (beside === null || !canResolve(beside, name) ? here : beside)(name) as T;
}

/** A program of a package in the tools' folder. */
export function programOfTool(packageName: string, path: string): string {
  return join(toolsFolder ?? "", "node_modules", packageName, path);
}

function canResolve(require: NodeJS.Require, name: string): boolean {
  try {
    require.resolve(name);
    return true;
  } catch {
    return false;
  }
}

/** Why a tool can't run; null where it can. `file`: of its package, for those that can't be loaded. */
export function missingTool(name: string, file = ""): string | null {
  const isThere = (beside !== null && canResolve(beside, name + file)) || canResolve(here, name + file);
  return isThere ? missingProgram("chromium") : `package ${name} is not in AGENT_TOOLS_PATH`;
}

/** The environment of a program on a screen. */
export function environmentOn(display: Display | null): Record<string, string | undefined> {
  return { ...process.env, ...(display !== null && { DISPLAY: display.name }) };
}

export const chromiumPath = programs.chromium;

/** A page's verbs that a tool does not have. */
const no = (what: string) => () => Promise.reject(new Error(`an agent has no ${what} of its own`));

/** An agent as the bench of jobs drives it. */
export function agentPage({ open, click, fill, look }: Agent): DrivenPage {
  return {
    raw: null,
    open,
    click,
    fill,
    run: look,
    move: no("move"),
    down: no("press"),
    up: no("release"),
    type: no("typing"),
    keyDown: no("key"),
    keyUp: no("key"),
    wheel: no("wheel"),
    box: no("box"),
  };
}
