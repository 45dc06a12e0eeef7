/** Keys: enabling scoring, the site key to take along, rotation of both. A private key is shown once, when it is made. */
import { useState } from "preact/hooks";
import type { ProjectPageProperties } from "../app.js";
import { Card, Confirmation, CopyField, Fault, Loaded, PageTitle, SecretDialog } from "../parts.js";
import { useResource, useTask } from "../resource.js";

type Kind = "site" | "private";

/** Before scoring is enabled, the button for it; then the site key with its script tag, and rotation, which ends the old key at once. */
export function KeysPage({ api, project, onEnabled }: ProjectPageProperties & { readonly onEnabled: () => void }) {
  const scoring = useResource(() => api.scoring(project), [api, project]);
  const [asked, setAsked] = useState<Kind | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const [said, setSaid] = useState("");
  const task = useTask();
  const enable = () =>
    task.run(async () => {
      const { private_key } = await api.enableScoring(project);
      setSecret(private_key);
      onEnabled();
      await scoring.reload();
    });
  const rotate = (type: Kind) =>
    task.run(async () => {
      const { key } = await api.rotate(project, type);
      setAsked(null);
      if (type === "private") setSecret(key);
      setSaid(`The ${type} key was rotated. The old key is refused from now on.`);
      await scoring.reload();
    });
  return (
    <>
      <PageTitle title="Keys" />
      <p class="said" role="status">
        {said}
      </p>
      {asked === null && <Fault of={task.fault} />}
      <Loaded from={scoring}>
        {({ site_key }) =>
          site_key === null ? (
            <Card title="Scoring is not enabled">
              <p>This creates a site key and a private key. It blocks nobody: the starter rules are inactive.</p>
              <button type="button" class="primary" aria-disabled={task.isRunning} onClick={() => void enable()}>
                Enable scoring
              </button>
            </Card>
          ) : (
            <>
              <Card title="Site key">
                <p class="dim">Public: it is part of your pages and can only send events.</p>
                <CopyField label="Site key" value={site_key} />
                <CopyField
                  label="For your pages"
                  value={`<script async src="${location.origin}/sdk.js" data-site-key="${site_key}"></script>`}
                />
                <button type="button" onClick={() => setAsked("site")}>
                  Rotate the site key
                </button>
              </Card>
              <Card title="Private key">
                <p class="dim">
                  Secret, for your servers: it reads verdicts. Only its hash is stored, so it can be replaced but not
                  shown.
                </p>
                <button type="button" onClick={() => setAsked("private")}>
                  Rotate the private key
                </button>
              </Card>
            </>
          )
        }
      </Loaded>
      {asked !== null && (
        <Confirmation
          title={`Rotate the ${asked} key?`}
          yes="Rotate"
          isBusy={task.isRunning}
          fault={task.fault}
          onYes={() => void rotate(asked)}
          onNo={() => setAsked(null)}
        >
          <p>
            The old key is refused at once.{" "}
            {asked === "site" ? "Pages that use it stop reporting." : "Servers that use it stop getting verdicts."}
          </p>
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
