/** The pages of the shop of the jobs: plain HTML with the SDK, small enough that all which people click fits a window without scrolling. */

const style = `
  body { font: 15px/1.4 sans-serif; margin: 0; padding: 8px 30px; }
  nav a, .products a { display: inline-block; padding: 8px 14px; }
  .products { display: grid; grid-template-columns: repeat(5, 190px); gap: 10px; }
  form { display: grid; gap: 12px; width: 420px; margin: 14px 0 14px 120px; }
  input, textarea { font: inherit; padding: 8px; width: 100%; }
  button { font: inherit; padding: 10px 22px; }
`;

/** Tells the bench where things are: people point at the screen, not at elements. Only on visits of people. */
const placeScript = `
  const report = () => {
    const boxes = {};
    for (const each of document.querySelectorAll("[id]")) {
      const box = each.getBoundingClientRect();
      boxes[each.id] = [box.left, box.top, box.width, box.height];
    }
    navigator.sendBeacon("/place", JSON.stringify({ outerHeight, innerHeight, innerWidth, boxes, loadedAt: performance.timeOrigin }));
  };
  addEventListener("load", () => {
    report();
    let told = document.cookie;
    setInterval(() => { if (document.cookie !== told) { told = document.cookie; report(); } }, 200);
  });
`;

/** Of every page. */
export const stylesheet = style;
const productsPerPage = 10;
const productCount = 60;

/** What a shop's page has in its head: the script of whatever protects the shop. */
interface PageHead {
  readonly script: string;
  readonly tellsPlaces: boolean;
}

function page(title: string, body: string, { script, tellsPlaces }: PageHead): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="/style.css">${script}</head><body><h1 id="title">${title}</h1>
<nav><a id="home" href="/">Home</a><a id="catalogue" href="/catalogue?page=1">Catalogue</a><a id="search" href="/search">Search</a>
<a id="login" href="/login">Log in</a><a id="signup" href="/signup">Sign up</a><a id="contact" href="/contact">Contact</a>
<a id="checkout" href="/checkout">Checkout</a><a id="delivery" href="/delivery">Delivery</a><a id="enter" href="/enter">Account</a></nav>
${body}${tellsPlaces ? `<script>{ ${placeScript} }</script>` : ""}</body></html>`;
}

const product = (number: number) =>
  `<div><img src="/img/${number}.svg" width="60" height="40" alt=""><a id="p${number}" href="/product/${number}">Lamp ${number}</a> ${20 + number}.00</div>`;

const numbersFrom = (first: number) =>
  Array.from({ length: productsPerPage }, (_, index) => first + index).filter((number) => number <= productCount);

const field = (name: string) => {
  const [id, type = "text", known = "off"] = name.split(" ");
  return `<label>${id} <input id="${id}" name="${id}" type="${type}" autocomplete="${known}"></label>`;
};
const form = (path: string, fields: readonly string[], button: string, id = "send") =>
  `<form method="post" action="${path}">${fields.map(field).join("")}<button id="${id}">${button}</button></form>`;

/** The page at a path; null where the shop has none. */
export function shopPage(path: string, query: URLSearchParams, head: PageHead): string | null {
  const number = Number(/^\/product\/(\d+)$/.exec(path)?.[1] ?? 0);
  if (number > 0 && number <= productCount) {
    return page(`Lamp ${number}`, `<p>${20 + number}.00</p>${form("/cart", [], "Buy", "buy")}`, head);
  }
  switch (path) {
    case "/":
      return page(
        "Lamps of wood",
        `<p>Turned by hand.</p><div class="products">${numbersFrom(1).map(product).join("")}</div>`,
        head,
      );
    case "/catalogue": {
      const current = Math.max(1, Number(query.get("page")) || 1);
      const shown = numbersFrom((current - 1) * productsPerPage + 1);
      const next = `<a id="next" href="/catalogue?page=${current + 1}">Next page</a>`;
      return page(`Catalogue ${current}`, `${next}<div class="products">${shown.map(product).join("")}</div>`, head);
    }
    case "/search": {
      const found = query.has("q") ? `<div class="products">${numbersFrom(21).map(product).join("")}</div>` : "";
      return page(
        "Search",
        `<form action="/search">${field("q")}<button id="send">Search</button></form>${found}`,
        head,
      );
    }
    case "/login":
      return page("Log in", form("/login", ["user", "secret"], "Log in"), head);
    case "/signup":
      return page("Sign up", form("/signup", ["mail", "secret"], "Sign up"), head);
    case "/contact":
      return page("Contact", form("/contact", ["mail", "message"], "Send"), head);
    case "/checkout":
      return page("Checkout", form("/checkout", ["name", "card"], "Order"), head);
    case "/delivery":
      return page(
        "Delivery",
        form("/delivery", ["name text name", "street text street-address", "town text address-level2"], "Deliver"),
        head,
      );
    case "/enter":
      return page("Account", form("/enter", ["mail text username", "secret password current-password"], "Enter"), head);
    case "/thanks":
      return page("Thank you", "<p>We have it.</p>", head);
    default:
      return null;
  }
}

/** Paths to which the shop's forms are posted. */
export const postPaths: readonly string[] = [
  "/cart",
  "/login",
  "/signup",
  "/contact",
  "/checkout",
  "/delivery",
  "/enter",
];
