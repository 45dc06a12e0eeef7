/** When rules were switched on, off or changed, as marks of a chart and as a list below it. */
import type { AuditRow } from "../../contract/configuration/audit.js";
import type { ChartMark } from "../chart.js";
import { hashOf } from "../location.js";
import { Time } from "../parts.js";
import { plural } from "../words.js";

/** A change of a rule at its time: `at` in seconds since the epoch, as the chart has it, `iso` as the audit log has it. */
export interface RuleMark extends ChartMark {
  readonly iso: string;
  readonly rule: string;
  readonly what: string;
}

/** What verdicts could notice: a rule that was inactive before and after is left out. The earliest first. */
export function ruleMarks(rows: readonly AuditRow[]): RuleMark[] {
  return rows
    .flatMap((row): RuleMark[] => {
      const what = whatOf(row);
      if (what === null) return [];
      const rule = row.subject.replace(/^rule /, "");
      return [{ at: Date.parse(row.at) / 1000, iso: row.at, rule, what, text: `${what}: rule ${rule}` }];
    })
    .reverse();
}

function whatOf({ action, before, after }: AuditRow): string | null {
  if (action === "rule.created") return after?.["is_active"] === true ? "created and switched on" : null;
  if (action === "rule.removed") return before?.["is_active"] === true ? "deleted" : null;
  const names = Object.keys(after ?? {});
  if (names.includes("is_active")) return after?.["is_active"] === true ? "switched on" : "switched off";
  return names.some((name) => name === "expression" || name === "action") ? "changed" : null;
}

/** The changes as a list below the chart, folded; `hasMore`: earlier ones of the range were not read. */
export function RuleMarks({ marks, hasMore }: { readonly marks: readonly RuleMark[]; readonly hasMore: boolean }) {
  if (marks.length === 0) return null;
  return (
    <details class="rule-marks">
      <summary>
        {plural(marks.length, "rule change")} in this time, marked by dashed lines
        {hasMore ? "; earlier ones are left out" : ""}
      </summary>
      <ul class="plain">
        {marks.map(({ iso, rule, what }) => (
          <li key={`${iso} ${rule}`}>
            <Time at={iso} />: <a href={hashOf("rules", rule.split(" ")[0]!)}>rule {rule}</a> {what}
          </li>
        ))}
      </ul>
    </details>
  );
}
