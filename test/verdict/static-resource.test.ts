/** Which paths are static resources. */
import t from "tap";
import { isStaticResource, staticExtensions } from "../../src/verdict/static-resource.js";

t.test("every listed extension is static, in any case, with or without a query", async (t) => {
  for (const extension of staticExtensions) {
    for (const path of [
      `/a.${extension}`,
      `/deep/er/a.${extension.toUpperCase()}`,
      `/a.b.${extension}?v=1.2`,
      `/a.${extension}#x`,
    ]) {
      t.equal(isStaticResource(path), true, path);
    }
  }
});

t.test("pages, unknown extensions, hidden files and folders are not static", async (t) => {
  for (const path of [
    "/",
    "",
    "/login",
    "/a.php",
    "/a.html",
    "/a.json",
    "/a.js/",
    "/a.js/b",
    "/.js",
    "/a.",
    "/js",
    "/a?x=b.js",
    "/a#b.css",
    "a",
  ]) {
    t.equal(isStaticResource(path), false, path);
  }
});

t.test("/.well-known/ never is static", async (t) => {
  t.equal(isStaticResource("/.well-known/x.js"), false);
  t.equal(isStaticResource("/.well-known/security.txt?x"), false);
  t.equal(isStaticResource("/other/.well-known/x.js"), true, "only at the root");
});
