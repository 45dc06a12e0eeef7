/** A rule as a draft: checked by the server while it is typed, and backtested on the latest sessions before it is saved. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { ListedRuleAnswer } from "../../contract/api-answers.js";
import { type Action, actions } from "../../contract/verdict.js";
import { forgetDraft, storeDraft, storedDraft } from "../credential.js";
import { useDraftBacktest } from "../draft-backtest.js";
import { hashOf, useAddressed } from "../location.js";
import type { AddressedPageProperties } from "../page-properties.js";
import { Card, Fault, Loaded, PageTitle } from "../parts.js";
import { useResource, useTask } from "../resource.js";
import { actionWords } from "../words.js";
import { Backtest } from "./backtest.js";
import { ExpressionField } from "./expression-field.js";
import { Recipes } from "./recipes.js";
import { draftHash, draftIn, emptyDraft, type RuleDraft } from "./rule-draft.js";
import { RuleHitsCard } from "./rule-hits.js";
import { RuleLanguage } from "./rule-language.js";
import { asksBeforeStart, StartDialog } from "./rule-start.js";

interface RuleEditorPageProperties extends AddressedPageProperties {
  /** A rule's id, or "new". */
  readonly item: string;
}

/**
 * What is typed is in the address, and kept as a draft of this tab until it is saved. A rule that is unknown gets a note.
 */
export function RuleEditorPage({ api, project, item, query }: RuleEditorPageProperties) {
  const isNew = item === "new";
  const rules = useResource(() => api.rules(project), [api, project]);
  const [saved, setSaved] = useState<ListedRuleAnswer[] | null>(null);
  // Typing must not be undone by a reading that comes later.
  useEffect(() => {
    if (saved === null && rules.value !== undefined) setSaved(rules.value);
  }, [rules.value]);
  const rule = saved?.find(({ id }) => String(id) === item);
  return (
    <>
      <PageTitle title={isNew ? "New rule" : "Edit rule"} />
      <p>
        <a href={hashOf("rules")}>All rules</a>
      </p>
      <Loaded from={rules}>
        {() =>
          saved === null ? null : !isNew && rule === undefined ? (
            <p class="notice">The project has no such rule: it may have been deleted.</p>
          ) : (
            <Editor api={api} project={project} rule={rule ?? null} rules={saved} query={query} />
          )
        }
      </Loaded>
    </>
  );
}

interface EditorProperties extends AddressedPageProperties {
  /** null: a new one. */
  readonly rule: ListedRuleAnswer | null;
  readonly rules: readonly ListedRuleAnswer[];
}

/** The draft that the address holds, or else that of this tab, or the rule as it is stored; a change of it goes into the first two. */
function useDraft({ project, rule, query }: EditorProperties, item: string) {
  const base = rule === null ? emptyDraft : draftOf(rule);
  const inAddress = draftIn(query, base);
  const [address, setAddress] = useAddressed(draftHash(item, inAddress ?? base, base), (text) => text);
  useEffect(() => {
    const stored = storedDraft<RuleDraft>(project, item);
    if (inAddress === null && stored !== null) setAddress(draftHash(item, stored, base));
  }, []);
  const draft = draftIn(new URLSearchParams(address.split("?")[1]), base) ?? base;
  const change = (part: Partial<RuleDraft>) => {
    const changed = { ...draft, ...part };
    storeDraft(project, item, changed);
    setAddress(draftHash(item, changed, base));
  };
  return [draft, change] as const;
}

function Editor(properties: EditorProperties) {
  const { api, project, rule, rules } = properties;
  const item = rule === null ? "new" : String(rule.id);
  const [draft, change] = useDraft(properties, item);
  const backtest = useDraftBacktest(api, project, draft.expression, draft.action);
  const task = useTask();
  const nameField = useRef<HTMLInputElement>(null);
  const [isAsking, setAsking] = useState(false);
  const starts = draft.isActive && (rule === null || !rule.is_active || rule.action !== draft.action);
  const others = rules.filter(({ id }) => id !== rule?.id);
  const submit = (event: Event) => {
    event.preventDefault();
    if (starts && asksBeforeStart(draft.action, others)) setAsking(true);
    else save();
  };
  const save = () =>
    void task.run(async () => {
      const { name, expression, action, isActive } = draft;
      const body = { name, expression, action, is_active: isActive };
      if (rule !== null) await api.changeRule(project, rule.id, body);
      else {
        const last = Math.max(0, ...rules.map(({ sort_order }) => sort_order));
        await api.createRule(project, { ...body, sort_order: last + 10 });
      }
      forgetDraft(project, item);
      location.hash = hashOf("rules");
    });
  return (
    <div class="editor">
      <div>
        {rule === null && (
          <Recipes
            isOpenAtFirst={draft.name === "" && draft.expression === ""}
            onUse={({ name, expression, action }) => {
              change({ name, expression, action, isActive: false });
              nameField.current?.focus();
            }}
          />
        )}
        <form class="card" onSubmit={submit}>
          <label>
            <span>Name</span>
            <input
              ref={nameField}
              required
              maxLength={255}
              value={draft.name}
              autocomplete="off"
              onInput={(event) => change({ name: event.currentTarget.value })}
            />
          </label>
          <ExpressionField
            value={draft.expression}
            checked={backtest}
            rows={5}
            isRequired
            use="rule"
            onChange={(expression) => change({ expression })}
          />
          <label>
            <span>Action</span>
            <select value={draft.action} onChange={(event) => change({ action: event.currentTarget.value as Action })}>
              {actions.map((action) => (
                <option key={action} value={action}>
                  {actionWords[action]}
                </option>
              ))}
            </select>
          </label>
          <label class="check">
            <input
              type="checkbox"
              checked={draft.isActive}
              onChange={(event) => change({ isActive: event.currentTarget.checked })}
            />
            Active
          </label>
          {rule === null && <p class="dim">A new rule is evaluated after all others until you move it.</p>}
          {!isAsking && <Fault of={task.fault} />}
          <p class="buttons">
            <a class="button" href={hashOf("rules")} onClick={() => forgetDraft(project, item)}>
              Cancel
            </a>
            <button type="submit" class="primary" aria-disabled={task.isRunning}>
              Save rule
            </button>
          </p>
        </form>
        <RuleLanguage />
        {isAsking && (
          <StartDialog
            api={api}
            project={project}
            rule={draft}
            yes="Save and activate it"
            isBusy={task.isRunning}
            fault={task.fault}
            onYes={save}
            onNo={() => setAsking(false)}
          />
        )}
      </div>
      <div>
        {rule !== null && (
          <RuleHitsCard api={api} project={project} rule={rule.id} isChallenge={rule.action === "challenge"} />
        )}
        <Card title="What it would have done">
          <Backtest backtest={backtest} expression={draft.expression} action={draft.action} />
        </Card>
      </div>
    </div>
  );
}

function draftOf(rule: ListedRuleAnswer): RuleDraft {
  return { name: rule.name, expression: rule.expression_source, action: rule.action, isActive: rule.is_active };
}
