/** A real HTTPS server on loopback that serves a key directory, with a certificate of its own authority. */
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Test } from "tap";
import { directoryPath } from "../../../src/bots/signed/agents.js";
import type { FetchParts } from "../../../src/bots/signed/directory-fetch.js";
import { selfSigned } from "../../ops/certificates.js";
import { listening } from "../../support/listening.js";

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

interface DirectoryServer {
  /** What it answers from now on. */
  answer: Answer;
  /** `https://localhost:PORT`. */
  readonly origin: string;
  readonly port: number;
  /** Requests so far, as `METHOD path`. */
  readonly asked: string[];
  /** Lets a fetch trust and reach it: everything else is as in a running server. */
  readonly parts: FetchParts;
}

/** Serves these keys as the draft asks. */
export function keySet(...keys: object[]): Answer {
  return (_, response) => {
    response.setHeader("content-type", "application/http-message-signatures-directory+json");
    response.end(JSON.stringify({ keys }));
  };
}

export async function startDirectory(t: Test, answer: Answer): Promise<DirectoryServer> {
  const pair = selfSigned(t, "directory");
  const ca = readFileSync(pair.certificate, "utf8");
  const asked: string[] = [];
  const server = createServer({ key: readFileSync(pair.key), cert: ca }, (request, response) => {
    asked.push(`${request.method} ${request.url}`);
    if (request.url === directoryPath) directory.answer(request, response);
    else keySet()(request, response);
  });
  await listening(t, server);
  const { port } = server.address() as AddressInfo;
  const isAllowed = (address: string): boolean => address === "127.0.0.1";
  const resolve = async () => [{ address: "127.0.0.1", family: 4 }];
  const directory: DirectoryServer = {
    answer,
    origin: `https://localhost:${port}`,
    port,
    asked,
    parts: { ca, isAllowed, resolve },
  };
  return directory;
}
