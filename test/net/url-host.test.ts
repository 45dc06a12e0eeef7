/** Hosts of addresses that a browser can open. */
import t from "tap";
import { urlHost } from "../../src/net/url-host.js";

t.test("an address that is listened on becomes the host of a URL", async (t) => {
  const hosts = {
    "127.0.0.1": "127.0.0.1",
    localhost: "localhost",
    "::1": "[::1]",
    "[::1]": "[::1]",
    "2001:db8::7": "[2001:db8::7]",
    "0.0.0.0": "127.0.0.1",
    "::": "[::1]",
  };
  for (const [host, shown] of Object.entries(hosts)) {
    t.equal(urlHost(host), shown);
    t.equal(new URL(`http://${urlHost(host)}:8080/`).port, "8080");
  }
});
