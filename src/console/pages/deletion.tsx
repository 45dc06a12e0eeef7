/** Deleting the sessions that Explore found: counted first, then deleted as often as it takes, until done or stopped. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Api } from "../api.js";
import { messageOf } from "../api.js";
import { Dialog, Fault } from "../parts.js";
import { count, plural, time } from "../words.js";

interface DeletionProperties {
  readonly api: Api;
  readonly project: number;
  readonly expression: string;
  readonly from: string;
  readonly to: string;
  /** Whether something was deleted. */
  readonly onClose: (isChanged: boolean) => void;
}

type State =
  | { readonly step: "counting"; readonly matched: number }
  | { readonly step: "asking"; readonly matched: number }
  | { readonly step: "deleting"; readonly matched: number; readonly deleted: number }
  | { readonly step: "ended"; readonly deleted: number; readonly isStopped: boolean };

/** Counts what the expression matches in the range, asks with that number, then deletes in steps that can be stopped. */
export function DeletionDialog({ api, project, expression, from, to, onClose }: DeletionProperties) {
  const [state, setState] = useState<State>({ step: "counting", matched: 0 });
  const [fault, setFault] = useState<string | null>(null);
  const abort = useRef(new AbortController());
  const which = { expression, from, to };
  useEffect(() => {
    const all = async () => {
      let matched = 0;
      for (let cursor: string | null = null; ; ) {
        const page = await api.deleteSessions(project, { ...which, dry_run: true, cursor }, abort.current.signal);
        matched += page.matched;
        cursor = page.next_cursor;
        setState({ step: cursor === null ? "asking" : "counting", matched });
        if (cursor === null) return;
      }
    };
    all().catch((error) => setFault(messageOf(error)));
    return () => abort.current.abort();
  }, []);
  const remove = async (matched: number) => {
    let deleted = 0;
    setState({ step: "deleting", matched, deleted });
    try {
      for (let cursor: string | null = null; ; ) {
        const body = { ...which, at_most: matched - deleted, cursor };
        const page = await api.deleteSessions(project, body, abort.current.signal);
        deleted += page.deleted;
        cursor = page.next_cursor;
        if (cursor === null) return setState({ step: "ended", deleted, isStopped: false });
        setState({ step: "deleting", matched, deleted });
      }
    } catch (error) {
      if (!abort.current.signal.aborted) setFault(messageOf(error));
      setState({ step: "ended", deleted, isStopped: true });
    }
  };
  const isChanged = state.step === "ended" || state.step === "deleting";
  return (
    <Dialog title="Delete these sessions?" keeps={state.step === "deleting"} onClose={() => onClose(isChanged)}>
      <p>
        <code class="wrap">{expression}</code>, begun from {time(from)} to {time(to)}.
      </p>
      <p role="status">{statusOf(state)}</p>
      {state.step === "asking" && state.matched > 0 && (
        <p class="dim">
          Their blocks, marks and timelines go with them. This can’t be undone. Counts over time stay, and the deletion
          is in the log of changes.
        </p>
      )}
      <Fault of={fault} />
      <p class="buttons">
        {state.step === "deleting" ? (
          <button type="button" onClick={() => abort.current.abort()}>
            Stop
          </button>
        ) : (
          <button type="button" onClick={() => onClose(isChanged)}>
            {state.step === "ended" ? "Close" : "Cancel"}
          </button>
        )}
        {(state.step === "asking" || state.step === "counting") && (
          <button
            type="button"
            class="danger"
            disabled={state.step === "counting" || state.matched === 0}
            onClick={() => void remove(state.matched)}
          >
            {state.step === "counting" ? "Delete" : `Delete ${plural(state.matched, "session")}`}
          </button>
        )}
      </p>
    </Dialog>
  );
}

function statusOf(state: State): string {
  switch (state.step) {
    case "counting":
      return `Counting: ${plural(state.matched, "session")} so far…`;
    case "asking":
      return state.matched === 0 ? "No session matches any more." : `${plural(state.matched, "session")} match.`;
    case "deleting":
      return `${count(state.deleted)} of ${count(state.matched)} deleted…`;
    case "ended":
      return state.isStopped
        ? `Stopped: at least ${plural(state.deleted, "session")} deleted. The log of changes has the number.`
        : `${plural(state.deleted, "session")} deleted.`;
  }
}
