/** Agents that come as servers of the Model Context Protocol, as desktop assistants and code editors start them. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Display } from "../../display.js";
import type { Box, DrivenPage } from "../../driven-page.js";
import { type ScratchFolder, scratchFolder } from "../../scratch-folder.js";
import {
  type Agent,
  type AgentTool,
  agentArgs,
  chromiumPath,
  environmentOn,
  missingTool,
  programOfTool,
} from "./agent-tools.js";
import { type McpServer, startMcpServer } from "./mcp-client.js";
import { foundIn } from "./snapshots.js";

const closing = (server: McpServer, folder: ScratchFolder) => async () => {
  await server.close();
  await folder.erase();
};

/** The server's pointer by places, and its keys one by one: it has no half of a key. */
function playwrightMcpHand(server: McpServer): DrivenPage {
  const call = async (name: string, args: object = {}) => void (await server.call(`browser_${name}`, args));
  const ask = async (script: string): Promise<unknown> => {
    const answer = await server.call("browser_evaluate", { function: `() => (${script})` });
    const line = /### Result\n(?<value>.*)/.exec(answer)?.groups?.value;
    return line === undefined || line === "undefined" ? undefined : JSON.parse(line);
  };
  const press = (key: string) => call("press_key", { key });
  return {
    raw: null,
    open: (url) => call("navigate", { url }),
    click: (target) => call("click", { element: target, target }),
    run: ask,
    move: (x, y) => call("mouse_move_xy", { x, y }),
    down: () => call("mouse_down"),
    up: () => call("mouse_up"),
    wheel: (deltaY) => call("mouse_wheel", { deltaX: 0, deltaY }),
    type: async (text) => {
      for (const key of text) await press(key);
    },
    keyDown: press,
    keyUp: async () => {},
    box: async (selector) =>
      JSON.parse(
        (await ask(
          `JSON.stringify(document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect())`,
        )) as string,
      ) as Box,
  };
}

async function playwrightMcp(
  switches: readonly string[],
  folder: ScratchFolder,
  env: Record<string, string | undefined>,
): Promise<Agent> {
  const args = ["--output-dir", folder.path, "--caps", "vision", ...switches];
  const server = await startMcpServer(programOfTool("@playwright/mcp", "cli.js"), args, env);
  return {
    open: async (url) => void (await server.call("browser_navigate", { url })),
    click: async (target) => void (await server.call("browser_click", { element: target, target })),
    fill: async (target, text) => void (await server.call("browser_type", { element: target, target, text })),
    look: async () => void (await server.call("browser_snapshot")),
    hand: playwrightMcpHand(server),
    close: closing(server, folder),
  };
}

async function ownPlaywrightMcp(display: Display | null): Promise<Agent> {
  const folder = await scratchFolder();
  const config = join(folder.path, "config.json");
  const launchOptions = { executablePath: chromiumPath, headless: display === null, args: agentArgs };
  writeFileSync(config, JSON.stringify({ browser: { browserName: "chromium", isolated: true, launchOptions } }));
  return playwrightMcp(["--config", config], folder, environmentOn(display));
}

/** `origin`: of the page that is worked in; null for the only one. */
async function chromeDevtoolsMcp(
  args: readonly string[],
  origin: string | null,
  env: Record<string, string | undefined>,
): Promise<Agent> {
  const folder = await scratchFolder();
  const program = programOfTool("chrome-devtools-mcp", "build/src/bin/chrome-devtools-mcp.js");
  const quiet = ["--no-usage-statistics", "--no-performance-crux"];
  const server = await startMcpServer(program, [...quiet, ...args], env);
  try {
    const pages = await server.call("list_pages");
    const line = pages.split("\n").find((each) => /^\d+: /.test(each) && (origin === null || each.includes(origin)));
    const pageId = Number.parseInt(line ?? "", 10);
    if (Number.isNaN(pageId)) throw new Error(`no page of ${origin} among ${pages}`);
    const snapshot = () => server.call("take_snapshot", { pageId });
    const uidOf = async (selector: string) => foundIn(await snapshot(), selector, /uid=(\S+)/);
    return {
      open: async (url) => void (await server.call("navigate_page", { pageId, type: "url", url })),
      click: async (selector) => void (await server.call("click", { pageId, uid: await uidOf(selector) })),
      fill: async (selector, value) => void (await server.call("fill", { pageId, uid: await uidOf(selector), value })),
      look: async () => void (await snapshot()),
      close: closing(server, folder),
    };
  } catch (error) {
    await closing(server, folder)();
    throw error;
  }
}

const endpoint = (port: number) => `http://127.0.0.1:${port}`;

export const mcpAgents: readonly AgentTool[] = [
  {
    name: "@playwright/mcp",
    missing: () => missingTool("@playwright/mcp", "/package.json"),
    modes: ["window", "headless"],
    open: ownPlaywrightMcp,
    attach: async (port) => playwrightMcp(["--cdp-endpoint", endpoint(port)], await scratchFolder(), {}),
  },
  {
    name: "chrome-devtools-mcp",
    missing: () => missingTool("chrome-devtools-mcp", "/package.json"),
    modes: ["window", "headless"],
    open: (display) => {
      const chromeArgs = agentArgs.map((each) => `--chrome-arg=${each}`);
      const mode = display === null ? ["--headless"] : [];
      return chromeDevtoolsMcp(
        ["--isolated", "--executablePath", chromiumPath, ...mode, ...chromeArgs],
        null,
        environmentOn(display),
      );
    },
    attach: (port, origin) => chromeDevtoolsMcp(["--browserUrl", endpoint(port)], origin, {}),
  },
];
