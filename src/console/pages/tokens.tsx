/** Account tokens: list, make (the secret is shown once), revoke. */
import { useState } from "preact/hooks";
import type { TokenRow } from "../../contract/configuration/account-answers.js";
import { type TokenAbility, tokenAbilities } from "../../contract/configuration/control.js";
import { useAccess } from "../access.js";
import type { Api } from "../api.js";
import {
  Card,
  Confirmation,
  Fault,
  FreshnessLine,
  Loaded,
  PageTitle,
  RowButton,
  SecretDialog,
  Table,
  Time,
} from "../parts.js";
import { useResource, useTask } from "../resource.js";

interface TokensPageProperties {
  readonly api: Api;
  /** The token that this console uses was revoked. */
  readonly onRevokedSelf: () => void;
}

/** A new token is shown once, in a dialog. Revoking asks first; `onRevokedSelf` is called for the token of this console. */
export function TokensPage({ api, onRevokedSelf }: TokensPageProperties) {
  const tokens = useResource(() => api.tokens(), [api]);
  const [secret, setSecret] = useState<string | null>(null);
  const [revoking, setRevoking] = useState<TokenRow | null>(null);
  const [said, setSaid] = useState("");
  const task = useTask();
  const { mayWrite } = useAccess();
  const make = (name: string, abilities: TokenAbility[]) =>
    task.run(async () => {
      const made = await api.createToken({ abilities, ...(name !== "" && { name }) });
      setSecret(made.account_token);
      await tokens.reload();
      setSaid(`Token ${made.id} was created.`);
    });
  const revoke = async ({ id, current }: TokenRow) => {
    await api.revokeToken(id);
    if (current) return onRevokedSelf();
    await tokens.reload();
    setSaid(`Token ${id} is revoked.`);
  };
  const columns = [
    {
      name: "Token",
      cell: (row: TokenRow) => (
        <>
          {row.id}
          {row.name !== null && <span class="wrap">: {row.name}</span>}
          {row.current && <span class="dim"> (this one)</span>}
        </>
      ),
    },
    { name: "Abilities", cell: (row: TokenRow) => <code>{row.abilities.join(", ")}</code> },
    { name: "User", cell: (row: TokenRow) => row.user?.name ?? "removed user" },
    { name: "Made", cell: (row: TokenRow) => <Time at={row.created_at} /> },
    {
      name: "Last used",
      cell: (row: TokenRow) => (row.last_used_at === null ? "not yet" : <Time at={row.last_used_at} />),
    },
    {
      name: "Revoke",
      isAction: true,
      cell: (row: TokenRow) => (
        <RowButton label={`Revoke token ${row.id}`} onPress={() => setRevoking(row)}>
          Revoke
        </RowButton>
      ),
    },
  ];
  return (
    <>
      <PageTitle title="Account tokens">
        <FreshnessLine of={tokens} />
      </PageTitle>
      <p class="said" role="status">
        {said}
      </p>
      <Fault of={task.fault} />
      <Loaded from={tokens}>
        {({ data }) => (
          <Table
            caption="Account tokens"
            columns={mayWrite ? columns : columns.filter(({ name }) => name !== "Revoke")}
            rows={data}
            rowKey={({ id }) => id}
            empty="There are no tokens."
          />
        )}
      </Loaded>
      {mayWrite && <NewToken isBusy={task.isRunning} onMake={(name, abilities) => void make(name, abilities)} />}
      {revoking !== null && (
        <Confirmation
          title={`Revoke token ${revoking.id}?`}
          yes="Revoke"
          act={() => task.confirmed(revoke(revoking))}
          onClose={() => setRevoking(null)}
        >
          <p>
            Every program that uses it is refused from the next request on.
            {revoking.current && " It is the one this console is signed in with: you will be signed out."}
          </p>
        </Confirmation>
      )}
      {secret !== null && (
        <SecretDialog title="The new account token" secret={secret} onClose={() => setSecret(null)}>
          <p>Store it now: it can’t be shown again.</p>
        </SecretDialog>
      )}
    </>
  );
}

const abilityWords: Readonly<Record<TokenAbility, string>> = {
  "projects:read": "read configuration and reference data",
  "projects:write": "change configuration",
  "content:read": "read content",
  "content:write": "change content",
  "*": "everything your role permits, now and later",
};

function NewToken({
  isBusy,
  onMake,
}: {
  readonly isBusy: boolean;
  readonly onMake: (name: string, abilities: TokenAbility[]) => void;
}) {
  const [chosen, setChosen] = useState<ReadonlySet<TokenAbility>>(() => new Set(["projects:read"]));
  const [name, setName] = useState("");
  const toggle = (ability: TokenAbility) => {
    const next = new Set(chosen);
    if (!next.delete(ability)) next.add(ability);
    setChosen(next);
  };
  const submit = (event: Event) => {
    event.preventDefault();
    onMake(name.trim(), [...chosen]);
    setName("");
  };
  return (
    <Card title="Create a token">
      <form onSubmit={submit}>
        <label>
          <span>Name: what it is for</span>
          <input
            type="text"
            maxLength={100}
            autocomplete="off"
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>
        <fieldset>
          <legend>What it may do (never more than you may)</legend>
          {tokenAbilities.map((ability) => (
            <label key={ability} class="check">
              <input type="checkbox" checked={chosen.has(ability)} onChange={() => toggle(ability)} />
              <span>
                <code>{ability}</code> <span class="dim">{abilityWords[ability]}</span>
              </span>
            </label>
          ))}
        </fieldset>
        {chosen.size === 0 && <p class="dim">Choose at least one ability.</p>}
        <button type="submit" class="primary" disabled={chosen.size === 0} aria-disabled={isBusy}>
          Create a token
        </button>
      </form>
    </Card>
  );
}
