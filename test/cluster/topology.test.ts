/** How the map of the cluster is read while a node does not answer. */
import t from "tap";
import { clientOf } from "../support/cluster-client.js";
import { noAnswer, slotsOf, startFakeNode } from "../support/fake-node.js";

t.test("a frozen node among those that are asked for the map does not hold it up", async (t) => {
  const addresses: string[] = [];
  const slots = ({ text }: { text: string }) => (text === "CLUSTER SLOTS" ? slotsOf(...addresses) : undefined);
  const nodes = [await startFakeNode(t, slots), await startFakeNode(t, slots), await startFakeNode(t, () => noAnswer)];
  addresses.push(...nodes.map(({ address }) => address));
  const client = clientOf(t, addresses);
  const isOver: string[] = [];
  // As long as a question about the map.
  const question = client.onNode(addresses[2]!, ["PING"], 1000).catch(() => isOver.push("the frozen node's question"));
  await client.ready().then(() => isOver.push("the map"));
  await question;
  t.same(isOver, ["the map", "the frozen node's question"]);
  t.same(client.shards(), [{ master: addresses[0], replicas: addresses.slice(1) }]);
});
