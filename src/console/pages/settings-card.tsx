/** A card of settings: a draft of what is stored, changed field by field and saved as a whole; and the fields it is made of. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { useAccess } from "../access.js";
import { Card, Fault, Loaded } from "../parts.js";
import { useResource, useTask } from "../resource.js";

/** For a dialog that asks before saving. */
interface Asking {
  readonly act: () => Promise<unknown>;
  readonly onClose: () => void;
}

interface SettingsCardProperties<Settings> {
  readonly title: string;
  /** What the settings are for. */
  readonly about?: ComponentChildren;
  readonly load: () => Promise<Settings>;
  /** A change of these loads again. */
  readonly dependencies: readonly unknown[];
  readonly save: (draft: Settings) => Promise<unknown>;
  /** What to say of settings that were saved. */
  readonly saved: (settings: Settings) => string;
  /** What is asked before it is saved, of what has changed; default: nothing. */
  readonly ask?: (change: Partial<Settings>, dialog: Asking) => ComponentChildren;
  /** The button's text. */
  readonly button: string;
  readonly children: (draft: Settings, change: (part: Partial<Settings>) => void) => ComponentChildren;
}

/** Loads what is stored, lets `children` draw the fields of a draft of it, and saves; then it loads again. Faults are shown in the card. */
export function SettingsCard<Settings extends object>(properties: SettingsCardProperties<Settings>) {
  const { title, about, load, dependencies } = properties;
  const settings = useResource(load, dependencies);
  return (
    <Card title={title}>
      {about !== undefined && <p class="dim">{about}</p>}
      <Loaded from={settings}>
        {(stored) => <Form {...properties} stored={stored} reload={() => settings.reload()} />}
      </Loaded>
    </Card>
  );
}

function Form<Settings extends object>(
  properties: SettingsCardProperties<Settings> & { readonly stored: Settings; readonly reload: () => Promise<void> },
) {
  const { save, saved, ask, button, children, stored, reload } = properties;
  const [isAsking, setAsking] = useState(false);
  const { mayWrite } = useAccess();
  const [draft, setDraft] = useState(stored);
  const [said, setSaid] = useState("");
  const task = useTask();
  // At once: an effect that comes later than the first key would take that back.
  useLayoutEffect(() => setDraft(stored), [stored]);
  const change = (part: Partial<Settings>) => {
    setSaid("");
    setDraft((before) => ({ ...before, ...part }));
  };
  const changed = Object.fromEntries(
    Object.entries(draft).filter(
      ([name, value]) => JSON.stringify(Reflect.get(stored, name)) !== JSON.stringify(value),
    ),
  ) as Partial<Settings>;
  const store = async () => {
    await save(draft);
    await reload();
    setSaid(saved(draft));
  };
  const submit = (event: Event) => {
    event.preventDefault();
    if (ask !== undefined && Object.keys(changed).length > 0) setAsking(true);
    else void task.run(store);
  };
  return (
    <form class="settings" onSubmit={submit}>
      <fieldset class="bare" disabled={!mayWrite}>
        {children(draft, change)}
      </fieldset>
      <Fault of={task.fault} />
      {mayWrite && (
        <p class="buttons">
          <span class="said" role="status">
            {said}
          </span>
          <button type="submit" class="primary" aria-disabled={task.isRunning}>
            {button}
          </button>
        </p>
      )}
      {isAsking && ask?.(changed, { act: () => task.confirmed(store()), onClose: () => setAsking(false) })}
    </form>
  );
}
