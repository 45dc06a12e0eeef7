/** Rules of a project. They are stored as source, compiled on save for the check, and compiled once per revision for evaluation. */
import { LRUCache } from "lru-cache";
import { type AuditValues, accountOfServer } from "../../contract/configuration/audit.js";
import type { Project, Rule } from "../../contract/configuration/entities.js";
import type { ProjectSettings } from "../../contract/sessions/session.js";
import { Refusal, refuse } from "../../errors.js";
import { limits } from "../../limits.js";
import type { Expression } from "../../rules/ast.js";
import { CompileMemo } from "../../rules/compile-memo.js";
import { type CompiledRule, compileRule } from "../../rules/compile-rule.js";
import { type EvaluatedRule, orderRules } from "../../rules/evaluate.js";
import { isRuleFault, type RuleFault } from "../../rules/fault.js";
import { hasLiteral } from "../../rules/literals.js";
import type { Slices } from "../../runtime/long-work.js";
import { nextId, type Store } from "../../store/store.js";
import { type Audited, type AuditedChange, audited, changeAudited, unchanged } from "../logs/audit.js";
import { type NewRule, type RuleChange, ruleChanges } from "./rule-changes.js";

/** A rule ready to be evaluated. */
interface ReadyRule extends EvaluatedRule {
  readonly name: string;
  /** Whether it names the method of CORS preflights, which are judged only then. */
  readonly asksForPreflights: boolean;
  /** From then on it is inactive; absent: it never expires. */
  readonly expiresAtMs?: number;
}

/** Whether a rule is inactive because its time is over. */
export function isExpired({ expiresAt }: Pick<Rule, "expiresAt">, nowMs: number): boolean {
  return expiresAt !== undefined && Date.parse(expiresAt) <= nowMs;
}

/** Every project starts with these, inactive: enabling scoring never blocks anybody. */
export const starterRules: readonly NewRule[] = [
  {
    name: "Block definite bots",
    expressionSource: 'band == "definite"',
    action: "block",
    isActive: false,
    sortOrder: 0,
  },
  {
    name: "Challenge likely bots",
    expressionSource: 'band == "likely_automated"',
    action: "challenge",
    isActive: false,
    sortOrder: 1,
  },
];

/**
 * Returns the compiled tree of a source, or an `invalidPayload` refusal with the position of the error. A source that was saved earlier may compare
 * with values that are refused today.
 */
export function compiledTree(source: string, use: "rule" | "stored" = "rule"): Expression | Refusal {
  return treeOf(compileRule(source, use));
}

function treeOf(compiled: CompiledRule | RuleFault): Expression | Refusal {
  return isRuleFault(compiled) ? refuse("invalidPayload", `expression: ${compiled.message}`) : compiled.ast;
}

/** Stores a rule. Call inside a write transaction of the control plane. */
export function putNewRule(store: Store, projectId: number, rule: NewRule, timestamp: string): Rule {
  const { expiresAt, ...values } = rule;
  const created: Rule = {
    id: nextId(store, "rule"),
    projectId,
    ...values,
    createdAt: timestamp,
    updatedAt: timestamp,
    ...(expiresAt !== undefined && { expiresAt }),
  };
  store.rules.putSync([projectId, created.id], created);
  return created;
}

/**
 * Refuses `invalidPayload` for a source that doesn't compile and for one rule too many, `notFound` for a rule of another project. All
 * changes are logged.
 */
export class Rules {
  readonly #store: Store;
  readonly #now: () => number;
  readonly #compiled = new CompileMemo();
  readonly #ready = new LRUCache<number, { revision: number; untilMs: number; rules: readonly ReadyRule[] }>({
    max: limits.compiledProjectsMax,
  });

  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** All rules of a project in the order of evaluation. */
  list(projectId: number): Rule[] {
    const range = this.#store.rules.getRange({ start: [projectId, 0], end: [projectId + 1, 0] });
    return [...range].map(({ value }) => value).sort(byOrder);
  }

  /** The same, read in slices; null when whoever asked has gone. */
  async listInSlices(projectId: number, slices: Slices): Promise<Rule[] | null> {
    const rules: Rule[] = [];
    for (let after = 0; ; ) {
      const range = { start: [projectId, after + 1] as [number, number], end: [projectId + 1, 0] as [number, number] };
      const rows = [...this.#store.rules.getRange({ ...range, limit: limits.rulesReadAtOnce })];
      rules.push(...rows.map(({ value }) => value));
      if (rows.length < limits.rulesReadAtOnce) return rules.sort(byOrder);
      after = rows.at(-1)!.key[1];
      if (slices.isOver && !(await slices.next())) return null;
    }
  }

  find(projectId: number, id: number): Rule | null {
    return this.#store.rules.get([projectId, id]) ?? null;
  }

  async create(projectId: number, rule: NewRule): Promise<Rule | Refusal> {
    const tree = compiledTree(rule.expressionSource);
    if (tree instanceof Refusal) return tree;
    return this.#change(projectId, (of) => {
      const count = this.#store.rules.getKeysCount({ start: [projectId, 0], end: [projectId + 1, 0] });
      if (count >= limits.rulesPerProjectMax) {
        return tooManyRules;
      }
      const created = putNewRule(this.#store, projectId, rule, this.#timestamp());
      return audited(created, { ...of(created), action: "rule.created", before: null, after: valuesOf(created) });
    });
  }

  /** The rule after the change; a refused change leaves it untouched. */
  async change(projectId: number, id: number, change: Partial<NewRule>): Promise<Rule | Refusal> {
    if (change.expressionSource !== undefined) {
      const tree = compiledTree(change.expressionSource);
      if (tree instanceof Refusal) return tree;
    }
    return this.#change(projectId, (of) => {
      const rule = this.find(projectId, id);
      if (rule === null) return missingRule;
      const changed = changedRule(rule, change, this.#timestamp());
      this.#store.rules.putSync([projectId, id], changed);
      const values = { before: valuesOf(rule), after: valuesOf(changed) };
      return audited(changed, { ...of(changed), action: "rule.changed", ...values });
    });
  }

  async remove(projectId: number, id: number): Promise<Rule | Refusal> {
    return this.#change(projectId, (of) => {
      const rule = this.find(projectId, id);
      if (rule === null) return missingRule;
      this.#store.rules.removeSync([projectId, id]);
      return audited(rule, { ...of(rule), action: "rule.removed", before: valuesOf(rule), after: null });
    });
  }

  /** The active rules, compiled and in order; memoised by the project's rules revision, until one of them expires. */
  ready(project: Pick<ProjectSettings, "id" | "rulesRevision">): readonly ReadyRule[] {
    const memo = this.#ready.get(project.id);
    const nowMs = this.#now();
    if (memo !== undefined && memo.revision === project.rulesRevision && nowMs < memo.untilMs) return memo.rules;
    const stored = this.list(project.id).filter((rule) => !isExpired(rule, nowMs));
    const rules = orderRules(stored.flatMap((rule) => this.#readyRule(rule)));
    const untilMs = Math.min(...rules.map(({ expiresAtMs = Number.POSITIVE_INFINITY }) => expiresAtMs));
    this.#ready.set(project.id, { revision: project.rulesRevision, untilMs, rules });
    return rules;
  }

  /** Why a source is no rule, or null. */
  fault(source: string): Refusal | null {
    const tree = compiledTree(source);
    return tree instanceof Refusal ? tree : null;
  }

  /**
   * Makes the project's rules those of the list, in one transaction; a dry run only says what would change. Refuses a list that is too long and
   * an unknown project.
   */
  async applyAll(projectId: number, wanted: readonly NewRule[], isDryRun = false): Promise<RuleChange[] | Refusal> {
    if (wanted.length > limits.rulesPerProjectMax) return tooManyRules;
    const planned = (): RuleChange[] | Refusal => {
      if (this.#store.projects.doesExist(projectId)) {
        const stored = this.list(projectId);
        return ruleChanges(stored, inPlace(stored, wanted));
      }
      return refuse("notFound", `there is no project ${projectId}`);
    };
    if (isDryRun) return planned();
    return this.#change<RuleChange[]>(projectId, (of) => {
      const changes = planned();
      if (changes instanceof Refusal) return changes;
      const [first, ...further] = changes.flatMap((change) => this.#carryOut(projectId, change, of));
      return first === undefined ? unchanged(changes) : audited(changes, first, ...further);
    });
  }

  /** Makes one change of a list inside a write transaction. Returns its log entry, or nothing if there was no change. */
  #carryOut(projectId: number, { change, before, after }: RuleChange, of: SubjectOf): AuditedChange[] {
    switch (change) {
      case "created": {
        const created = putNewRule(this.#store, projectId, after!, this.#timestamp());
        return [{ ...of(created), action: "rule.created", before: null, after: valuesOf(created) }];
      }
      case "removed":
        this.#store.rules.removeSync([projectId, before!.id]);
        return [{ ...of(before!), action: "rule.removed", before: valuesOf(before!), after: null }];
      case "changed": {
        const changed = changedRule(before!, { expiresAt: undefined, ...after! }, this.#timestamp());
        this.#store.rules.putSync([projectId, changed.id], changed);
        return [{ ...of(changed), action: "rule.changed", before: valuesOf(before!), after: valuesOf(changed) }];
      }
      case "unchanged":
        return [];
    }
  }

  /** Makes a change of the project's rules; where there was one to make, the rules are compiled anew. */
  #change<T>(projectId: number, change: (of: SubjectOf) => Audited<T> | Refusal): Promise<T | Refusal> {
    return changeAudited(this.#store, this.#now, () => {
      const project: Project | undefined = this.#store.projects.get(projectId);
      const accountId = project?.accountId ?? accountOfServer;
      const made = change(({ id, name }) => ({ accountId, projectId, subject: `rule ${id} "${name}"` }));
      if (project !== undefined && !(made instanceof Refusal) && made.changes.length > 0) {
        this.#store.projects.putSync(projectId, { ...project, rulesRevision: project.rulesRevision + 1 });
      }
      return made;
    });
  }

  /** Returns nothing for a stored source that this build can't compile, because a verdict must not fail for it. */
  #readyRule({ id, name, action, isActive, sortOrder, expressionSource, expiresAt }: Rule): ReadyRule[] {
    const compiled = this.#compiled.compile(expressionSource);
    if (isRuleFault(compiled)) return [];
    const { ast, matches } = compiled;
    const asksForPreflights = hasLiteral(ast, "method", "OPTIONS");
    const ready = { id, name, action, isActive, sortOrder, matches, asksForPreflights };
    return [expiresAt === undefined ? ready : { ...ready, expiresAtMs: Date.parse(expiresAt) }];
  }

  #timestamp(): string {
    return new Date(this.#now()).toISOString();
  }
}

/** Which rule a change is of, as the log has it. */
type SubjectOf = (rule: Rule) => Pick<AuditedChange, "accountId" | "projectId" | "subject">;

/** The same rules in the same order keep their places, whatever numbers these have. */
function inPlace(stored: readonly Rule[], wanted: readonly NewRule[]): readonly NewRule[] {
  const isSame = stored.length === wanted.length && stored.every(({ name }, index) => name === wanted[index]!.name);
  return isSame ? wanted.map((rule, index) => ({ ...rule, sortOrder: stored[index]!.sortOrder })) : wanted;
}

/** A rule as the log of changes has it. */
function valuesOf({ name, expressionSource, action, isActive, sortOrder, expiresAt }: Rule): AuditValues {
  return {
    name,
    expression: expressionSource,
    action,
    is_active: isActive,
    sort_order: sortOrder,
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
  };
}

/** The rule with what was sent; an `expiresAt` that is undefined takes the stored one away. */
function changedRule({ expiresAt: stored, ...rule }: Rule, change: Partial<NewRule>, updatedAt: string): Rule {
  const { expiresAt = stored, ...rest } = change;
  const isKept = !("expiresAt" in change) || change.expiresAt !== undefined;
  return { ...rule, ...rest, updatedAt, ...(isKept && expiresAt !== undefined && { expiresAt }) };
}

const tooManyRules = refuse("invalidPayload", `a project has at most ${limits.rulesPerProjectMax} rules`);

const missingRule = refuse("notFound", "the project has no such rule");

/** The order in which rules are listed and evaluated. */
function byOrder(a: Rule, b: Rule): number {
  return a.sortOrder - b.sortOrder || a.id - b.id;
}
