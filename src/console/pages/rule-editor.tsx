/** A rule as a draft: checked by the server while it is typed, and backtested on the latest sessions before it is saved. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { ListedRuleAnswer } from "../../contract/configuration/rule-answers.js";
import { actions } from "../../contract/verdicts/verdict.js";
import { useAccess } from "../access.js";
import { forgetDraft, storeDraft, storedDraft } from "../credential.js";
import { useDraftBacktest } from "../draft-backtest.js";
import { CheckField, ChoiceField, choicesOf } from "../fields.js";
import { hashOf, useAddressed } from "../location.js";
import type { AddressedPageProperties } from "../page-properties.js";
import { Card, Fault, Loaded, PageTitle } from "../parts.js";
import { useResource, useTask } from "../resource.js";
import { placed, triedOrder } from "../rule-place.js";
import { actionWords } from "../words.js";
import { Backtest } from "./backtest.js";
import { ExpressionField } from "./expression-field.js";
import { Recipes } from "./recipes.js";
import { draftHash, draftIn, emptyDraft, type RuleDraft } from "./rule-draft.js";
import { RuleHitsCard } from "./rule-hits.js";
import { RuleLanguage } from "./rule-language.js";
import { ruleNames } from "./rule-link.js";
import { asksBeforeStart, StartDialog } from "./rule-start.js";
import { localMinute, type UntilChoice, UntilField, untilTime } from "./until-field.js";

interface RuleEditorPageProperties extends AddressedPageProperties {
  /** A rule's id, or "new". */
  readonly item: string;
}

/**
 * What is typed is in the address, and kept as a draft of this tab until it is saved. A rule that is unknown gets a note.
 */
export function RuleEditorPage({ api, project, item, query }: RuleEditorPageProperties) {
  const isNew = item === "new";
  const { mayWrite } = useAccess();
  const rules = useResource(() => api.rules(project), [api, project]);
  const [saved, setSaved] = useState<ListedRuleAnswer[] | null>(null);
  // Typing must not be undone by a reading that comes later.
  useEffect(() => {
    if (saved === null && rules.value !== undefined) setSaved(rules.value);
  }, [rules.value]);
  const rule = saved?.find(({ id }) => String(id) === item);
  return (
    <>
      <PageTitle title={isNew ? "New rule" : mayWrite ? "Edit rule" : "Rule"} />
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
  const others = rules.filter(({ id }) => id !== rule?.id);
  const { place = rule === null ? "last" : "stay", until = never } = draft;
  const sortOrder = triedOrder(others, place, rule?.sort_order);
  const names = ruleNames(rules);
  const backtest = useDraftBacktest(api, project, draft.expression, draft.action, sortOrder, rule?.id);
  const { mayWrite } = useAccess();
  const task = useTask();
  const nameField = useRef<HTMLInputElement>(null);
  const [isAsking, setAsking] = useState(false);
  const starts = draft.isActive && (rule === null || !rule.is_active || rule.action !== draft.action);
  const submit = (event: Event) => {
    event.preventDefault();
    if (starts && asksBeforeStart(draft.action, others)) setAsking(true);
    else void task.run(save);
  };
  const save = async () => {
    const { name, expression, action, isActive } = draft;
    const { sort_order, others: moved } = placed(others, place);
    const expires_at = untilTime(until);
    const hasEnd = expires_at !== null || rule?.expires_at !== undefined;
    const body = {
      name,
      expression,
      action,
      is_active: isActive,
      ...(sort_order !== undefined && { sort_order }),
      ...(hasEnd && { expires_at }),
    };
    for (const { id, sort_order: order } of moved) await api.changeRule(project, id, { sort_order: order });
    const { id } = rule === null ? await api.createRule(project, body) : await api.changeRule(project, rule.id, body);
    forgetDraft(project, item);
    location.hash = hashOf("rules", undefined, { saved: String(id) });
  };
  return (
    <div class="editor">
      <div>
        {rule === null && mayWrite && (
          <Recipes
            isOpenAtFirst={draft.name === "" && draft.expression === ""}
            onUse={({ name, expression, action }) => {
              change({ name, expression, action, isActive: false });
              nameField.current?.focus();
            }}
          />
        )}
        <form class="card" onSubmit={submit}>
          {!mayWrite && <p class="dim">You can try an expression and an action here; your role may not save them.</p>}
          <fieldset class="bare" disabled={!mayWrite}>
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
          </fieldset>
          <ExpressionField
            value={draft.expression}
            checked={backtest}
            rows={5}
            isRequired
            use="rule"
            onChange={(expression) => change({ expression })}
          />
          <ChoiceField
            label="Action"
            value={draft.action}
            options={choicesOf(actionWords, actions)}
            onChange={(action) => change({ action })}
          />
          <fieldset class="bare" disabled={!mayWrite}>
            <CheckField label="Active" value={draft.isActive} onChange={(isActive) => change({ isActive })} />
            <label>
              <span>Place: the first rule that matches decides</span>
              <select value={place} onChange={(event) => change({ place: event.currentTarget.value })}>
                {rule !== null && <option value="stay">Here: where it is now</option>}
                <option value="first">First, before all others</option>
                <option value="last">Last, after all others</option>
                {others.slice(1).map(({ id, name }) => (
                  <option key={id} value={`before:${id}`}>
                    Here: before {id} {name}
                  </option>
                ))}
              </select>
            </label>
            <UntilField legend="Expires" hasNever value={until} onChange={(value) => change({ until: value })} />
          </fieldset>
          <Fault of={task.fault} />
          <p class="buttons">
            <a class="button" href={hashOf("rules")} onClick={() => forgetDraft(project, item)}>
              Cancel
            </a>
            {mayWrite && (
              <button type="submit" class="primary" aria-disabled={task.isRunning}>
                Save rule
              </button>
            )}
          </p>
        </form>
        <RuleLanguage />
        {isAsking && (
          <StartDialog
            api={api}
            project={project}
            rule={{ ...draft, sortOrder, id: rule?.id }}
            names={names}
            yes="Save and activate it"
            act={save}
            onClose={() => setAsking(false)}
          />
        )}
      </div>
      <div>
        {rule !== null && (
          <RuleHitsCard api={api} project={project} rule={rule.id} isChallenge={rule.action === "challenge"} />
        )}
        <Card title="What it would have done">
          <Backtest backtest={backtest} expression={draft.expression} action={draft.action} names={names} />
        </Card>
      </div>
    </div>
  );
}

function draftOf(rule: ListedRuleAnswer): RuleDraft {
  const { name, expression_source: expression, action, is_active: isActive, expires_at } = rule;
  const until = expires_at === undefined ? {} : { until: dateOf(expires_at) };
  return { name, expression, action, isActive, ...until };
}

const never: UntilChoice = { choice: "never", date: "" };

function dateOf(iso: string): UntilChoice {
  return { choice: "date", date: localMinute(Date.parse(iso)) };
}
