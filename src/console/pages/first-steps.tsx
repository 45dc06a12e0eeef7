/** The first five minutes of a project: what is done and what comes next, read anew while one works, with snippets that hold the keys. */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { sessionCookieName } from "../../contract/sessions/session-cookie.js";
import type { StatsRow } from "../../contract/traffic/stats-answers.js";
import { useAccess } from "../access.js";
import type { Api } from "../api.js";
import { hashOf } from "../location.js";
import type { ProjectPageProperties } from "../page-properties.js";
import { Card, CopyField, Fault } from "../parts.js";
import { useResource, useTask } from "../resource.js";
import { newRuleHash } from "./rule-draft.js";
import { ofSessions } from "./tiles.js";

const refreshMs = 5000;

interface Progress {
  readonly siteKey: string | null;
  readonly hasScript: boolean;
  readonly hasToken: boolean;
  readonly hasVerdict: boolean;
  readonly hasRule: boolean;
}

async function progressOf(api: Api, project: number): Promise<Progress> {
  const to = new Date();
  const from = new Date(to.getTime() - 30 * 86_400_000);
  const [scoring, sessions, stats, rules] = await Promise.all([
    api.scoring(project),
    api.sessions(project, null),
    api.stats(project, from, "day", new Date(from.getTime() - 86_400_000)),
    api.rules(project),
  ]);
  const total = (of: (row: StatsRow) => readonly number[]) =>
    stats.data.flatMap(of).reduce((sum, value) => sum + value, 0);
  const judged = total((row) => {
    const { not_computed: _, ...bands } = row.verdicts;
    return Object.values(bands);
  });
  return {
    siteKey: scoring.site_key,
    hasScript: sessions.data.length > 0,
    hasToken: total((row) => Object.values(ofSessions(row).actions)) > 0,
    hasVerdict: judged > 0,
    hasRule: rules.some(({ is_active }) => is_active),
  };
}

/** Nothing for a project whose first verdict was there before; once it is shown it stays until all is done. */
export function FirstSteps(
  properties: ProjectPageProperties & { readonly name: string; readonly onEnabled: () => void },
) {
  const { api, project, name, onEnabled } = properties;
  const progress = useResource(() => progressOf(api, project), [api, project], refreshMs);
  const [isNew, setNew] = useState(false);
  const [privateKey, setPrivateKey] = useState<string | null>(null);
  const task = useTask();
  const { mayWrite } = useAccess();
  const { value } = progress;
  useEffect(() => {
    if (value !== undefined && !value.hasVerdict) setNew(true);
  }, [value]);
  if (value === undefined || !isNew) return <Fault of={progress.fault} />;
  const { siteKey, hasScript, hasToken, hasVerdict, hasRule } = value;
  const enable = () =>
    task.run(async () => {
      setPrivateKey((await api.enableScoring(project)).private_key);
      onEnabled();
      await progress.reload();
    });
  const key = privateKey ?? "YOUR_PRIVATE_KEY";
  return (
    <Card title={`The first five minutes of ${name}`} aside={<span class="dim">updated every 5 s</span>}>
      <p>
        {hasVerdict ? "The project has its first verdict." : "The project has no verdict yet: these steps lead to it."}
      </p>
      <ol class="steps">
        <Step name="Keys" isDone={siteKey !== null}>
          <p>A site key for your pages and a private key for your backend. This blocks nobody.</p>
          {mayWrite && (
            <button type="button" class="primary" aria-disabled={task.isRunning} onClick={() => void enable()}>
              Enable scoring
            </button>
          )}
        </Step>
        {privateKey !== null && (
          <li>
            <CopyField label="Your private key, shown only now: store it in your backend" value={privateKey} />
          </li>
        )}
        <Step name="Script seen in a browser" isDone={hasScript}>
          {siteKey !== null && (
            <CopyField
              label="In the head of your pages"
              value={`<script async src="${location.origin}/sdk.js" data-site-key="${siteKey}"></script>`}
            />
          )}
          <p class="dim">
            Then open one of your pages. <a href="/docs/integrate">Single-page applications, consent, own host</a>
          </p>
        </Step>
        <Step name="Token reached your backend" isDone={hasToken}>
          <p>
            The script keeps the token in the cookie <code>{sessionCookieName}</code>. Your backend asks for its
            verdict:
          </p>
          <CopyField
            label="From your backend"
            value={`curl -H "Authorization: Bearer ${key}" "${location.origin}/v1/sessions/TOKEN/verdict?path=/"`}
          />
          <p class="dim">
            Or a <a href="/docs/integrate">middleware, nginx, Caddy</a>, which do it for each request.
          </p>
        </Step>
        <Step name="First verdict" isDone={hasVerdict}>
          <p class="dim">Appears with the first answer about a session that has a score.</p>
        </Step>
        <Step name="First rule, in log mode" isDone={hasRule}>
          <p>
            A rule with the action log stops nobody and shows what it would have matched.{" "}
            <a
              href={newRuleHash({
                name: "Bots, logged",
                expression: "score < 30",
                action: "log",
                isActive: true,
              })}
            >
              Draft it
            </a>
            , or begin with one of your <a href={hashOf("rules")}>starter rules</a>.
          </p>
        </Step>
      </ol>
      <Fault of={task.fault ?? progress.fault} />
      <p class="dim">
        No site at hand? Try the <a href="/demo">demo shop</a>, if the server runs with --demo.
      </p>
    </Card>
  );
}

function Step(properties: { readonly name: string; readonly isDone: boolean; readonly children: ComponentChildren }) {
  const { name, isDone, children } = properties;
  return (
    <li data-done={isDone}>
      <p>
        <span aria-hidden="true">{isDone ? "✓" : "○"}</span> <b>{name}</b>
        <span class="unseen">{isDone ? ": done" : ": not yet"}</span>
      </p>
      {!isDone && children}
    </li>
  );
}
