/** The rules in the order of evaluation: moved by dragging or with the arrow keys, switched on and off, deleted. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ListedRuleAnswer } from "../../contract/configuration/rule-answers.js";
import type { RuleMinutesAnswer } from "../../contract/traffic/stats-answers.js";
import { actions } from "../../contract/verdicts/verdict.js";
import { useAccess } from "../access.js";
import { ChoiceField, choicesOf } from "../fields.js";
import { hashOf, replaceHash } from "../location.js";
import type { AddressedPageProperties, ProjectPageProperties } from "../page-properties.js";
import { ActionBadge, Confirmation, Fault, FreshnessLine, Loaded, PageTitle, RowButton, Time } from "../parts.js";
import { useResource, useTask } from "../resource.js";
import { moved, orderChanges } from "../rule-order.js";
import { actionWords, count, plural } from "../words.js";
import { type ChallengesByRule, challengesByRule, PassRate, PassRateNote } from "./pass-rate.js";
import { type HitsByRule, HitsLine, hitsByRule, hitsRefreshMs } from "./rule-hits.js";
import { ruleNames } from "./rule-link.js";
import { asksBeforeStart, StartDialog } from "./rule-start.js";

/** Rules in a list before a search shows more. */
const shownMax = 50;

/** What the list may be narrowed to: a state, or an action. */
const shownOnly: readonly (readonly [string, string])[] = [
  ["", "All rules"],
  ["active", "Active"],
  ["inactive", "Inactive"],
  ...choicesOf(actionWords, actions),
];

/**
 * Each rule with its hits and the pass rate of its challenges over the last 7 days, read anew after every change. `saved` in the address is the id of
 * the rule that was saved just now: it is scrolled to and marked, once.
 */
export function RulesPage({ api, project, query }: AddressedPageProperties) {
  const [saved] = useState(() => query.get("saved"));
  useEffect(() => {
    if (saved !== null) replaceHash(hashOf("rules"));
  }, []);
  const rules = useResource(() => api.rules(project), [api, project]);
  const challenges = useResource(() => challengesByRule(api, project), [api, project], hitsRefreshMs);
  const hits = useResource(() => hitsByRule(api, project), [api, project], hitsRefreshMs);
  const minutes = useResource(() => api.ruleHits(project), [api, project], hitsRefreshMs);
  const reloadAll = async () =>
    void (await Promise.all([rules.reload(), challenges.reload(), hits.reload(), minutes.reload()]));
  const { mayWrite } = useAccess();
  const both = { ...rules, reload: reloadAll };
  return (
    <>
      <PageTitle title="Rules">
        <FreshnessLine of={both} />
      </PageTitle>
      <p class="dim">
        Evaluated from top to bottom: the first active rule that matches decides. After a match with log, evaluation
        continues.{mayWrite && " Move a rule by its handle, or with the arrow keys on it."}
      </p>
      {mayWrite && (
        <p>
          <a class="button primary" href={hashOf("rules", "new")}>
            New rule
          </a>
        </p>
      )}
      <Fault of={challenges.fault ?? hits.fault} />
      {challenges.value !== undefined && <PassRateNote of={challenges.value} />}
      <Loaded from={rules}>
        {(list) => (
          <RuleList
            api={api}
            project={project}
            rules={list}
            saved={saved}
            challenges={challenges.value}
            hits={hits.value}
            minutes={minutes.value?.data}
            reload={() => rules.reload()}
          />
        )}
      </Loaded>
    </>
  );
}

interface RuleListProperties extends ProjectPageProperties {
  readonly rules: readonly ListedRuleAnswer[];
  /** The id of the rule to scroll to and to mark. */
  readonly saved: string | null;
  /** Undefined until they are read. */
  readonly challenges: ChallengesByRule | undefined;
  readonly hits: HitsByRule | undefined;
  /** The last hour. */
  readonly minutes: RuleMinutesAnswer["data"] | undefined;
  readonly reload: () => Promise<void>;
}

function RuleList({ api, project, rules, saved, challenges, hits, minutes, reload }: RuleListProperties) {
  const [said, setSaid] = useState("");
  const [search, setSearch] = useState("");
  const [only, setOnly] = useState("");
  const savedIndex = rules.findIndex(({ id }) => String(id) === saved);
  const [length, setLength] = useState(shownMax * Math.max(1, Math.ceil((savedIndex + 1) / shownMax)));
  const { mayWrite } = useAccess();
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const isFound = (rule: ListedRuleAnswer) =>
    words.every((word) => textOf(rule).includes(word)) &&
    (only === "" || only === rule.action || only === (rule.is_active ? "active" : "inactive"));
  const isNarrowed = words.length > 0 || only !== "";
  const [deleting, setDeleting] = useState<ListedRuleAnswer | null>(null);
  /** A rule that is asked about before it is switched on. */
  const [starting, setStarting] = useState<ListedRuleAnswer | null>(null);
  const task = useTask();
  const order = useOrder(rules, (wanted, index) =>
    task.run(async () => {
      try {
        for (const { id, sort_order } of orderChanges(wanted, index)) await api.changeRule(project, id, { sort_order });
      } finally {
        await reload();
      }
      setSaid(`${wanted[index]!.name} is now ${index + 1} of ${wanted.length}`);
    }),
  );
  const toggle = async (rule: ListedRuleAnswer) => {
    await api.changeRule(project, rule.id, { is_active: !rule.is_active });
    await reload();
    setSaid(`${rule.name} is ${rule.is_active ? "inactive" : "active"}`);
  };
  const remove = async (rule: ListedRuleAnswer) => {
    await api.removeRule(project, rule.id);
    await reload();
    setSaid(`${rule.name} is deleted`);
  };
  const savedItem = () => order.list.current?.querySelector<HTMLElement>("[data-saved]");
  // Once: a list that is read anew stays where it was scrolled to.
  useLayoutEffect(() => {
    if (savedIndex < 0) return;
    savedItem()?.focus({ preventScroll: true });
    setSaid(`${rules[savedIndex]!.name} is saved, ${savedIndex + 1} of ${rules.length}`);
  }, []);
  const scrolledTo = useRef<number | null>(null);
  // Again when the rules above it grow by what is read later, unless somebody has scrolled: not every browser keeps the place.
  useLayoutEffect(() => {
    if (savedIndex < 0 || (scrolledTo.current !== null && scrolledTo.current !== scrollY)) return;
    savedItem()?.scrollIntoView({ block: "center" });
    scrolledTo.current = scrollY;
  }, [challenges === undefined, hits === undefined, minutes === undefined]);
  const found = order.shown
    .map((rule, index) => [rule, index] as const)
    .filter(([rule]) => !isNarrowed || isFound(rule));
  return (
    <>
      <p class="said" role="status">
        {said}
      </p>
      <Fault of={task.fault} />
      {rules.length === 0 && <p class="dim empty">No rules: every action is allow.</p>}
      {rules.length > 5 && (
        <div class="tools">
          <label class="wide">
            <span>Search name, expression, number</span>
            <input
              type="search"
              value={search}
              spellcheck={false}
              onInput={(event) => setSearch(event.currentTarget.value)}
            />
          </label>
          <ChoiceField label="Only" value={only} options={shownOnly} onChange={setOnly} />
        </div>
      )}
      {isNarrowed && (
        <p class="dim" role="status">
          {plural(found.length, "rule")} of {count(rules.length)}
        </p>
      )}
      <ol class="rules" ref={order.list}>
        {found.slice(0, length).map(([rule, index]) => (
          <li
            key={rule.id}
            class={order.dragged === rule.id ? "dragged" : undefined}
            data-inactive={!rule.is_active}
            data-saved={String(rule.id) === saved || undefined}
            tabIndex={String(rule.id) === saved ? -1 : undefined}
            style={{ order: order.placeOf(rule.id) }}
          >
            {mayWrite && (
              <button
                type="button"
                class="handle"
                data-rule={rule.id}
                aria-label={`Move ${rule.name}, ${index + 1} of ${rules.length}: arrow keys`}
                onPointerDown={(event) => order.grab(event, rule.id)}
                onKeyDown={(event) => {
                  const by = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0;
                  if (by === 0) return;
                  event.preventDefault();
                  if (!task.isRunning) order.move(rule.id, index + by);
                }}
              >
                <span aria-hidden="true">⠿</span>
              </button>
            )}
            <div class="rule">
              <h2>{rule.name}</h2>
              <ActionBadge action={rule.action} />
              {rule.expires_at !== undefined && (
                <span class="dim">
                  {Date.parse(rule.expires_at) <= Date.now() ? "expired" : "expires"} <Time at={rule.expires_at} />
                </span>
              )}
              <code class="source">{rule.expression_source}</code>
              {hits !== undefined && (rule.is_active || hits[rule.id] !== undefined) && (
                <HitsLine hits={hits[rule.id]} rule={rule.id} minutes={minutes} />
              )}
              {challenges !== undefined && (
                <PassRate of={challenges} rule={rule.id} isChallenge={rule.action === "challenge"} />
              )}
            </div>
            <div class="buttons">
              {mayWrite ? (
                <label class="check">
                  <input
                    type="checkbox"
                    role="switch"
                    aria-checked={rule.is_active}
                    checked={rule.is_active}
                    aria-label={`${rule.name} is active`}
                    onChange={(event) => {
                      if (rule.is_active || !asksBeforeStart(rule.action, rules)) {
                        return void task.run(() => toggle(rule));
                      }
                      event.currentTarget.checked = false;
                      setStarting(rule);
                    }}
                  />
                  Active
                </label>
              ) : (
                <span class="dim">{rule.is_active ? "active" : "inactive"}</span>
              )}
              <a
                class="button"
                href={hashOf("rules", rule.id)}
                aria-label={`${mayWrite ? "Edit" : "Open"} ${rule.name}`}
              >
                {mayWrite ? "Edit" : "Open"}
              </a>
              {mayWrite && (
                <RowButton label={`Delete ${rule.name}`} onPress={() => setDeleting(rule)}>
                  Delete
                </RowButton>
              )}
            </div>
          </li>
        ))}
      </ol>
      {found.length > length && (
        <p class="more">
          <span class="dim">
            The first {count(length)} of {count(found.length)}
          </span>
          <button type="button" onClick={() => setLength(length + shownMax)}>
            Show more
          </button>
        </p>
      )}
      {starting !== null && (
        <StartDialog
          api={api}
          project={project}
          rule={{ ...starting, expression: starting.expression_source, sortOrder: starting.sort_order }}
          names={ruleNames(rules)}
          yes="Activate it"
          act={() => task.confirmed(toggle(starting))}
          onClose={() => setStarting(null)}
        />
      )}
      {deleting !== null && (
        <Confirmation
          title="Delete this rule?"
          yes="Delete"
          act={() => task.confirmed(remove(deleting))}
          onClose={() => setDeleting(null)}
        >
          <p>
            <b class="wrap">{deleting.name}</b> stops applying at once. This can’t be undone.
          </p>
        </Confirmation>
      )}
    </>
  );
}

function textOf({ id, name, expression_source, action }: ListedRuleAnswer): string {
  return `${id} ${name} ${expression_source} ${action}`.toLowerCase();
}

/** The order as shown: the server's, or the one under way. `onMoved` gets the wanted order and where the moved rule stands in it. */
function useOrder(
  rules: readonly ListedRuleAnswer[],
  onMoved: (wanted: readonly ListedRuleAnswer[], index: number) => Promise<void>,
) {
  const list = useRef<HTMLOListElement>(null);
  const [draft, setDraft] = useState<readonly ListedRuleAnswer[] | null>(null);
  const [dragged, setDragged] = useState<number | null>(null);
  const held = useRef<number | null>(null);
  // While it is dragged a rule only looks moved (CSS `order`): an element that moves in the document loses its pointer.
  const shown = dragged === null ? (draft ?? rules) : rules;
  const placeOf = (id: number): number => (draft ?? rules).findIndex((rule) => rule.id === id);
  // A moved element loses the focus: give it back, so that one may go on with the arrow keys.
  useEffect(() => {
    if (held.current === null) return;
    list.current?.querySelector<HTMLElement>(`[data-rule="${held.current}"]`)?.focus();
  }, [shown]);
  const settle = (wanted: readonly ListedRuleAnswer[], id: number) => {
    setDraft(wanted);
    void onMoved(
      wanted,
      wanted.findIndex((rule) => rule.id === id),
    ).finally(() => {
      setDraft(null);
      held.current = null;
    });
  };
  const move = (id: number, to: number) => {
    if (to < 0 || to >= rules.length || draft !== null) return;
    held.current = id;
    settle(
      moved(
        rules,
        rules.findIndex((rule) => rule.id === id),
        to,
      ),
      id,
    );
  };
  const grab = (event: PointerEvent, id: number) => {
    if (event.button !== 0 || draft !== null) return;
    const handle = event.currentTarget as HTMLElement;
    handle.setPointerCapture(event.pointerId);
    held.current = id;
    setDragged(id);
    let wanted = rules;
    const follow = ({ clientY }: PointerEvent) => {
      const from = wanted.findIndex((rule) => rule.id === id);
      const to = placeAt(list.current, clientY, from);
      if (to === from) return;
      wanted = moved(wanted, from, to);
      setDraft(wanted);
    };
    const drop = (end: PointerEvent) => {
      for (const name of ["pointermove", "pointerup", "pointercancel"] as const) {
        removeEventListener(name, name === "pointermove" ? follow : drop);
      }
      setDragged(null);
      if (end.type === "pointercancel" || wanted.every((rule, index) => rule.id === rules[index]?.id)) setDraft(null);
      else settle(wanted, id);
    };
    addEventListener("pointermove", follow);
    addEventListener("pointerup", drop);
    addEventListener("pointercancel", drop);
  };
  return { list, shown, placeOf, dragged, move, grab };
}

/** Where among its neighbours the item that lies at `from` belongs when the pointer is at this height. */
function placeAt(list: HTMLElement | null, y: number, from: number): number {
  const items = [...(list?.children ?? [])].map((item) => item.getBoundingClientRect()).sort((a, b) => a.top - b.top);
  const middle = ({ top, height }: DOMRect) => top + height / 2;
  let to = from;
  while (to > 0 && y < middle(items[to - 1]!)) to--;
  while (to < items.length - 1 && y > middle(items[to + 1]!)) to++;
  return to;
}
