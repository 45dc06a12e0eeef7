/** Values as links to the sessions that have them, in Explore. What the language can't express is shown as plain text. */
import type { ComponentChildren } from "preact";
import { agentWords, type KnownAgent } from "../../contract/bots/agents.js";
import type { Action, Band } from "../../contract/verdicts/verdict.js";
import { type ExploreView, exploreHash } from "../explore-view.js";
import { equalTo } from "../expression.js";
import { ActionBadge, BandBadge } from "../parts.js";
import { readableAgent, readablePath } from "../shown-text.js";
import { count } from "../words.js";

interface Where {
  readonly time?: ExploreView["time"];
  /** Default: sessions. */
  readonly subject?: ExploreView["subject"];
  /** Where given, the value adds its condition to what is shown; else it leads to Explore. */
  readonly onToggle?: ((condition: string) => void) | undefined;
}

/** The value with its condition behind it; as text where that is null. */
export function Explored(
  properties: Where & {
    readonly condition: string | null;
    /** Default: the condition. */
    readonly title?: string;
    readonly class?: string;
    readonly children: ComponentChildren;
  },
) {
  const {
    condition,
    title,
    time = "day",
    subject = "session",
    onToggle,
    class: kind = "value-button",
    children,
  } = properties;
  if (condition === null) return <>{children}</>;
  if (onToggle === undefined) {
    return (
      <a
        class={kind}
        href={exploreHash({ expression: condition, time, subject })}
        title={title ?? `Explore ${condition}`}
      >
        {children}
      </a>
    );
  }
  return (
    <button type="button" class={kind} title={title ?? condition} onClick={() => onToggle(condition)}>
      {children}
    </button>
  );
}

/** A text that a field has, or that nothing is known. */
export function ExploredText(properties: Where & { readonly field: string; readonly value: string | null }) {
  const { field, value, ...where } = properties;
  if (value === null) return <span class="dim">not known</span>;
  return (
    <Explored {...where} condition={equalTo(field, value)}>
      {field === "path" ? <bdi>{readablePath(value)}</bdi> : value}
    </Explored>
  );
}

/** A user agent with the browser's name first; the title has the whole. */
export function ExploredAgent({ value, ...where }: Where & { readonly value: string | null }) {
  if (value === null) return <span class="dim">not known</span>;
  return (
    <Explored {...where} condition={equalTo("user_agent", value)} title={value}>
      {readableAgent(value)}
    </Explored>
  );
}

/** Who a visitor is, and by what; nothing where that is not known. */
export function ExploredWho({
  who,
  ...where
}: Where & { readonly who: Pick<KnownAgent, "name" | "certainty"> | null | undefined }) {
  if (who === null || who === undefined) return null;
  return (
    <span class="line">
      <Explored {...where} condition={equalTo("agent", who.name)}>
        {agentWords(who)}
      </Explored>
    </span>
  );
}

/** A number that a field has; 0 for none where `zero` says what that means. */
export function ExploredNumber(
  properties: Where & { readonly field: string; readonly value: number; readonly zero?: string },
) {
  const { field, value, zero, ...where } = properties;
  if (value === 0 && zero !== undefined) return <>{zero}</>;
  return (
    <Explored {...where} condition={equalTo(field, value)}>
      {count(value)}
    </Explored>
  );
}

/** A band; sessions without a score are found by no expression. */
export function ExploredBand({ band, ...where }: Where & { readonly band: Band }) {
  return (
    <Explored {...where} condition={band === "not_computed" ? null : equalTo("band", band)}>
      <BandBadge band={band} />
    </Explored>
  );
}

/** An action that the rules of now would take. */
export function ExploredAction({ action, ...where }: Where & { readonly action: Action }) {
  return (
    <Explored {...where} condition={equalTo("action", action)}>
      <ActionBadge action={action} />
    </Explored>
  );
}

/** A detection by its id, with `name` behind it. */
export function ExploredDetection({ id, name, ...where }: Where & { readonly id: number; readonly name?: string }) {
  return (
    <Explored {...where} condition={`detection_ids contains ${id}`}>
      <code>{id}</code>
      {name !== undefined && ` ${name}`}
    </Explored>
  );
}
