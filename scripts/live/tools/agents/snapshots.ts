/** Finds in an agent's snapshot of a page of the shop what the bench names by a selector: agents know elements by role, name and address. */

/** An element as the model would say it. */
interface Wanted {
  readonly role: "textbox" | "button" | "link";
  readonly name: RegExp;
}

/** Buttons that send a form, by the form's address. */
const buttons: Readonly<Record<string, string>> = {
  "/cart": "Buy",
  "/checkout": "Order",
  "/login": "Log in",
  "/signup": "Sign up",
  "/contact": "Send",
  "/delivery": "Deliver",
  "/enter": "Enter",
};
const links: Readonly<Record<string, string>> = {
  "/": "Home",
  "/catalogue?page=1": "Catalogue",
  "/search": "Search",
  "/login": "Log in",
  "/signup": "Sign up",
  "/contact": "Contact",
  "/checkout": "Checkout",
  "/delivery": "Delivery",
  "/enter": "Account",
};

/** What a selector of the bench of jobs means. Throws for one that it does not use. */
function wantedOf(selector: string): Wanted {
  const whole = (name: string) => new RegExp(`"${name}"`);
  const field = /^#(\w+)$/.exec(selector);
  if (field !== null) return { role: "textbox", name: whole(field[1]!) };
  const form = /^form\[action="([^"]+)"\] button$/.exec(selector);
  if (form !== null) return { role: "button", name: whole(buttons[form[1]!]!) };
  const path = /^a\[href="([^"]+)"\]$/.exec(selector)?.[1];
  const product = /^\/product\/(\d+)$/.exec(path ?? "");
  if (product !== null) return { role: "link", name: whole(`Lamp ${product[1]}`) };
  const link = path === undefined ? undefined : links[path];
  if (link === undefined) throw new Error(`nothing is known of ${selector}`);
  return { role: "link", name: whole(link) };
}

/** The first match of `id` in the snapshot's line of that element. */
export function foundIn(snapshot: string, selector: string, id: RegExp): string {
  const { role, name } = wantedOf(selector);
  const line = snapshot.split("\n").find((each) => each.includes(role) && name.test(each));
  const found = line === undefined ? null : id.exec(line);
  if (found === null) throw new Error(`${selector} is not in the snapshot`);
  return found[1]!;
}
