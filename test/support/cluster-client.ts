/** A client of the cluster for tests of what it makes of answers, and of errors. */
import type { Test } from "tap";
import { ClusterClient } from "../../src/cluster/cluster-client.js";
import type { ClusterError } from "../../src/cluster/cluster-error.js";
import type { StoreUrl } from "../../src/cluster/store-url.js";

/** A client that knows these nodes; closed with the test. */
export function clientOf(
  t: Pick<Test, "teardown">,
  seeds: readonly string[],
  credentials: Pick<StoreUrl, "user" | "password"> = {},
): ClusterClient {
  const client = new ClusterClient({ url: { isTls: false, seeds, ...credentials } });
  t.teardown(() => client.close());
  return client;
}

/** The error that a call ends with. */
export function failure(call: Promise<unknown>): Promise<ClusterError> {
  return call.then(
    (value) => Promise.reject(new Error(`it was answered: ${value}`)),
    (error) => error,
  );
}
