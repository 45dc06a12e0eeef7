/** The way to anything by its name (Ctrl+K): a reference, a session, an address, a path, a rule, a page. */
import { useEffect, useRef, useState } from "preact/hooks";
import { referenceIn } from "../../contract/verdicts/reference.js";
import { type Api, ApiFault } from "../api.js";
import { exploreHash } from "../explore-view.js";
import { equalTo } from "../expression.js";
import { hashOf, type PageName } from "../location.js";
import { Dialog } from "../parts.js";
import { useResource } from "../resource.js";

interface Target {
  readonly name: string;
  readonly href: string;
}

const shownMax = 12;

/** Calls `onOpen` on Ctrl+K, ⌘K. */
export function useFinderKey(onOpen: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "k") return;
      event.preventDefault();
      onOpen();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}

/** The dialog; Enter opens the first target, the arrow keys go through them. */
export function Finder(properties: {
  readonly api: Api;
  /** Null: none is chosen, so only pages are found. */
  readonly project: number | null;
  readonly pages: readonly (readonly [PageName, string])[];
  readonly onClose: () => void;
}) {
  const { api, project, pages, onClose } = properties;
  const [text, setText] = useState("");
  const list = useRef<HTMLUListElement>(null);
  const rules = useResource(async () => (project === null ? [] : await api.rules(project)), [api, project]);
  const asked = text.trim();
  const missing = useResource(
    async () => (project === null ? null : await missingOf(api, project, asked)),
    [api, project, asked],
  );
  const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (of: string) => words.length > 0 && words.every((word) => of.toLowerCase().includes(word));
  const targets = [
    ...(project === null ? [] : directTargets(asked)),
    ...pages
      .filter(([, name]) => words.length === 0 || has(name))
      .map(([page, name]) => ({ name, href: hashOf(page) })),
    ...(rules.value ?? [])
      .filter(({ id, name, expression_source }) => has(`rule ${id} ${name} ${expression_source}`))
      .map(({ id, name }) => ({ name: `Rule ${id} ${name}`, href: hashOf("rules", id) })),
  ].slice(0, shownMax);
  const open = (target: Target | undefined) => {
    if (target === undefined) return;
    onClose();
    location.hash = target.href;
  };
  const move = (event: KeyboardEvent, by: number) => {
    const links = [...(list.current?.querySelectorAll("a") ?? [])];
    const index = links.indexOf(document.activeElement as HTMLAnchorElement);
    event.preventDefault();
    links[Math.max(0, Math.min(links.length - 1, index + by))]?.focus();
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      <form
        class="finder"
        onSubmit={(event) => {
          event.preventDefault();
          open(targets[0]);
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") move(event, 1);
          else if (event.key === "ArrowUp") move(event, -1);
        }}
      >
        <label>
          <span>Reference, session, address, path, rule, page</span>
          <input
            autoFocus
            type="search"
            spellcheck={false}
            autocomplete="off"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <p class="unseen" role="status">
          {missing.value ?? (targets.length === 0 ? "Nothing has this name." : `${targets.length} found`)}
        </p>
        <ul ref={list} class="plain">
          {targets.map(({ name, href }) => (
            <li key={`${name} ${href}`}>
              <a href={href} class="wrap" onClick={onClose}>
                {name}
              </a>
            </li>
          ))}
        </ul>
        {missing.value != null && <p class="dim">{missing.value}</p>}
        {targets.length === 0 && <p class="dim">Nothing has this name.</p>}
      </form>
    </Dialog>
  );
}

/** What to say of a reference or a session that is in the right form, and that the project does not have; null where nothing is to be said. */
async function missingOf(api: Api, project: number, text: string): Promise<string | null> {
  const reference = referenceIn(text);
  if (reference !== null) {
    const { data } = await api.blockOf(project, reference);
    return data.length === 0 ? "No block has this reference." : null;
  }
  if (!sessionForm.test(text)) return null;
  try {
    await api.session(project, text);
    return null;
  } catch (fault) {
    return fault instanceof ApiFault && fault.status === 404 ? "The project has no such session." : null;
  }
}

const sessionForm = /^sess_[\w-]+$/;
const addressForm = /^(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]*:[0-9a-f:.]+)(?:\/\d{1,3})?$/i;

/** What a text is by its form. */
function directTargets(text: string): Target[] {
  const q = referenceIn(text);
  if (q !== null) {
    return [{ name: `Block with the reference ${q}`, href: hashOf("blocks", undefined, { q }) }];
  }
  if (sessionForm.test(text)) return [{ name: `Session ${text}`, href: hashOf("sessions", text) }];
  const field = addressForm.test(text) ? "ip" : text.startsWith("/") ? "path" : null;
  if (field === null) return [];
  const expression = equalTo(field, text);
  const what = field === "ip" ? `address ${text}` : `path ${text}`;
  return [
    { name: `Sessions of the ${what}`, href: exploreHash({ expression, time: "week" }) },
    {
      name: `Requests of the ${what} without a session`,
      href: exploreHash({ expression, time: "week", subject: "request" }),
    },
    ...(field === "ip" ? [{ name: `Blocks of the ${what}`, href: hashOf("blocks", undefined, { q: text }) }] : []),
  ];
}
