/**
 * A time limit for answers. Node runs due timers before it reads sockets: after 200 ms of the program's own work, a plain timer of 150 ms would
 * discard answers that are there, and a healthy server would look dead.
 */

/** A timer that is later than this, ms, was held up by the program's own work. */
const heldUpMs = 10;

/**
 * Calls `onOver` after `limitMs`. If the program itself was busy then, it calls later: what has arrived is read first, and the time in which nothing
 * could be read or sent is added once, up to `limitMs`. Returns a function that ends the wait.
 */
export function startDeadline(limitMs: number, onOver: () => void): () => void {
  let dueMs = performance.now() + limitMs;
  let isExtended = false;
  let isEnded = false;
  let timer = setTimeout(check, limitMs);

  function wait(ms: number): void {
    dueMs = performance.now() + ms;
    timer = setTimeout(check, ms);
  }

  function check(): void {
    const lateMs = performance.now() - dueMs;
    // Node counts from the beginning of its loop's turn, which may be long ago.
    if (lateMs < -1) wait(-lateMs);
    else if (lateMs > heldUpMs && !isExtended) {
      isExtended = true;
      wait(Math.min(lateMs, limitMs));
    } else afterReading(() => !isEnded && onOver());
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
