/** Members: who belongs to the account and as what; owners and admins add people, change roles and remove them. */
import { useLayoutEffect, useState } from "preact/hooks";
import type { MemberRow } from "../../contract/configuration/account-answers.js";
import { type Role, roles } from "../../contract/configuration/entities.js";
import { useAccess } from "../access.js";
import type { Api } from "../api.js";
import { ChoiceField, choicesOf, NameField } from "../fields.js";
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
import { count } from "../words.js";

const roleWords: Readonly<Record<Role, string>> = {
  owner: "Owner: everything",
  admin: "Admin: everything except owners",
  member: "Member: projects and rules",
  viewer: "Viewer: reads only",
};

interface Secret {
  readonly name: string;
  readonly token: string;
}

/** The page of the account's members; needs `administer` for everything but reading. A new member's token is shown once. */
export function MembersPage({ api }: { readonly api: Api }) {
  const members = useResource(() => api.members(), [api]);
  const [secret, setSecret] = useState<Secret | null>(null);
  const [removing, setRemoving] = useState<MemberRow | null>(null);
  const [said, setSaid] = useState("");
  const task = useTask();
  const changed = async (work: () => Promise<unknown>, done: string) => {
    await work();
    await members.reload();
    setSaid(done);
  };
  const run = (...how: Parameters<typeof changed>) => task.run(() => changed(...how));
  const remove = ({ user }: MemberRow) =>
    changed(() => api.removeMember(user.id), `${user.name} is no longer a member.`);
  const own = members.value?.data.find(({ current }) => current)?.role;
  const { mayWrite } = useAccess();
  const mayChange = mayWrite && (own === "owner" || own === "admin");
  const add = (name: string, email: string, role: Role) =>
    run(async () => {
      const made = await api.addMember({ name, email, role });
      setSecret({ name, token: made.account_token });
    }, `${name} is a member.`);
  return (
    <>
      <PageTitle title="Members">
        <FreshnessLine of={members} />
      </PageTitle>
      <p class="said" role="status">
        {said}
      </p>
      <Fault of={task.fault} />
      <Loaded from={members}>
        {({ data }) => (
          <Table
            caption="Members of the account"
            columns={[
              ...columns,
              {
                name: "Role",
                cell: (row: MemberRow) =>
                  mayChange ? (
                    <select
                      aria-label={`Role of ${row.user.name}`}
                      value={row.role}
                      onChange={(event) => {
                        const role = event.currentTarget.value as Role;
                        // Shown anew from what the server says, also when it refuses.
                        event.currentTarget.value = row.role;
                        void run(() => api.changeMember(row.user.id, role), `${row.user.name} is now ${role}.`);
                      }}
                    >
                      {roles.map((role) => (
                        <option key={role} value={role}>
                          {role}
                        </option>
                      ))}
                    </select>
                  ) : (
                    row.role
                  ),
              },
              ...(mayChange
                ? [
                    {
                      name: "Remove",
                      isAction: true,
                      cell: (row: MemberRow) => (
                        <RowButton label={`Remove ${row.user.name}`} onPress={() => setRemoving(row)}>
                          Remove
                        </RowButton>
                      ),
                    },
                  ]
                : []),
            ]}
            rows={data}
            rowKey={({ user }) => user.id}
            empty="The account has no members."
          />
        )}
      </Loaded>
      {mayChange && (
        <NewMember
          isBusy={task.isRunning}
          count={members.value?.data.length ?? 0}
          onAdd={(...given) => void add(...given)}
        />
      )}
      {removing !== null && (
        <Confirmation
          title={`Remove ${removing.user.name}?`}
          yes="Remove"
          act={() => task.confirmed(remove(removing))}
          onClose={() => setRemoving(null)}
        >
          <p>
            Tokens of this person are refused for this account from the next request on; they work again if the person
            becomes a member again. Revoke them under Account tokens to end them for good.
          </p>
        </Confirmation>
      )}
      {secret !== null && (
        <SecretDialog title={`A token for ${secret.name}`} secret={secret.token} onClose={() => setSecret(null)}>
          <p>Send it over a secure channel: it signs {secret.name} in to this console. It can’t be shown again.</p>
        </SecretDialog>
      )}
    </>
  );
}

const columns = [
  {
    name: "Member",
    cell: (row: MemberRow) => (
      <span class="wrap">
        {row.user.name}
        {row.current && <span class="dim"> (you)</span>}
        {row.user.email !== null && <span class="dim"> {row.user.email}</span>}
      </span>
    ),
  },
  {
    name: "Tokens",
    cell: (row: MemberRow) => (row.tokens === null ? <span class="dim">not shown</span> : count(row.tokens)),
    isNumber: true,
  },
  {
    name: "Last seen",
    cell: (row: MemberRow) =>
      row.last_used_at === null ? <span class="dim">not known</span> : <Time at={row.last_used_at} />,
  },
];

const nobody = { name: "", email: "", role: "viewer" as Role };

function NewMember(properties: {
  readonly isBusy: boolean;
  readonly onAdd: (name: string, email: string, role: Role) => void;
  /** How many members there are: one more empties the form. */
  readonly count: number;
}) {
  const { isBusy, onAdd, count } = properties;
  const [draft, setDraft] = useState(nobody);
  useLayoutEffect(() => setDraft(nobody), [count]);
  const submit = (event: Event) => {
    event.preventDefault();
    if (isBusy) return;
    onAdd(draft.name.trim(), draft.email.trim(), draft.role);
  };
  return (
    <Card title="Add a member">
      <form onSubmit={submit}>
        <NameField value={draft.name} onChange={(name) => setDraft({ ...draft, name })} />
        <label>
          <span>E-mail</span>
          <input
            type="email"
            required
            maxLength={255}
            autocomplete="off"
            value={draft.email}
            onInput={(event) => setDraft({ ...draft, email: event.currentTarget.value })}
          />
        </label>
        <ChoiceField
          label="Role"
          value={draft.role}
          options={choicesOf(roleWords)}
          onChange={(role) => setDraft({ ...draft, role })}
        />
        <p class="dim">No e-mail is sent: you get a token to hand over.</p>
        <button type="submit" class="primary" aria-disabled={isBusy}>
          Add the member
        </button>
      </form>
    </Card>
  );
}
