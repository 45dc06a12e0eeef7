/** Projects of the account: each with its own keys, rules and sessions; a new one is made here. */
import { useState } from "preact/hooks";
import type { ProjectRow } from "../../contract/configuration/project-answers.js";
import { useAccess } from "../access.js";
import type { Api } from "../api.js";
import { NameField } from "../fields.js";
import { hashOf } from "../location.js";
import { Card, Fault, PageTitle, Table } from "../parts.js";
import { useTask } from "../resource.js";

/** `onMade` is awaited after each new project: the list of the frame has it then. */
export function ProjectsPage(properties: {
  readonly api: Api;
  readonly projects: readonly ProjectRow[];
  readonly onMade: () => Promise<void>;
}) {
  const { api, projects, onMade } = properties;
  const [name, setName] = useState("");
  const task = useTask();
  const { mayWrite } = useAccess();
  const submit = (event: Event) => {
    event.preventDefault();
    void task.run(async () => {
      const { id } = await api.createProject(name.trim());
      await onMade();
      location.hash = hashOf("overview", undefined, {}, id);
    });
  };
  return (
    <>
      <PageTitle title="Projects" />
      <p class="dim">A project is one site or application: it has its own keys, rules, settings and sessions.</p>
      <Table
        caption="Projects of the account"
        columns={[
          { name: "Number", cell: ({ id }: ProjectRow) => id },
          {
            name: "Project",
            cell: ({ id, name: shown }: ProjectRow) => (
              <a class="wrap" href={hashOf("overview", undefined, {}, id)}>
                {shown}
              </a>
            ),
          },
          {
            name: "Scoring",
            cell: ({ id, scoring_enabled }: ProjectRow) =>
              scoring_enabled ? "enabled" : <a href={hashOf("keys", undefined, {}, id)}>not enabled yet</a>,
          },
        ]}
        rows={projects}
        rowKey={({ id }) => id}
        empty="The account has no project yet."
      />
      {mayWrite && (
        <Card title="Create a project">
          <form onSubmit={submit}>
            <NameField value={name} onChange={setName} />
            <Fault of={task.fault} />
            <button type="submit" class="primary" aria-disabled={task.isRunning}>
              Create the project
            </button>
          </form>
        </Card>
      )}
    </>
  );
}
