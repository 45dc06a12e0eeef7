/** Functions of the customer's that are asynchronous where nobody waits for them: what they reject with ends no process, and is told. */
import { setImmediate as nextTurn } from "node:timers/promises";
import t from "tap";
import type { ClientFailure } from "../../src/client/client.js";
import { createGuard, type FetchOptions } from "../../src/middleware/fetch.js";
import { good, json, site } from "../client/site.js";

t.test("asynchronous hooks that reject are told of, and the verdict holds", async (t) => {
  const { baseUrl, requests } = await site(t, json(good));
  const rejecting = async (): Promise<never> => {
    throw new Error("its database is away");
  };
  const request = new Request("https://shop.example/a", { headers: { Cookie: "service_session=sess_x" } });
  const told = async (hooks: object): Promise<readonly [number | undefined, ClientFailure[]]> => {
    const failures: ClientFailure[] = [];
    const onError = async (failure: ClientFailure): Promise<void> => {
      failures.push(failure);
      return rejecting();
    };
    const client = { baseUrl, privateKey: "sk_test", timeoutMs: 10_000, onError };
    const guard = createGuard({ client, ...hooks } as FetchOptions<Request>);
    const { response } = await guard(request);
    await nextTurn();
    return [response?.status, failures];
  };
  t.match(await told({ onVerdict: rejecting }), [403, [{ reason: "hook_threw", message: "onVerdict threw" }]]);
  const unawaited = (name: string) => ({
    reason: "hook_threw",
    message: `${name} returned a promise, which is not waited for`,
  });
  t.match(await told({ skip: rejecting }), [403, [unawaited("skip")]]);
  t.match(await told({ skip: async () => true }), [403, [unawaited("skip")]], "and nobody is skipped for it");
  requests.length = 0;
  t.match(await told({ clientIp: rejecting }), [403, [unawaited("clientIp")]]);
  t.same(
    requests.map(({ headers }) => headers["x-service-client-ip"]),
    [undefined],
  );
});
