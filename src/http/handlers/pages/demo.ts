/** `/demo` (with `--demo`): a page with the SDK that shows the visitor's own verdict, read server-side as a customer would. */
import type { Project } from "../../../contract/configuration/entities.js";
import type { VerdictReader } from "../../../verdict/verdict-reader.js";
import { jsonType } from "../../reply.js";
import type { PublicRoute } from "../../route.js";

/** Which project the demo shows, its verdicts and the page. */
interface DemoServices {
  /** The project whose visitors the demo shows; null while there is none with scoring enabled. */
  readonly demoProject: () => Project | null;
  readonly verdicts: VerdictReader;
  /** The page, with `__SITE_KEY__` where the site key goes. */
  readonly html: string;
}

/** Only files of our own; nothing inline, nothing from elsewhere. */
export const pagePolicy = [
  "Content-Security-Policy",
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; " +
    "form-action 'none'; frame-ancestors 'none'",
] as const;

/** `/demo` and `/demo/verdict`, no credential: anybody who has a session's token sees its verdict. */
export function demoRoutes({ demoProject, verdicts, html }: DemoServices): PublicRoute[] {
  return [
    {
      method: "get",
      path: "/demo",
      credential: "none",
      doc: {
        id: "getDemo",
        tag: "service",
        summary: "The demo page (with `--demo`)",
        answers: { 200: { contentType: "text/html" } },
      },
      handle: () => ({
        status: 200,
        contentType: "text/html; charset=utf-8",
        headers: [pagePolicy],
        body: html.replaceAll("__SITE_KEY__", demoProject()?.siteKey ?? ""),
      }),
    },
    {
      method: "get",
      path: "/demo/verdict",
      credential: "none",
      doc: {
        id: "getDemoVerdict",
        tag: "service",
        summary: "The demo visitor's own verdict; an empty object while no project has scoring enabled",
        parameters: [{ in: "query", name: "session", description: "Session token", schema: { type: "string" } }],
        answers: { 200: "DemoVerdictAnswer" },
      },
      handle: async ({ query }) => {
        const project = demoProject();
        const token = query.get("session") ?? "";
        if (project !== null) await verdicts.load(project, token, demoContext);
        return {
          status: 200,
          contentType: jsonType,
          body: project === null ? "{}" : verdicts.read(project, token, demoContext),
        };
      },
    },
  ];
}

const demoContext = { path: "/demo", method: "GET" };
