/** A rule as a draft: checked by the server while it is typed, and backtested on the latest sessions before it is saved. */
import { useEffect, useId, useState } from "preact/hooks";
import type { ListedRuleAnswer, RuleTestAnswer } from "../../contract/api-answers.js";
import { type Action, actions } from "../../contract/verdict.js";
import { fields } from "../../rules/fields.js";
import { type Api, ApiFault, messageOf } from "../api.js";
import type { ProjectPageProperties } from "../app.js";
import { forgetDraft, storeDraft, storedDraft } from "../credential.js";
import { hashOf } from "../location.js";
import { Card, Fault, Loaded, PageTitle, Table } from "../parts.js";
import { useResource, useTask } from "../resource.js";
import { actionOrder, actionWords, bandOrder, bandWords, count, plural } from "../words.js";

interface Draft {
  readonly name: string;
  readonly expression: string;
  readonly action: Action;
  readonly isActive: boolean;
}

const emptyDraft: Draft = { name: "", expression: "", action: "log", isActive: false };

export function RuleEditorPage({ api, project, item }: ProjectPageProperties & { readonly item: string }) {
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
            <Editor api={api} project={project} rule={rule ?? null} rules={saved} />
          )
        }
      </Loaded>
    </>
  );
}

interface EditorProperties extends ProjectPageProperties {
  /** null: a new one. */
  readonly rule: ListedRuleAnswer | null;
  readonly rules: readonly ListedRuleAnswer[];
}

function Editor({ api, project, rule, rules }: EditorProperties) {
  const item = rule === null ? "new" : String(rule.id);
  const [draft, setDraft] = useState<Draft>(
    () => storedDraft<Draft>(project, item) ?? (rule === null ? emptyDraft : draftOf(rule)),
  );
  // Kept, so that one can look at a session and come back.
  const change = (part: Partial<Draft>) => {
    const changed = { ...draft, ...part };
    storeDraft(project, item, changed);
    setDraft(changed);
  };
  const trial = useTrial(api, project, draft.expression, draft.action);
  const task = useTask();
  const save = (event: Event) => {
    event.preventDefault();
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
  };
  return (
    <div class="editor">
      <div>
        <form class="card" onSubmit={save}>
          <label>
            <span>Name</span>
            <input
              required
              maxLength={255}
              value={draft.name}
              autocomplete="off"
              onInput={(event) => change({ name: event.currentTarget.value })}
            />
          </label>
          <Source value={draft.expression} trial={trial} onChange={(expression) => change({ expression })} />
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
          {rule === null && <p class="dim">A new rule is asked after all others until you move it.</p>}
          <Fault of={task.fault} />
          <p class="buttons">
            <a class="button" href={hashOf("rules")} onClick={() => forgetDraft(project, item)}>
              Cancel
            </a>
            <button type="submit" class="primary" aria-disabled={task.isRunning}>
              Save rule
            </button>
          </p>
        </form>
        <Language />
      </div>
      <Card title="What it would have done">
        <Replay trial={trial} action={draft.action} />
      </Card>
    </div>
  );
}

function draftOf(rule: ListedRuleAnswer): Draft {
  return { name: rule.name, expression: rule.expression_source, action: rule.action, isActive: rule.is_active };
}

/** What the server says of the draft. */
type Trial =
  | { readonly state: "empty" }
  | { readonly state: "waiting" }
  | { readonly state: "fault"; readonly message: string; readonly line: number | null; readonly column: number }
  | { readonly state: "good"; readonly replay: RuleTestAnswer };

const debounceMs = 300;
/** How long to wait while another backtest of the account is under way: an account has one at a time. */
const busyMs = 1000;
/** What a draft is backtested on: the server's most sessions, so that only a busy site's day is sampled. */
const lastDay = { hours: 24, limit: 10_000 };

function useTrial(api: Api, project: number, expression: string, action: Action): Trial {
  const [trial, setTrial] = useState<Trial>({ state: "empty" });
  useEffect(() => {
    if (expression.trim() === "") {
      setTrial({ state: "empty" });
      return;
    }
    setTrial({ state: "waiting" });
    const abort = new AbortController();
    const ask = async (): Promise<void> => {
      try {
        const replay = await api.testRule(project, { expression, action, ...lastDay }, abort.signal);
        setTrial({ state: "good", replay });
      } catch (error) {
        if (abort.signal.aborted) return;
        if (error instanceof ApiFault && error.status === 409) timer = setTimeout(ask, busyMs);
        else setTrial(faultOf(error));
      }
    };
    let timer = setTimeout(ask, debounceMs);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [api, project, expression, action]);
  return trial;
}

function faultOf(error: unknown): Trial {
  const message = messageOf(error).replace(/^expression: /, "");
  const place = error instanceof ApiFault && error.status === 422 ? /^line (\d+), column (\d+): /.exec(message) : null;
  return place === null
    ? { state: "fault", message, line: null, column: 0 }
    : { state: "fault", message, line: Number(place[1]), column: Number(place[2]) };
}

function Source(properties: {
  readonly value: string;
  readonly trial: Trial;
  readonly onChange: (value: string) => void;
}) {
  const { value, trial, onChange } = properties;
  const id = useId();
  const isFaulty = trial.state === "fault";
  return (
    <div class="field">
      <label for={id}>Expression</label>
      <textarea
        id={id}
        class="code"
        rows={5}
        required
        maxLength={2000}
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        value={value}
        aria-invalid={isFaulty}
        aria-describedby={`${id}-state`}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      <div id={`${id}-state`} class={isFaulty ? "fault" : "said"} role="status">
        {trial.state === "waiting" && "Checking…"}
        {trial.state === "good" && "The expression is good."}
        {isFaulty && capital(trial.message)}
      </div>
      {isFaulty && trial.line !== null && <Pointer source={value} line={trial.line} column={trial.column} />}
    </div>
  );
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The faulty line with a mark under the place. */
function Pointer({
  source,
  line,
  column,
}: {
  readonly source: string;
  readonly line: number;
  readonly column: number;
}) {
  const characters = [...(source.split(/\r\n|\r|\n/)[line - 1] ?? "")];
  const from = Math.max(0, column - 40);
  const shown = characters
    .slice(from, from + 60)
    .join("")
    .replaceAll("\t", " ");
  return (
    <pre class="pointer" aria-hidden="true">
      {`${shown}\n${" ".repeat(column - 1 - from)}▲`}
    </pre>
  );
}

function Replay({ trial, action }: { readonly trial: Trial; readonly action: Action }) {
  if (trial.state === "empty")
    return <p class="dim">Write an expression: it is replayed on the sessions of the last 24 hours as you type.</p>;
  if (trial.state === "waiting") return <p class="dim">Replaying…</p>;
  if (trial.state === "fault") return <p class="dim">Nothing to replay until the expression is right.</p>;
  const { evaluated, is_sample, matched, by_action, by_band, sample } = trial.replay;
  const outcomes = actionOrder.filter((each) => by_action[each] > 0);
  const isSoftened = outcomes.some((each) => each !== action);
  return (
    <>
      <p class="headline" role="status">
        {evaluated === 0
          ? "No session began in the last 24 hours."
          : `Matches ${count(matched)} of the ${plural(evaluated, "session")} ${is_sample ? "sampled from" : "of"} the last 24 hours.`}
      </p>
      {matched > 0 && (
        <>
          <div class="counts">
            <Counts caption="Outcome" rows={outcomes.map((each) => [actionWords[each], by_action[each]])} />
            <Counts
              caption="Band"
              rows={bandOrder.filter((each) => by_band[each] > 0).map((each) => [bandWords[each], by_band[each]])}
            />
          </div>
          {isSoftened && (
            <p class="dim">Some outcomes differ from the action: guards and the logged-in policy come first.</p>
          )}
          <h3>Some of them</h3>
          <ul class="plain">
            {sample.map((token) => (
              <li key={token}>
                <a class="code wrap" href={hashOf("sessions", token)}>
                  {token}
                </a>
              </li>
            ))}
          </ul>
        </>
      )}
      <p class="dim">As if it were the only rule. Nothing is stored by trying.</p>
    </>
  );
}

function Counts({
  caption,
  rows,
}: {
  readonly caption: string;
  readonly rows: readonly (readonly [string, number])[];
}) {
  return (
    <Table
      caption={caption}
      columns={[
        { name: caption, cell: ([name]) => name },
        { name: "Sessions", cell: ([, value]) => count(value), isNumber: true },
      ]}
      rows={rows}
      rowKey={([name]) => name}
      empty="None."
    />
  );
}

function Language() {
  return (
    <details class="card">
      <summary>What a rule can say</summary>
      <p>
        Comparisons joined by <code>AND</code>, <code>OR</code>, <code>NOT</code> and parentheses. Operators:{" "}
        <code>==</code> <code>!=</code> <code>&lt;</code> <code>&lt;=</code> <code>&gt;</code> <code>&gt;=</code>{" "}
        <code>contains</code> <code>starts_with</code> <code>ends_with</code> <code>wildcard</code>{" "}
        <code>{"in {…}"}</code>. Text stands in double quotes.
      </p>
      <p>
        <code>{'band == "likely_automated" AND path starts_with "/login"'}</code>
      </p>
      <Table
        caption="Fields of the rule language"
        columns={[
          { name: "Field", cell: (field) => <code>{field.name}</code>, isShort: true },
          { name: "Type", cell: (field) => field.type, isShort: true },
          {
            name: "Meaning",
            cell: (field) => (field.unit === "" ? field.meaning : `${field.meaning} (${field.unit})`),
          },
        ]}
        rows={fields}
        rowKey={(field) => field.name}
        empty=""
      />
    </details>
  );
}
