/**
 * A time limit for answers. Node runs due timers before it reads sockets: after 200 ms of the program's own work, a plain timer of 150 ms would
 * discard answers that are there, and a healthy server would look dead.
 */

/** The limit passes in so many steps, a timer each. */
const stepsMax = 5;

/**
 * Calls `onOver` after `limitMs` and the time that the program itself was busy: however long it computes, only one step of the limit passes meanwhile.
 * What has arrived by then is read first. Returns a function that ends the wait.
 */
export function startDeadline(limitMs: number, onOver: () => void): () => void {
  const steps = Math.min(stepsMax, Math.ceil(limitMs));
  let passed = 0;
  let isEnded = false;
  let timer = setTimeout(step, limitMs / steps);

  function step(): void {
    if (++passed < steps) timer = setTimeout(step, limitMs / steps);
    else afterReading(() => !isEnded && onOver());
  }

  return () => {
    isEnded = true;
    clearTimeout(timer);
  };
}

/** Calls back when what has arrived by now is read. Where there is no Node, `setImmediate` may be missing. */
function afterReading(act: () => void): void {
  const { setImmediate } = globalThis as { readonly setImmediate?: (act: () => void) => unknown };
  if (setImmediate === undefined) setTimeout(act, 0);
  else setImmediate(act);
}
