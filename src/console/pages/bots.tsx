/** The verified-bot allowlist in force, with a search. */
import type { VerifiedBotEntry } from "../../contract/bots/verified-bots.js";
import { type Api, ApiFault } from "../api.js";
import { equalTo } from "../expression.js";
import { hashOf, useAddressed } from "../location.js";
import { Fault, PageTitle, SearchField, Table } from "../parts.js";
import { useResource } from "../resource.js";
import { count } from "../words.js";
import { Explored } from "./explored.js";

/** Rows shown at once: the search finds the others. */
const shownMax = 200;

/** The list as the server exports it, filtered here; a note in its place where the account's plan does not include it. */
export function BotsPage({ api, query }: { readonly api: Api; readonly query: URLSearchParams }) {
  const list = useResource(() => api.verifiedBots(), [api]);
  const [search, setSearch] = useAddressed(query.get("q") ?? "", (q) =>
    hashOf("bots", undefined, q === "" ? {} : { q }),
  );
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const all = list.value?.data ?? [];
  const found = all.filter((entry) => words.every((word) => textOf(entry).includes(word)));
  const lacksFeature = list.fault instanceof ApiFault && list.fault.code === "FEATURE_NOT_AVAILABLE";
  return (
    <>
      <PageTitle title="Verified bots" />
      <p class="dim">
        A visitor from one of these ranges, or with such a host name confirmed by DNS, is a verified bot, whatever its
        score.
      </p>
      {lacksFeature ? (
        <p class="notice">The account’s plan does not include this list. The list is still in effect.</p>
      ) : (
        <Fault of={list.fault} />
      )}
      {list.value !== undefined && (
        <>
          <SearchField label="Search operator, category, range or suffix" value={search} onInput={setSearch} />
          <p class="dim" role="status">
            {countOf(found.length, all.length)}
          </p>
          <Table
            caption="Verified bots"
            columns={columns}
            rows={found.slice(0, shownMax)}
            rowKey={(entry) => `${entry.name} ${entry.category} ${entry.match_value}`}
            empty="No entry has all these words."
          />
        </>
      )}
      {list.value === undefined && list.fault === null && <p class="dim">Loading…</p>}
    </>
  );
}

const categoryWords: Readonly<Record<VerifiedBotEntry["category"], string>> = {
  search: "Search",
  ai_crawler: "AI crawler",
  ai_search: "AI search",
  monitoring: "Monitoring",
  seo: "SEO",
};

/** How many entries the search found, of how many, and that some of them are not shown. */
function countOf(found: number, all: number): string {
  const entries = found === all ? `${count(all)} entries` : `${count(found)} of ${count(all)} entries`;
  return found > shownMax ? `${entries}, the first ${shownMax} shown` : entries;
}

function textOf({ name, category, match_value }: VerifiedBotEntry): string {
  return `${name} ${categoryWords[category]} ${category} ${match_value}`.toLowerCase();
}

const columns = [
  { name: "Operator", cell: ({ name }: VerifiedBotEntry) => name },
  {
    name: "Category",
    cell: ({ category }: VerifiedBotEntry) => (
      <Explored condition={equalTo("verified_bot_category", category)} time="week">
        {categoryWords[category]}
      </Explored>
    ),
    isShort: true,
  },
  {
    name: "Proven by",
    cell: ({ match_method }: VerifiedBotEntry) => (match_method === "ip_cidr" ? "Address" : "Reverse DNS"),
  },
  {
    name: "Range or suffix",
    cell: ({ match_method, match_value }: VerifiedBotEntry) => (
      <Explored condition={match_method === "ip_cidr" ? equalTo("ip", match_value) : null} time="week">
        <code>{match_value}</code>
      </Explored>
    ),
  },
];
