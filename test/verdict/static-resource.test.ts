/** Which paths are static resources. */
import t from "tap";
import {
  isPagePart,
  isStaticResource,
  pagePartExtensions,
  staticExtensions,
} from "../../src/verdict/static-resource.js";

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

t.test("what names a static resource is the path that rules see, in whatever spelling", async (t) => {
  for (const path of [
    "/x%2ecss",
    "//a/../x.css",
    "http://shop.example/x.css?y",
    "/a;v=1/x.css",
    "/My%20File.PDF",
    "/%C3%A9.css",
  ]) {
    t.equal(isStaticResource(path), true, path);
  }
  for (const path of [
    "/x.css/../checkout",
    "/x.css/%2e%2e/checkout",
    "/x.css\\..\\checkout",
    "/x.css/.",
    "/x.css//",
    "/checkout/;.css",
    "/checkout;.css",
    "/checkout;/x;.css",
    "/x.css;y",
    "/checkout%3b.css",
    "/checkout%2f.css",
    "/checkout%2F..%2fx.css",
    "/checkout%5C.css",
    "/checkout%00.css",
    "/checkout%0a.css",
    "/checkout%3f.css",
    "/checkout%23.css",
    "/checkout%25.css",
    "/checkout%.css",
    "/checkout.css.",
    "/checkout.css..",
    "/checkout.css%20",
    "/checkout/.css",
    "checkout.css",
    `/${"a".repeat(507)}.css`,
    `/${"a".repeat(507)}.css/checkout`,
  ]) {
    t.equal(isStaticResource(path), false, path.slice(-40));
  }
});

t.test("parts of pages are static resources that a page loads, read with GET or HEAD", async (t) => {
  for (const extension of pagePartExtensions) {
    t.ok(staticExtensions.has(extension), extension);
    t.equal(isPagePart("GET", `/a.${extension}?v=1`), true, extension);
  }
  t.equal(isPagePart("HEAD", "/a.png"), true);
  for (const method of ["POST", "PUT", "OPTIONS", "get", ""]) t.equal(isPagePart(method, "/a.png"), false, method);
  for (const path of [
    "/list.pdf",
    "/prices.csv",
    "/feed.xml",
    "/film.mp4",
    "/checkout;.css",
    "/checkout%2F.css",
    "/png",
  ]) {
    t.equal(isPagePart("GET", path), false, path);
  }
});
