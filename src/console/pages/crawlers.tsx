/** Crawlers: which operators' bots come, how much, to which paths, and who only pretends to be one. */
import type { CrawlersAnswer } from "../../contract/traffic/traffic-answers.js";
import { exploreHash } from "../explore-view.js";
import { hashOf, useAddressed } from "../location.js";
import type { AddressedPageProperties } from "../page-properties.js";
import { FreshnessLine, Loaded, PageTitle, Table, Time, Trend } from "../parts.js";
import { useResource } from "../resource.js";
import { readablePath } from "../shown-text.js";
import { count } from "../words.js";

const spans = {
  day: { name: "24 hours", days: 1 },
  week: { name: "7 days", days: 7 },
  month: { name: "30 days", days: 30 },
} as const;
type SpanName = keyof typeof spans;
type Crawler = CrawlersAnswer["data"][number];

/** The detection that a visitor's address is not that of the crawler whose name it bears. */
const impostorDetection = 400101;

/** A table by operator for the last day, week or month. */
export function CrawlersPage({ api, project, query }: AddressedPageProperties) {
  const [last, setLast] = useAddressed(query.get("last") ?? "", (name) =>
    hashOf("crawlers", undefined, { last: name }),
  );
  const span: SpanName = Object.hasOwn(spans, last) ? (last as SpanName) : "week";
  const found = useResource(
    () => api.crawlers(project, new Date(Date.now() - spans[span].days * 86_400_000)),
    [api, project, span],
  );
  return (
    <>
      <PageTitle title="Crawlers">
        <FreshnessLine of={found} />
      </PageTitle>
      <p class="dim">
        A verified visit is one whose address, host name or signature proves the operator. An impostor has a crawler’s
        user agent, but an address that is not its operator’s. Requests are counted while{" "}
        <a href={hashOf("settings")}>request scoring</a> is on. The <a href={hashOf("bots")}>list of verified bots</a>{" "}
        shows how each is proven.
      </p>
      <fieldset class="choice">
        <legend class="unseen">Time range</legend>
        {(Object.keys(spans) as SpanName[]).map((name) => (
          <label key={name}>
            <input type="radio" name="span" checked={name === span} onChange={() => setLast(name)} />
            {spans[name].name}
          </label>
        ))}
      </fieldset>
      <Loaded from={found}>
        {({ data }) => (
          <Table
            caption="Crawlers by operator, those with the most visits first"
            columns={columnsOf(span)}
            rows={data}
            rowKey={({ operator }) => operator}
            empty="No visits from crawlers or impostors in this time."
          />
        )}
      </Loaded>
    </>
  );
}

const columnsOf = (span: SpanName) => [
  {
    name: "Operator",
    cell: ({ operator, category }: Crawler) => (
      <>
        {operator}
        <span class="line dim">{category === null ? "category not known" : category.replaceAll("_", " ")}</span>
      </>
    ),
  },
  { name: "Verified visits", cell: ({ verified }: Crawler) => count(verified), isNumber: true },
  {
    name: "Impostors",
    cell: ({ impostors }: Crawler) =>
      impostors === 0 ? (
        "none"
      ) : (
        <a
          href={exploreHash({
            expression: `detection_ids contains ${impostorDetection}`,
            time: span,
            subject: "request",
          })}
        >
          {count(impostors)}
        </a>
      ),
    isNumber: true,
  },
  {
    name: "Verified visits a day",
    cell: ({ trend }: Crawler) => <Trend of={trend} label={`${trend.join(", ")} by day`} />,
  },
  {
    name: "Most frequent paths",
    cell: ({ paths }: Crawler) =>
      paths.length === 0 ? (
        <span class="dim">none</span>
      ) : (
        <ul class="plain">
          {paths.map(({ value, count: visits }) => (
            <li key={value} class="wrap">
              <bdi>{readablePath(value)}</bdi> <span class="dim">{count(visits)}</span>
            </li>
          ))}
        </ul>
      ),
  },
  { name: "Last visit", cell: ({ last_at }: Crawler) => <Time at={last_at} /> },
];
