/** The console as a whole: signed out the sign-in form, signed in the frame of navigation around the page that is open. */
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { AccountAnswer, TokenRow } from "../contract/configuration/account-answers.js";
import type { ProjectRow } from "../contract/configuration/project-answers.js";
import { AccessContext, accessOf } from "./access.js";
import { Api } from "./api.js";
import { forgetToken, storedProject, storedToken, storeProject, storeToken } from "./credential.js";
import {
  accountPages,
  hashOf,
  hashOfProject,
  type PageName,
  type Place,
  projectPages,
  replaceHash,
  usePlace,
} from "./location.js";
import type { ProjectPageProperties } from "./page-properties.js";
import { AlertsPage } from "./pages/alerts.js";
import { BlocksPage } from "./pages/blocks.js";
import { BotsPage } from "./pages/bots.js";
import { ChangesPage } from "./pages/changes.js";
import { CrawlersPage } from "./pages/crawlers.js";
import { ExceptionsPage } from "./pages/exceptions.js";
import { ExplorePage } from "./pages/explore.js";
import { Finder, useFinderKey } from "./pages/finder.js";
import { KeysPage } from "./pages/keys.js";
import { MembersPage } from "./pages/members.js";
import { OverviewPage } from "./pages/overview.js";
import { ProjectsPage } from "./pages/projects.js";
import { RuleEditorPage } from "./pages/rule-editor.js";
import { RulesPage } from "./pages/rules.js";
import { SessionPage } from "./pages/session.js";
import { SessionsPage } from "./pages/sessions.js";
import { SettingsPage } from "./pages/settings.js";
import { SignInPage } from "./pages/sign-in.js";
import { TokensPage } from "./pages/tokens.js";
import { UsagePage } from "./pages/usage.js";
import { Fault, PageTitle } from "./parts.js";
import { useResource } from "./resource.js";
import { shareToken, tellSignedOut, tokenOfOtherTabs } from "./tabs.js";
import { zone } from "./words.js";

/** The root of the page. Another token mounts the frame anew, so that nothing loaded with one token is shown to the next. */
export function App() {
  const [token, setToken] = useState(storedToken);
  const [notice, setNotice] = useState<string | null>(null);
  /** Whether another tab may still hand over its token. */
  const [isAsking, setAsking] = useState(token === null);
  const signOut = useCallback((why: string | null) => {
    const held = storedToken();
    if (why === null && held !== null) tellSignedOut(held);
    forgetToken();
    // Who signs out of their own accord leaves no trace of what was open; who is put out finds it again.
    if (why === null) history.replaceState(null, "", hashOf("overview"));
    setNotice(why);
    setToken(null);
  }, []);
  /** A token was refused. Answers that come late, of a frame that is gone, end nothing that was signed in since, and change no notice. */
  const refuse = useCallback((refused: string) => {
    if (storedToken() === refused) signOut("The token is no longer valid: sign in again.");
  }, []);
  const signIn = (given: string) => {
    storeToken(given);
    setNotice(null);
    setToken(given);
  };
  useEffect(() => {
    if (!isAsking) return;
    void tokenOfOtherTabs().then((given) => {
      if (given !== null) signIn(given);
      setAsking(false);
    });
  }, []);
  useEffect(() => {
    if (token === null) return;
    return shareToken(token, () => signOut("You signed out in another tab."));
  }, [token]);
  if (token === null) {
    if (isAsking) return <main class="sign-in" aria-busy="true" />;
    return <SignInPage notice={notice} onSignIn={signIn} />;
  }
  return <Frame key={token} token={token} signOut={signOut} onRefused={refuse} />;
}

interface FrameProperties {
  readonly token: string;
  readonly signOut: (why: string | null) => void;
  readonly onRefused: (token: string) => void;
}

function Frame({ token, signOut, onRefused }: FrameProperties) {
  const api = useMemo(() => new Api(token, () => onRefused(token)), [token]);
  const place = usePlace();
  const home = useResource(async () => {
    const [account, projects, own] = await Promise.all([api.account(), api.projects(), ownToken(api)]);
    return { account, projects: projects.data, access: accessOf(account.role, own) };
  }, [api]);
  const projects = home.value?.projects ?? [];
  const own = (wanted: number | null) => projects.find(({ id }) => id === wanted);
  // A link to a project of another account must not show one of this.
  const project = place.project === null ? (own(storedProject()) ?? projects[0]) : own(place.project);
  useEffect(() => {
    if (project === undefined) return;
    storeProject(project.id);
    // The address may have got a project since: a change of it is told a moment later.
    const isNamed = new URLSearchParams(location.hash.split("?")[1]).has("project");
    if (projects.length > 1 && place.project === null && !isNamed) replaceHash(hashOfProject(project.id));
  }, [project, place]);
  const [isFinding, setFinding] = useState(false);
  useFinderKey(() => setFinding(true));
  const choose = (id: number) => {
    location.hash = hashOf(place.page ?? "overview", undefined, {}, id);
  };
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById("content")?.focus()}>
        Skip to the page
      </button>
      <TopBar
        account={home.value?.account}
        projects={projects}
        chosen={project?.id}
        onChoose={choose}
        onFind={() => setFinding(true)}
        onSignOut={() => signOut(null)}
      />
      {isFinding && (
        <Finder
          api={api}
          project={project?.id ?? null}
          pages={[...(project === undefined ? [] : projectPages), ...accountPages]}
          onClose={() => setFinding(false)}
        />
      )}
      <nav aria-label="Pages">
        <Links title="Project pages" pages={projectPages} open={place.page} />
        <Links title="Account pages" pages={accountPages} open={place.page} />
      </nav>
      <main id="content" tabIndex={-1}>
        <Fault of={home.fault} />
        {home.value !== undefined && (
          <AccessContext.Provider value={home.value.access}>
            {!home.value.access.mayWrite && <p class="notice read-only">{home.value.access.why}</p>}
            <OpenPage
              place={place}
              api={api}
              project={project}
              projects={projects}
              signOut={signOut}
              onProjects={home.reload}
            />
            <p class="dim zone">Times are in {zone()}.</p>
          </AccessContext.Provider>
        )}
      </main>
    </>
  );
}

/** The token that this console uses, as its list has it; null where the list can't be read. */
async function ownToken(api: Api): Promise<TokenRow | null> {
  try {
    return (await api.tokens()).data.find(({ current }) => current) ?? null;
  } catch {
    return null;
  }
}

interface TopBarProperties {
  readonly account: AccountAnswer | undefined;
  readonly projects: readonly ProjectRow[];
  readonly chosen: number | undefined;
  readonly onChoose: (id: number) => void;
  readonly onFind: () => void;
  readonly onSignOut: () => void;
}

function TopBar({ account, projects, chosen, onChoose, onFind, onSignOut }: TopBarProperties) {
  return (
    <header class="top">
      <span class="brand">verdictd</span>
      {projects.length > 0 && (
        <label class="project">
          <span>Project</span>
          <select value={chosen ?? ""} onChange={(event) => onChoose(Number(event.currentTarget.value))}>
            {chosen === undefined && <option value="">Choose a project</option>}
            {projects.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      <span class="account">{account === undefined ? "" : `${account.name}, ${account.role ?? "no role"}`}</span>
      <button type="button" class="quiet find" aria-keyshortcuts="Control+K" onClick={onFind}>
        Go to… <kbd>Ctrl K</kbd>
      </button>
      <button type="button" class="quiet" onClick={onSignOut}>
        Sign out
      </button>
    </header>
  );
}

function Links(properties: {
  readonly title: string;
  readonly pages: readonly (readonly [PageName, string])[];
  readonly open: PageName | null;
}) {
  const { title, pages, open } = properties;
  const list = useRef<HTMLUListElement>(null);
  // On a phone the pages are one long line.
  useEffect(() => {
    list.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [open]);
  return (
    <ul ref={list} aria-label={title}>
      {pages.map(([page, name]) => (
        <li key={page}>
          <a href={hashOf(page)} aria-current={page === open ? "page" : undefined}>
            {name}
          </a>
        </li>
      ))}
    </ul>
  );
}

interface OpenPageProperties {
  readonly place: Place;
  readonly api: Api;
  readonly project: ProjectRow | undefined;
  readonly projects: readonly ProjectRow[];
  readonly signOut: (why: string | null) => void;
  /** Something about the list of projects changed. */
  readonly onProjects: () => Promise<void>;
}

function OpenPage({ place, api, project, projects, signOut, onProjects }: OpenPageProperties) {
  const { page, item, query } = place;
  if (page === null) return <NoPage />;
  if (page === "projects") return <ProjectsPage api={api} projects={projects} onMade={onProjects} />;
  if (page === "bots") return <BotsPage api={api} query={query} />;
  if (page === "members") return <MembersPage api={api} />;
  if (page === "tokens") return <TokensPage api={api} onRevokedSelf={() => signOut("The token is revoked.")} />;
  if (page === "changes") return <ChangesPage api={api} />;
  if (page === "usage") return <UsagePage api={api} />;
  if (project === undefined) return <NoProject hasProjects={projects.length > 0} wanted={place.project} />;
  const of: ProjectPageProperties = { api, project: project.id };
  switch (page) {
    case "overview":
      return (
        <OverviewPage
          key={project.id}
          {...of}
          projectName={project.name}
          query={query}
          onEnabled={() => void onProjects()}
        />
      );
    case "explore":
      return <ExplorePage key={project.id} {...of} query={query} />;
    case "sessions":
      return item === null ? (
        <SessionsPage key={project.id} {...of} query={query} />
      ) : (
        <SessionPage key={`${project.id} ${item}`} {...of} token={item} />
      );
    case "blocks":
      return <BlocksPage key={project.id} {...of} query={query} />;
    case "exceptions":
      return <ExceptionsPage key={project.id} {...of} />;
    case "crawlers":
      return <CrawlersPage key={project.id} {...of} query={query} />;
    case "alerts":
      return <AlertsPage key={project.id} {...of} query={query} />;
    case "rules":
      return item === null ? (
        <RulesPage key={project.id} {...of} query={query} />
      ) : (
        <RuleEditorPage key={`${project.id} ${item}`} {...of} item={item} query={query} />
      );
    case "settings":
      return <SettingsPage key={project.id} {...of} />;
    case "keys":
      return <KeysPage key={project.id} {...of} onEnabled={() => void onProjects()} />;
  }
}

function NoPage() {
  return (
    <>
      <PageTitle title="No such page" />
      <p>
        The console has no page with this address: <code class="wrap">{location.hash}</code>
      </p>
      <p>
        <a href={hashOf("overview")}>To the overview</a>
      </p>
    </>
  );
}

function NoProject({ hasProjects, wanted }: { readonly hasProjects: boolean; readonly wanted: number | null }) {
  return (
    <>
      <PageTitle title="No project" />
      <p>
        {hasProjects
          ? `This account has no project ${wanted}: the link belongs to another account, or the project is gone. Choose one of yours above.`
          : "The account has no project yet."}
      </p>
      <p>
        <a href={hashOf("projects")}>Projects</a>
      </p>
    </>
  );
}
