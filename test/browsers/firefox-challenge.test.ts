/** A real Firefox that nobody drives passes verdictd's challenge without being asked to. */
import t from "tap";
import { openChallengedSite } from "../challenge/fronts.js";
import { launchFirefoxAlone, noFirefox } from "../support/firefox.js";
import { waitUntil } from "../support/wait-until.js";

t.test("Firefox", { skip: noFirefox ?? false }, async (t) => {
  const answers: [path: string, status: number][] = [];
  const site = await openChallengedSite(t, (path, status) => {
    if (/^\/(c\/(first|page)|v1\/challenges)/.test(path)) answers.push([path, status]);
  });
  launchFirefoxAlone(t, `${site.origin}/alone`);
  for (const page of ["/c/first", "/c/page"])
    await waitUntil(
      async () => answers.some(([path]) => path === page),
      (isAnswered) => isAnswered,
    );
  t.same(answers, [
    ["/c/first", 403],
    ["/v1/challenges", 200],
    ["/v1/challenges/solution", 200],
    ["/c/first", 200],
    ["/c/page", 200],
  ]);
});
