/** Backtesting a draft rule while it is typed: what the server says of it, asked again whenever it changes. */
import { useEffect, useState } from "preact/hooks";
import type { RuleTestAnswer } from "../contract/configuration/backtest-answers.js";
import type { Action } from "../contract/verdicts/verdict.js";
import { type Api, ApiFault, messageOf } from "./api.js";

/** What the server says of the draft. */
export type DraftBacktest =
  | { readonly state: "empty" }
  | { readonly state: "waiting" }
  | ExpressionFault
  | { readonly state: "good"; readonly result: RuleTestAnswer };

/** What is wrong with an expression, and where; also a call that failed for another reason. */
export interface ExpressionFault {
  readonly state: "fault";
  readonly message: string;
  /** Null: it is nothing of the expression. */
  readonly line: number | null;
  readonly column: number;
}

/** How long typing has to pause before the server is asked. */
const debounceMs = 300;
/** What a draft is backtested on: the server's most sessions, so that only a busy site's day is sampled. */
const lastDay = { hours: 24, limit: 10_000 };

/** Asks after a pause in typing; ends what is asked for no more. */
export function useAsked<T>(
  ask: (signal: AbortSignal) => Promise<T>,
  onAnswer: (answer: T | ExpressionFault) => void,
  dependencies: readonly unknown[],
): void {
  useEffect(() => {
    const abort = new AbortController();
    const run = async (): Promise<void> => {
      try {
        const answer = await ask(abort.signal);
        if (!abort.signal.aborted) onAnswer(answer);
      } catch (error) {
        if (!abort.signal.aborted) onAnswer(faultOf(error));
      }
    };
    const timer = setTimeout(run, debounceMs);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, dependencies);
}

/** The latest backtest of this draft, at this place among the rules, as the next version of one of them if it has its id: "waiting" from each change of it until its own answer. */
export function useDraftBacktest(
  api: Api,
  project: number,
  expression: string,
  action: Action,
  sortOrder?: number,
  id?: number,
): DraftBacktest {
  const [backtest, setBacktest] = useState<DraftBacktest>({ state: "empty" });
  const isEmpty = expression.trim() === "";
  useEffect(
    () => setBacktest({ state: isEmpty ? "empty" : "waiting" }),
    [api, project, expression, action, sortOrder, id],
  );
  useAsked<RuleTestAnswer | null>(
    async (signal) => {
      if (isEmpty) return null;
      const place = {
        ...(sortOrder !== undefined && { sort_order: sortOrder }),
        ...(id !== undefined && { replaces: id }),
      };
      return api.testRule(project, { expression, action, ...place, ...lastDay }, signal);
    },
    (answer) => {
      if (answer !== null) setBacktest("state" in answer ? answer : { state: "good", result: answer });
    },
    [api, project, expression, action, sortOrder, id],
  );
  return backtest;
}

/** Takes the place out of the message of a 422 that names one; any other failure is a fault without a place. */
function faultOf(error: unknown): ExpressionFault {
  const message = messageOf(error).replace(/^(?:when\.)?expression: /, "");
  const place = error instanceof ApiFault && error.status === 422 ? /^line (\d+), column (\d+): /.exec(message) : null;
  return place === null
    ? { state: "fault", message, line: null, column: 0 }
    : { state: "fault", message, line: Number(place[1]), column: Number(place[2]) };
}
