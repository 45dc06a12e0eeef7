/** What the application behind a proxy answers: what it was asked. */
import type { IncomingHttpHeaders } from "node:http";

export interface Echo {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}
