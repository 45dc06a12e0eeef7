/** Keys: enabling scoring, the site key to take along, rotation of both. A private key is shown once, when it is made. */
import { useState } from "preact/hooks";
import type { OldKeyRow } from "../../contract/configuration/project-answers.js";
import { testOutcomeOf } from "../../contract/configuration/test-keys.js";
import { useAccess } from "../access.js";
import { ChoiceField } from "../fields.js";
import type { ProjectPageProperties } from "../page-properties.js";
import { Card, Confirmation, CopyField, Fault, Loaded, PageTitle, SecretDialog, Time } from "../parts.js";
import { useResource, useTask } from "../resource.js";
import { plural, time } from "../words.js";

type Kind = "site" | "private";

/** Before scoring is enabled, the button for it; then the site key with its script tag, and rotation, which ends the old key at once. */
export function KeysPage({ api, project, onEnabled }: ProjectPageProperties & { readonly onEnabled: () => void }) {
  const scoring = useResource(() => api.scoring(project), [api, project]);
  const [asked, setAsked] = useState<Kind | null>(null);
  const [ending, setEnding] = useState<Kind | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const [said, setSaid] = useState("");
  const task = useTask();
  const { mayWrite } = useAccess();
  const enable = () =>
    task.run(async () => {
      const { private_key } = await api.enableScoring(project);
      setSecret(private_key);
      onEnabled();
      await scoring.reload();
    });
  const rotate = async (type: Kind, overlapHours: number) => {
    const { key, old_key_ends_at } = await api.rotate(project, type, overlapHours);
    const end = old_key_ends_at === undefined ? "is refused from now on" : `works until ${time(old_key_ends_at)}`;
    setSaid(`The ${type} key was rotated. The old key ${end}.`);
    void scoring.reload();
    // In the place of the question, at once: nothing may come between the only copy and its owner.
    if (type === "private") setSecret(key);
  };
  const endOldKeys = async (type: Kind) => {
    const { ended } = await api.endOldKeys(project, type);
    await scoring.reload();
    setSaid(`${plural(ended, `old ${type} key`)} ended: refused from now on.`);
  };
  return (
    <>
      <PageTitle title="Keys" />
      <p class="said" role="status">
        {said}
      </p>
      <Fault of={task.fault} />
      <Loaded from={scoring}>
        {({ site_key, old_keys = [] }) =>
          site_key === null ? (
            <Card title="Scoring is not enabled">
              <p>This creates a site key and a private key. It blocks nobody: the starter rules are inactive.</p>
              {mayWrite && (
                <button type="button" class="primary" aria-disabled={task.isRunning} onClick={() => void enable()}>
                  Enable scoring
                </button>
              )}
            </Card>
          ) : (
            <>
              {testOutcomeOf(site_key) !== undefined && (
                <p class="notice">
                  These are test keys: everybody knows them, and their answer is always the same. They work while the
                  server runs with <code>--test-keys</code>. Never use that in production.
                </p>
              )}
              <Card title="Site key">
                <p class="dim">Public: it is part of your pages and can only send events.</p>
                <CopyField label="Site key" value={site_key} />
                <CopyField
                  label="For your pages"
                  value={`<script async src="${location.origin}/sdk.js" data-site-key="${site_key}"></script>`}
                />
                <OldKeys of={old_keys} type="site" onEnd={setEnding} />
                {mayWrite && (
                  <button type="button" onClick={() => setAsked("site")}>
                    Rotate the site key
                  </button>
                )}
              </Card>
              <Card title="Private key">
                <p class="dim">
                  Secret, for your servers: it reads verdicts. Only its hash is stored, so it can be replaced but not
                  shown.
                </p>
                <OldKeys of={old_keys} type="private" onEnd={setEnding} />
                {mayWrite && (
                  <button type="button" onClick={() => setAsked("private")}>
                    Rotate the private key
                  </button>
                )}
              </Card>
            </>
          )
        }
      </Loaded>
      {asked !== null && (
        <Rotation
          type={asked}
          running={(scoring.value?.old_keys ?? []).filter(({ type }) => type === asked)}
          act={(overlapHours) => task.confirmed(rotate(asked, overlapHours))}
          onClose={() => setAsked(null)}
        />
      )}
      {ending !== null && (
        <Confirmation
          title={`End old ${ending} keys now?`}
          yes="End now"
          act={() => task.confirmed(endOldKeys(ending))}
          onClose={() => setEnding(null)}
        >
          <p>{usersOf(ending)} at once. This can’t be undone. The current key stays.</p>
          <RunningKeys of={(scoring.value?.old_keys ?? []).filter(({ type }) => type === ending)} />
        </Confirmation>
      )}
      {secret !== null && (
        <SecretDialog title="The new private key" secret={secret} onClose={() => setSecret(null)}>
          <p>Store it now: it can’t be shown again.</p>
        </SecretDialog>
      )}
    </>
  );
}

const overlaps: readonly (readonly [hours: number, name: string])[] = [
  [0, "Refused at once"],
  [1, "Works for 1 more hour"],
  [24, "Works for 1 more day"],
  [168, "Works for 7 more days"],
  [720, "Works for 30 more days"],
];

/** Asks how long the old key goes on working, and says what ends. */
function Rotation(properties: {
  readonly type: Kind;
  /** Rotated keys of this type that still work. */
  readonly running: readonly OldKeyRow[];
  readonly act: (overlapHours: number) => Promise<unknown>;
  readonly onClose: () => void;
}) {
  const { type, running, act, onClose } = properties;
  const [hours, setHours] = useState(0);
  const users = usersOf(type);
  return (
    <Confirmation title={`Rotate the ${type} key?`} yes="Rotate" act={() => act(hours)} onClose={onClose}>
      <ChoiceField label="The old key" value={hours} options={overlaps} onChange={setHours} />
      <p>
        {hours === 0
          ? `${users} at once.`
          : `${users} then: replace the key everywhere before. Choose “Refused at once” for a key that leaked.`}
      </p>
      {running.length > 0 && hours === 0 && (
        <div class="notice">
          <p>
            {running.length === 1
              ? "An older key still works. It ends at once, too:"
              : `${running.length} older keys still work. They end at once, too:`}
          </p>
          <RunningKeys of={running} />
        </div>
      )}
      {running.length > 0 && hours > 0 && (
        <p class="dim">Older keys that still work ({running.length}) keep their end time.</p>
      )}
    </Confirmation>
  );
}

/** What ends with a key. */
const usersOf = (type: Kind): string =>
  type === "site" ? "Pages that carry it stop reporting" : "Servers that use it stop getting verdicts";

function RunningKeys({ of }: { readonly of: readonly OldKeyRow[] }) {
  return (
    <ul>
      {of.map(({ rotated_at, ends_at }) => (
        <li key={rotated_at}>
          rotated <Time at={rotated_at} />, would work until <Time at={ends_at} />
        </li>
      ))}
    </ul>
  );
}

/** Rotated keys that still work, each with its end. */
function OldKeys(properties: {
  readonly of: readonly OldKeyRow[];
  readonly type: Kind;
  readonly onEnd: (type: Kind) => void;
}) {
  const { of, type, onEnd } = properties;
  const own = of.filter((old) => old.type === type);
  const { mayWrite } = useAccess();
  if (own.length === 0) return null;
  return (
    <div class="notice">
      <ul class="plain">
        {own.map(({ rotated_at, ends_at }) => (
          <li key={rotated_at}>
            A key rotated <Time at={rotated_at} /> works until <Time at={ends_at} />.
          </li>
        ))}
      </ul>
      {mayWrite && (
        <button type="button" onClick={() => onEnd(type)}>
          End {own.length === 1 ? "it" : "them"} now
        </button>
      )}
    </div>
  );
}
