/** `GET /openapi.json`: the document of the route table it is given, itself included. */
import { openApiDocument } from "../../../contract/api/openapi.js";
import type { PublicRoute, Route } from "../../route.js";

/** `routes` are all the others. The document is made on the first request, in a few milliseconds. */
export function openApiRoute(routes: readonly Route[]): PublicRoute {
  let body: Buffer | undefined;
  const route: PublicRoute = {
    method: "get",
    path: "/openapi.json",
    credential: "none",
    doc: {
      id: "getOpenApi",
      tag: "service",
      summary: "This document",
      answers: { 200: { contentType: "application/json" } },
    },
    handle: () => {
      body ??= Buffer.from(JSON.stringify(openApiDocument([...routes, route])));
      return { status: 200, body, cacheControl: "public, max-age=300" };
    },
  };
  return route;
}
