/** Moving a rule: the changes sent make the wanted order, and on the way no two rules stand as they neither stood nor shall. */
import fc from "fast-check";
import t from "tap";
import { moved, orderChanges } from "../../src/console/rule-order.js";
import type { ListedRuleAnswer } from "../../src/contract/configuration/rule-answers.js";
import { holds } from "../support/property.js";

type Ordered = Pick<ListedRuleAnswer, "id" | "sort_order">;

const inOrder = (rules: readonly Ordered[]): number[] =>
  [...rules].sort((one, other) => one.sort_order - other.sort_order || one.id - other.id).map(({ id }) => id);

const edge = 2 ** 31 - 1;
const numbers = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.integer({ min: -edge - 1, max: edge }),
  fc.constantFrom(-edge - 1, edge, edge - 1),
);

t.test("any rule can be moved anywhere", async (t) => {
  const cases = fc.record({
    orders: fc.array(numbers, { minLength: 2, maxLength: 12 }),
    from: fc.nat(),
    to: fc.nat(),
  });
  holds(
    t,
    fc.property(cases, ({ orders, from, to }) => {
      const rules = orders.map((sort_order, index) => ({ id: index + 1, sort_order }) as ListedRuleAnswer);
      const before = inOrder(rules);
      const list = before.map((id) => rules.find((rule) => rule.id === id)!);
      const target = to % list.length;
      const wanted = moved(list, from % list.length, target);
      const ids = wanted.map(({ id }) => id);
      const stored = new Map(rules.map((rule) => [rule.id, { ...rule }]));
      const changes = orderChanges(wanted, target);
      const hasRoom = orders.every((order) => Math.abs(order) < edge / 2);
      for (const { id, sort_order } of changes) {
        if (!Number.isInteger(sort_order) || sort_order > edge || sort_order < -edge - 1) return false;
        stored.set(id, { ...stored.get(id)!, sort_order });
        const now = inOrder([...stored.values()]);
        for (const one of now) {
          for (const other of now.slice(now.indexOf(one) + 1)) {
            const stood = before.indexOf(one) < before.indexOf(other);
            const shall = ids.indexOf(one) < ids.indexOf(other);
            if (hasRoom && !stood && !shall) return false;
          }
        }
      }
      return JSON.stringify(inOrder([...stored.values()])) === JSON.stringify(ids);
    }),
    { numRuns: 2000 },
  );
  t.pass("2000 lists");
});

t.test("one change is enough where there is room", async (t) => {
  const rules = [0, 10, 20].map((sort_order, index) => ({ id: index + 1, sort_order }) as ListedRuleAnswer);
  t.same(orderChanges(moved(rules, 2, 1), 1), [{ id: 3, sort_order: 5 }]);
  t.same(orderChanges(moved(rules, 0, 2), 2), [{ id: 1, sort_order: 30 }]);
  t.same(orderChanges(moved(rules, 1, 0), 0), [{ id: 2, sort_order: -10 }]);
});
