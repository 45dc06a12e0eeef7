/** A proxy's configuration for one site: the recipe of `src/middleware/recipes`, with the site's own names in it. */
import { readAsset } from "../../assets.js";

/** What a recipe is made for. All of it was checked: nothing in it can end a quotation or a line. */
interface Site {
  /** Host and port of the application. */
  readonly upstream: string;
  /** The name under which visitors know the site. */
  readonly host: string;
  /** Beginnings of the paths that are asked about; empty: all are. */
  readonly protect: readonly string[];
  /** Host and port of verdictd. */
  readonly verdictd: string;
  readonly siteKey: string;
}

/** The proxies that there are recipes for. */
export const proxyNames = ["nginx", "caddy", "haproxy", "traefik", "envoy", "gateway", "ingress"] as const;
/** A proxy that there is a recipe for. */
type ProxyName = (typeof proxyNames)[number];

/** Each text must be in the recipe; all its places are replaced. */
type Replacements = readonly (readonly [from: string, to: string])[];

interface Recipe {
  readonly file: string;
  readonly replacements: (site: Site) => Replacements;
  /** Those that are made where some paths alone are asked about. */
  readonly protecting: (site: Site) => Replacements;
}

const tag = (siteKey: string): string => `<script async src="/sdk.js" data-site-key="${siteKey}"></script>`;
const escaped = (path: string): string => path.replaceAll(".", "\\.");
const socketOf = (address: string): string => {
  const colon = address.lastIndexOf(":");
  return `address: ${address.slice(0, colon)}, port_value: ${address.slice(colon + 1)}`;
};
const serviceOf = (address: string): string => {
  const colon = address.lastIndexOf(":");
  return `name: ${address.slice(0, colon).split(".")[0]}, port: { number: ${address.slice(colon + 1)} }`;
};

const backendOf = (address: string): string => {
  const colon = address.lastIndexOf(":");
  return `name: ${address.slice(0, colon).split(".")[0]}, port: ${address.slice(colon + 1)}`;
};

const recipes: Readonly<Record<ProxyName, Recipe>> = {
  nginx: {
    file: "nginx.conf",
    replacements: ({ upstream, host, verdictd, siteKey }) => [
      [
        "# Change: the address of verdictd (127.0.0.1:8080), of the application (127.0.0.1:3000), the port (8000) and the private key",
        "# Change: the port (80; TLS as usual) and the private key",
      ],
      ["server 127.0.0.1:8080;", `server ${verdictd};`],
      ["server 127.0.0.1:3000;", `server ${upstream};`],
      ["  listen 8000;\n", `  listen 80;\n  server_name ${host};\n`],
      [
        "    proxy_pass http://application;\n",
        "    proxy_pass http://application;\n" +
          "    # Puts the script into the head of HTML pages, which the application must not compress for that. Pages with a script tag of their own: take these\n" +
          "    # two lines away.\n" +
          '    proxy_set_header Accept-Encoding "";\n' +
          `    sub_filter '</head>' '${tag(siteKey)}</head>';\n`,
      ],
    ],
    protecting: ({ protect }) => [
      [
        "upstream application {\n",
        "# What verdictd is asked about, by the path as nginx reads it: everything that begins so.\n" +
          `map $uri $visitor_is_asked { default 0; ${protect.map((path) => `"~*^${escaped(path)}" 1;`).join(" ")} }\n\n` +
          "upstream application {\n",
      ],
      [
        "  if ($visitor_path_is_long) { return 414; }\n",
        "  if ($visitor_path_is_long) { return 414; }\n" +
          "  # Looks at the visitor's own path, once: the question to verdictd, which has a path of its own, finds the answer kept.\n" +
          '  if ($visitor_is_asked = "") { return 500; }\n',
      ],
      [
        '    if ($verdict_id != "") { return 204; }\n',
        '    if ($verdict_id != "") { return 204; }\n    if ($visitor_is_asked = 0) { return 204; }\n',
      ],
    ],
  },
  caddy: {
    file: "Caddyfile",
    replacements: ({ upstream, host, verdictd, siteKey }) => [
      [
        "# Change: the address of verdictd (127.0.0.1:8080), of the application (127.0.0.1:3000), the site (:8000), where 8001 is taken the port of\n" +
          "# the inner site; give Caddy",
        "# Caddy can't put the script into pages: add\n" +
          `# ${tag(siteKey)}\n# to your pages' head.\n#\n` +
          "# Change: where 8001 is taken the port of the inner site; give Caddy",
      ],
      ["127.0.0.1:8080", verdictd],
      ["127.0.0.1:3000", upstream],
      ["\n:8000 {\n", `\n${host} {\n`],
    ],
    protecting: ({ protect, upstream }) => [
      [
        "\t\thandle {\n\t\t\t# The session alone",
        "\t\t# verdictd is asked about paths that begin so, and no others.\n" +
          `\t\t@open not path ${protect.map((path) => `${path}*`).join(" ")}\n` +
          `\t\thandle @open {\n\t\t\treverse_proxy ${upstream}\n\t\t}\n\n\t\thandle {\n\t\t\t# The session alone`,
      ],
    ],
  },
  haproxy: {
    file: "haproxy.cfg",
    replacements: ({ upstream, host, verdictd, siteKey }) => [
      [
        "# What never happens",
        `# HAProxy can't put the script into pages: add\n# ${tag(siteKey)}\n# to your pages' head.\n#\n# What never happens`,
      ],
      ["127.0.0.1:8080", verdictd],
      ["127.0.0.1:3000", upstream],
      ["bind :8000", "bind :80"],
      ["shop.example", host],
    ],
    protecting: ({ protect }) => [
      [
        "  acl is_asked always_true\n",
        "  # Paths that begin so, and those that are spelt in a way which may come to one of them.\n" +
          `  acl is_asked path_beg -i ${protect.join(" ")}\n  acl is_asked path -m reg '(%|//|/\\.|\\\\|;)'\n`,
      ],
    ],
  },
  traefik: {
    file: "traefik.yaml",
    replacements: ({ upstream, host, verdictd, siteKey }) => [
      ["pk_REPLACE_ME", siteKey],
      ["127.0.0.1:8080", verdictd],
      ["127.0.0.1:3000", upstream],
      ["shop.example", host],
    ],
    protecting: ({ protect, host }) => [
      [
        `    site:\n      rule: "Host(\`${host}\`)"\n`,
        "    # What verdictd is not asked about.\n" +
          `    open:\n      rule: "Host(\`${host}\`)"\n      priority: 800\n      entryPoints: [web]\n      middlewares: [verdictd-none]\n      service: application\n` +
          `    site:\n      rule: "Host(\`${host}\`) && (${protect.map((path) => `PathPrefix(\`${path}\`)`).join(" || ")})"\n`,
      ],
      [
        "    verdictd-reports:\n",
        "    # Visitors must not bring a verdict of their own.\n" +
          '    verdictd-none:\n      headers:\n        customRequestHeaders: { X-Verdict: "", X-Verdict-Score: "", X-Verdict-Action: "", X-Verdict-Agent: "" }\n' +
          "    verdictd-reports:\n",
      ],
    ],
  },
  envoy: {
    file: "envoy.yaml",
    replacements: ({ upstream, host, verdictd, siteKey }) => [
      ["pk_REPLACE_ME", siteKey],
      ["http://127.0.0.1:8080", `http://${verdictd}`],
      ["address: 127.0.0.1, port_value: 8080", socketOf(verdictd)],
      ["address: 127.0.0.1, port_value: 3000", socketOf(upstream)],
      ["shop.example", host],
    ],
    protecting: ({ protect }) => [
      [
        '                        - match: { prefix: "/" }\n                          route: { cluster: application }\n',
        "                        # verdictd is asked about paths that begin so, and no others.\n" +
          protect
            .map(
              (path) =>
                `                        - match: { prefix: "${path}", case_sensitive: false }\n                          route: { cluster: application }\n`,
            )
            .join("") +
          '                        - match: { prefix: "/" }\n                          route: { cluster: application }\n                          typed_per_filter_config: *unasked\n',
      ],
    ],
  },
  gateway: {
    file: "gateway.yaml",
    replacements: ({ upstream, host, verdictd, siteKey }) => [
      ["pk_REPLACE_ME", siteKey],
      ["name: verdictd, port: 8080", backendOf(verdictd)],
      ["name: application, port: 3000", backendOf(upstream)],
      ["shop.example", host],
    ],
    protecting: ({ protect, upstream, host }) => [
      [
        "        - { path: { type: PathPrefix, value: / } }\n",
        // Of any case, as Envoy's own recipe.
        protect
          .map((path) => `        - { path: { type: RegularExpression, value: '(?i)${escaped(path)}.*' } }\n`)
          .join(""),
      ],
      [
        "---\n# The SDK,",
        "---\n# What verdictd is not asked about.\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata:\n  name: site-open\n" +
          `spec:\n  parentRefs:\n    - { name: eg }\n  hostnames: [${host}]\n  rules:\n    - filters:\n        - type: RequestHeaderModifier\n` +
          "          requestHeaderModifier: { remove: [X-Service-Private-Key, X-Service-Asked-Again, X-Service-Cookie-Name] }\n" +
          `      backendRefs:\n        - { ${backendOf(upstream)} }\n---\n# The SDK,`,
      ],
    ],
  },
  ingress: {
    file: "ingress.yaml",
    replacements: ({ upstream, host, verdictd, siteKey }) => [
      ["pk_REPLACE_ME", siteKey],
      ["http://127.0.0.1:8080", `http://${verdictd}`],
      ["name: verdictd, port: { number: 8080 }", serviceOf(verdictd)],
      ["name: application, port: { number: 3000 }", serviceOf(upstream)],
      ["shop.example", host],
    ],
    protecting: ({ protect, upstream, host }) => {
      const service = `backend: { service: { ${serviceOf(upstream)} } }`;
      return [
        [
          `          - { path: /, pathType: Prefix, ${service} }\n`,
          `${protect.map((path) => `          - { path: ${path}, pathType: Prefix, ${service} }\n`).join("")}` +
            "---\n# What verdictd is not asked about: whatever is no path of the Ingress above.\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: site-open\n" +
            `spec:\n  ingressClassName: nginx\n  rules:\n    - host: ${host}\n      http:\n        paths:\n          - { path: /, pathType: Prefix, ${service} }\n`,
        ],
      ];
    },
  },
};

/** The configuration of this proxy for this site. Throws when a recipe has not what is to be replaced in it. */
export function recipeFor(proxy: ProxyName, site: Site): string {
  const { file, replacements, protecting } = recipes[proxy];
  let text = readAsset(`recipes/${file}`).toString("utf8");
  for (const [from, to] of [...replacements(site), ...(site.protect.length > 0 ? protecting(site) : [])]) {
    if (!text.includes(from)) throw new Error(`the recipe ${file} has no "${from}"`);
    text = text.replaceAll(from, () => to);
  }
  return text;
}

/** The Lua file that HAProxy's recipe loads. */
export function luaFile(): string {
  return readAsset("recipes/haproxy.lua").toString("utf8");
}
