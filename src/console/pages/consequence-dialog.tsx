/** The one dialog that asks before verdicts change: what changes, in numbers, then yes or no. */
import type { ComponentChildren } from "preact";
import { Confirmation } from "../parts.js";

/** Nothing can be agreed to while `isWaiting`: the numbers are not there yet. */
export function ConsequenceDialog(properties: {
  readonly title: string;
  readonly yes: string;
  readonly isBusy: boolean;
  readonly isWaiting: boolean;
  readonly fault: string | null;
  readonly onYes: () => void;
  readonly onNo: () => void;
  readonly children: ComponentChildren;
}) {
  const { isBusy, isWaiting, onYes, children, ...dialog } = properties;
  return (
    <Confirmation {...dialog} isBusy={isBusy || isWaiting} onYes={() => isWaiting || onYes()}>
      {children}
    </Confirmation>
  );
}
