/** The jobs that bots do on a shop, each as the requests that it takes. A job is done once the shop has served all of them. */

/** One step: a page that is read, or a form that is filled on its page and sent. */
export type Step =
  | { readonly kind: "read"; readonly path: string }
  | {
      readonly kind: "send";
      /** The page with the form. */
      readonly page: string;
      /** Where the form is posted to. */
      readonly path: string;
      readonly fields: Readonly<Record<string, string>>;
    };

const read = (...paths: string[]): Step[] => paths.map((path) => ({ kind: "read", path }));
const pages = (count: number) => Array.from({ length: count }, (_, index) => `/catalogue?page=${index + 1}`);
/** By name, as the table shows it: a bot's way through the shop. */
export const jobs = {
  catalogue: read(...pages(6)),
  search: read(...["lamp", "oak", "brass", "desk", "reading", "small"].map((word) => `/search?q=${word}`)),
  price: read(...[3, 11, 18, 27, 33, 41, 44, 52].map((number) => `/product/${number}`)),
  "log-in": [{ kind: "send", page: "/login", path: "/login", fields: { user: "ada", secret: "winter2024" } }],
  "sign-up": [
    { kind: "send", page: "/signup", path: "/signup", fields: { mail: "ada@mail.example", secret: "brassowl" } },
  ],
  contact: [
    { kind: "send", page: "/contact", path: "/contact", fields: { mail: "ada@mail.example", message: "cheap links" } },
  ],
  checkout: [
    ...read("/", "/product/7"),
    { kind: "send", page: "/product/7", path: "/cart", fields: {} },
    { kind: "send", page: "/checkout", path: "/checkout", fields: { name: "Ada Bell", card: "4000123412341234" } },
  ],
  delivery: [
    {
      kind: "send",
      page: "/delivery",
      path: "/delivery",
      fields: { name: "Ada Bell", street: "12 Mill Lane", town: "Norwich" },
    },
  ],
  account: [{ kind: "send", page: "/enter", path: "/enter", fields: { mail: "ada@mail.example", secret: "brassowl" } }],
} as const satisfies Record<string, readonly Step[]>;

export type JobName = keyof typeof jobs;

/** Forms that browsers and password managers know by their fields; only those who fill in forms do these. */
export const knownForms: readonly JobName[] = ["delivery", "account"];

/** What tools, clients and people do by turns. */
export const jobNames = (Object.keys(jobs) as JobName[]).filter((name) => !knownForms.includes(name));

/** How the shop's log names a served step. */
export function servedName(step: Step): string {
  return step.kind === "read" ? `GET ${step.path}` : `POST ${step.path}`;
}
