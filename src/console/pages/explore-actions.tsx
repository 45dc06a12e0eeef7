/** What can be done with the sessions that were found: try the expression as a rule, make it one, delete them. */
import { useEffect, useRef, useState } from "preact/hooks";
import { type Action, actions } from "../../contract/verdicts/verdict.js";
import { useAccess } from "../access.js";
import { useDraftBacktest } from "../draft-backtest.js";
import { searchFieldsOf } from "../expression.js";
import { ChoiceField, choicesOf } from "../fields.js";
import { hashOf } from "../location.js";
import type { ProjectPageProperties } from "../page-properties.js";
import { focusTitle } from "../parts.js";
import { actionWords, plural } from "../words.js";
import { Backtest } from "./backtest.js";
import { DeletionDialog } from "./deletion.js";
import { newRuleHash } from "./rule-draft.js";
import { useRuleNames } from "./rule-link.js";

interface ExploreActionsProperties extends ProjectPageProperties {
  readonly subject: "session" | "request";
  readonly expression: string;
  /** The server has taken the expression. */
  readonly isGood: boolean;
  /** How many sessions it was found to match. */
  readonly matched: number;
  /** When those began; null before the first answer. */
  readonly range: { readonly from: string; readonly to: string } | null;
  readonly onDeleted: () => void;
}

/** Buttons that need an expression, and why one of them can't be pressed. Deleting counts first and asks. */
export function ExploreActions(properties: ExploreActionsProperties) {
  const { api, project, subject, expression, isGood, matched, range, onDeleted } = properties;
  const { mayWrite } = useAccess();
  const [isOpen, setOpen] = useState(false);
  const [action, setAction] = useState<Action>("log");
  const [isDeleting, setDeleting] = useState(false);
  const hasDeleted = useRef(false);
  // The button that opened the dialog is disabled by then.
  useEffect(() => {
    if (isDeleting || !hasDeleted.current) return;
    hasDeleted.current = false;
    focusTitle();
  }, [isDeleting]);
  const lacking = searchFieldsOf(expression);
  const canRule = isGood && lacking.length === 0;
  const make = () => {
    location.hash = newRuleHash({ name: "", expression, action, isActive: false });
  };
  const alert = () => {
    location.hash = hashOf("alerts", undefined, { q: expression });
  };
  return (
    <>
      <p class="buttons start">
        <button type="button" aria-expanded={isOpen} disabled={!canRule && !isOpen} onClick={() => setOpen(!isOpen)}>
          What would it have done?
        </button>
        {mayWrite && (
          <button type="button" disabled={!canRule} onClick={make}>
            Make this a rule
          </button>
        )}
        {mayWrite && (
          <button type="button" disabled={!canRule} onClick={alert}>
            Alert me to these…
          </button>
        )}
        {mayWrite && subject === "session" && (
          <button
            type="button"
            class="danger-quiet"
            disabled={!isDeleting && (!isGood || matched === 0)}
            onClick={() => setDeleting(true)}
          >
            Delete these sessions…
          </button>
        )}
      </p>
      <p class="dim">{noteOf(properties, lacking, mayWrite)}</p>
      {isOpen && (
        <section class="dry-run" aria-label="What such a rule would have done">
          <ChoiceField
            label="As a rule with the action"
            value={action}
            options={choicesOf(actionWords, actions)}
            onChange={setAction}
          />
          <DryRun api={api} project={project} expression={expression} action={action} />
        </section>
      )}
      {isDeleting && range !== null && (
        <DeletionDialog
          api={api}
          project={project}
          expression={expression}
          from={range.from}
          to={range.to}
          onClose={(isChanged) => {
            setDeleting(false);
            hasDeleted.current = isChanged;
            if (isChanged) onDeleted();
          }}
        />
      )}
    </>
  );
}

function noteOf(
  { subject, expression, isGood, matched }: ExploreActionsProperties,
  lacking: readonly string[],
  mayWrite: boolean,
): string {
  if (expression.trim() === "") {
    if (!mayWrite) return "Add a condition to try it as a rule.";
    return subject === "session"
      ? "Add a condition to try it as a rule, save it as one, set an alert, or delete the matching sessions."
      : "Add a condition to try it as a rule, save it as one, or set an alert.";
  }
  if (lacking.length > 0) {
    return `A rule can’t ask for ${lacking.join(" or ")}: that is what rules decide. Searches and deletions can.`;
  }
  return mayWrite && subject === "session" && isGood && matched > 0
    ? `Deleting shows their exact number and asks first. ${plural(matched, "session")} match now.`
    : "";
}

function DryRun(properties: ProjectPageProperties & { readonly expression: string; readonly action: Action }) {
  const { api, project, expression, action } = properties;
  const backtest = useDraftBacktest(api, project, expression, action);
  const names = useRuleNames({ api, project });
  return <Backtest backtest={backtest} expression={expression} action={action} names={names} />;
}
