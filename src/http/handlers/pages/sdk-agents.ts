/** `/sdk-agents.js`: the SDK's file that looks for agents' marks, with the marks in force at its end. */
import { type AgentMarkCatalogue, agentMarkQuestions } from "../../../contract/bots/agent-marks.js";
import type { PublicRoute } from "../../route.js";
import { FileReply, fileHeaders } from "./file-reply.js";

/** `code` is the built file; `read` gives the same object until other marks are imported, and only then is the answer made anew. */
export function sdkAgentsRoute(code: string, read: () => AgentMarkCatalogue): PublicRoute {
  let made: { readonly from: AgentMarkCatalogue; readonly file: FileReply } | null = null;
  return {
    method: "get",
    path: "/sdk-agents.js",
    credential: "none",
    answersHead: true,
    doc: {
      id: "getFileSdkAgentsJs",
      tag: "service",
      summary: "The SDK's file that looks for marks of AI agents, with the marks",
      answers: { 200: { contentType: "text/javascript" } },
    },
    headers: fileHeaders,
    handle: ({ headers: [acceptEncoding = "", ifNoneMatch = ""] }) => {
      const catalogue = read();
      if (made?.from !== catalogue) made = { from: catalogue, file: fileOf(code, catalogue) };
      return made.file.to(acceptEncoding, ifNoneMatch);
    },
  };
}

function fileOf(code: string, { entries }: AgentMarkCatalogue): FileReply {
  const text = `${code}export const marks=${JSON.stringify(agentMarkQuestions(entries))};\n`;
  // Any site may load it, and other marks are there within ten minutes.
  return new FileReply(text, "text/javascript; charset=utf-8", "public, max-age=600", [
    ["Access-Control-Allow-Origin", "*"],
    ["Cross-Origin-Resource-Policy", "cross-origin"],
  ]);
}
