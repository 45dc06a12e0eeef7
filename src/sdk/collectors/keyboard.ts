/**
 * The rhythm of typing, as `key` events. Which key was pressed is used here to pair press and release, and to count
 * backspaces; it never leaves. Password fields are not followed at all.
 */
import type { StrokeRow } from "../../contract/events/events.js";
import type { Collector } from "../collector.js";
import { round } from "../recorder.js";

const rowsMax = 256;
/** From the opening of a context menu to the paste by it, at most. */
const menuMs = 20_000;

interface Stroke {
  readonly down: number;
  readonly up: number;
}

/** Follows presses, releases and pastes. */
export const collectKeyboard: Collector = (scene) => {
  let held = new Map<string, number>();
  let strokes: Stroke[] = [];
  let count = 0;
  let backspaces = 0;
  let pastes = 0;
  let menuAt = -menuMs;
  let trusted = true;

  const drain = () => {
    if (!count && !strokes.length && !pastes) return;
    const rows = strokes.sort((a, b) => a.down - b.down).slice(0, rowsMax);
    const start = rows[0]?.down ?? 0;
    const payload = {
      t: rows.length ? round(start, 1) : undefined,
      strokes: rows.length
        ? rows.map((row): StrokeRow => [round(row.down - start, 1) ?? 0, round(row.up - row.down, 1) ?? 0])
        : undefined,
      count,
      backspaces,
      pastes,
      trusted,
    };
    strokes = [];
    count = backspaces = pastes = 0;
    trusted = true;
    scene.record("key", payload);
  };

  const isSecret = (event: Event) => (event.target as HTMLInputElement | null)?.type === "password";

  scene.listen<KeyboardEvent>(window, "keydown", (event) => {
    if (event.repeat || isSecret(event) || /^(Shift|Control|Alt|Meta|CapsLock)/.test(event.key)) return;
    if (held.size > 20) held = new Map();
    held.set(event.code, event.timeStamp);
    count++;
    if (event.key === "Backspace") backspaces++;
    trusted &&= event.isTrusted;
    scene.wake();
  });
  scene.listen<KeyboardEvent>(window, "keyup", (event) => {
    const down = held.get(event.code);
    held.delete(event.code);
    if (down === undefined || isSecret(event)) return;
    strokes.push({ down, up: event.timeStamp });
    if (strokes.length >= rowsMax) drain();
  });
  // A menu that is open takes the click which it came by, so that no `auxclick` tells of it.
  scene.listen(window, "contextmenu", (event) => {
    if (event.isTrusted) menuAt = event.timeStamp;
  });
  scene.listen(window, "paste", (event) => {
    if (isSecret(event) || event.timeStamp - menuAt < menuMs) return;
    pastes++;
    scene.wake();
  });
  scene.onDrain(drain);
};
