/** Ranks the sections of the documentation for what a reader typed. Pure; runs in the browser, and in tests. */
import type { SearchSection } from "./search-index.js";

/** Words that say nothing of what is looked for. */
const fillers = new Set("a an and at be do for how i in is it my of on or the to what with".split(" "));

/** What is typed, as words; fillers go where others remain. */
export function wordsOf(text: string): string[] {
  const words = text
    .toLowerCase()
    .split(/[^\p{L}\p{N}_]+/u)
    .filter(Boolean);
  const telling = words.filter((word) => !fillers.has(word));
  return telling.length > 0 ? telling : words;
}

/** What readers say, and the documentation says otherwise. */
const synonyms: Readonly<Record<string, readonly string[]>> = {
  make: ["create", "add"],
  already: [],
  remove: ["delete"],
  unblock: ["exception", "through", "let"],
  whitelist: ["exception", "allow", "through"],
  allowlist: ["exception", "allow", "through"],
  credential: ["login", "attack"],
  stuffing: ["login", "attack"],
  bruteforce: ["login", "attack"],
  brute: ["login", "attack"],
  force: ["attack"],
  ddos: ["attack", "incident"],
  captcha: ["challenge"],
  complaint: ["complains"],
  customer: ["complains"],
  positive: ["person", "hurting"],
  php: ["backend", "nginx", "language"],
  wordpress: ["nginx", "backend"],
  laravel: ["nginx", "backend"],
  scraping: ["crawler", "bots"],
  notification: ["alert"],
  notify: ["alert"],
  pagerduty: ["webhook", "alert"],
  siem: ["event", "log"],
};

/**
 * The sections that fit, best first: a word in the heading counts more than one in the page's title, that more than one in the text. Sections
 * without all words come only where none has them; records of decisions come last.
 */
export function rankedSections(words: readonly string[], sections: readonly SearchSection[]): SearchSection[] {
  const isLast = ({ path }: SearchSection) => path.startsWith("/docs/decisions");
  const ranked = sections
    .map((section) => ({ section, ...rankOf(section, words) }))
    .filter(({ found }) => found > 0)
    .sort((one, other) => other.found - one.found || other.rank - one.rank);
  const most = ranked[0]?.found ?? 0;
  const shown = ranked.filter(({ found }) => found === most).map(({ section }) => section);
  return [...shown.filter((each) => !isLast(each)), ...shown.filter(isLast)];
}

function rankOf({ page, heading, text }: SearchSection, words: readonly string[]): { found: number; rank: number } {
  const [inHeading, inPage, inText] = [heading, page, text].map(tokensOf) as [Tokens, Tokens, Tokens];
  // Routes and names of schemas stand in the reference, which is for those who know them.
  const isPage = heading === page;
  const isReference = !isPage && page === "API" && /^[A-Z]+ \/|^[A-Z][A-Za-z]*$/.test(heading);
  let [found, rank, headed] = [0, 0, 0];
  for (const word of words) {
    const meant = [word, ...(synonyms[word] ?? [])];
    const best = (tokens: Tokens) => Math.max(...meant.map((each) => likeness(each, tokens)));
    const [h, p, t] = [best(inHeading), best(inPage), best(inText)];
    if (h + p + t === 0 && synonyms[word]?.length !== 0) continue;
    found += 1;
    headed += h;
    const frequency = Math.min(1, meant.reduce((sum, each) => sum + (inText.get(each) ?? 0), 0) / 5);
    rank += (isReference ? 8 : isPage ? 32 : 20) * h + 8 * p + 4 * t + frequency;
  }
  // A heading that says just what was asked.
  const spare = inHeading.size === 0 ? 0 : headed / inHeading.size;
  return { found, rank: rank + (isReference ? 2 : 10) * spare };
}

/** How often each word is there. */
type Tokens = ReadonlyMap<string, number>;

const known = new Map<string, Tokens>();

function tokensOf(text: string): Tokens {
  let tokens = known.get(text) as Map<string, number> | undefined;
  if (tokens === undefined) {
    tokens = new Map();
    for (const word of text.toLowerCase().split(/[^\p{L}\p{N}_]+/u))
      if (word) tokens.set(word, (tokens.get(word) ?? 0) + 1);
    known.set(text, tokens);
  }
  return tokens;
}

/** 1 for the word or its plural, less for the start of one, least for a word with one slip; 0 where none is like it. */
function likeness(word: string, tokens: Tokens): number {
  if (tokens.has(word) || tokens.has(`${word}s`) || (word.endsWith("s") && tokens.has(word.slice(0, -1)))) return 1;
  let best = 0;
  for (const token of tokens.keys()) {
    if (token.startsWith(word)) return 0.6;
    if (word.length >= 4 && isOneSlip(word, token)) best = 0.3;
  }
  return best;
}

/** Whether one letter was left out, added, replaced or swapped with its neighbour. */
function isOneSlip(one: string, other: string): boolean {
  if (Math.abs(one.length - other.length) > 1) return false;
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  const [rest, otherRest] = [one.slice(at), other.slice(at)];
  return (
    rest.slice(1) === otherRest ||
    rest === otherRest.slice(1) ||
    rest.slice(1) === otherRest.slice(1) ||
    (rest[0] === otherRest[1] && rest[1] === otherRest[0] && rest.slice(2) === otherRest.slice(2))
  );
}
