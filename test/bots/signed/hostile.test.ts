// Whatever a visitor writes: an answer, never an error, and nothing verified that was not signed.
import fc from "fast-check";
import t from "tap";
import { Nonces } from "../../../src/bots/signed/nonces.js";
import { createSignedAgents } from "../../../src/bots/signed/signed-agents.js";
import type { KeyedAgent } from "../../../src/contract/bots/signed-agents.js";
import { limits } from "../../../src/limits.js";
import { anyCharacter, holdsInTime } from "../../support/property.js";
import { agentUrl, newKey, requestWith, signatureFields } from "./signer.js";

const nowMs = Date.UTC(2026, 10, 22, 12);
const key = newKey();
const agents: KeyedAgent[] = [{ url: agentUrl, name: "Example", category: "ai_agent", keys: [key.jwk] }];
const { judge } = createSignedAgents({ agents: () => agents, nonces: new Nonces(), allowTestKeys: false });
const right = signatureFields({ key, nowMs });

const states = ["none", "unverified", "invalid", "verified"];
const junk = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 60 }),
  fc.constantFrom(
    "(",
    ")",
    '"',
    ";",
    ",",
    "=",
    ":",
    "@",
    "%",
    "?",
    "\\",
    "\n",
    "\0",
    "sig1",
    "web-bot-auth",
    "created",
  ),
);
/** Text with some of its characters replaced, doubled or gone. */
const altered = (text: string): fc.Arbitrary<string> =>
  fc
    .array(fc.tuple(fc.nat(text.length), fc.nat(4), junk), { minLength: 1, maxLength: 4 })
    .map((edits) => edits.reduce((each, [at, length, put]) => each.slice(0, at) + put + each.slice(at + length), text));

t.test("altered fields never throw and never verify, unless what was signed is as it was", async (t) => {
  await holdsInTime(
    t,
    fc.asyncProperty(
      altered(right.input),
      fc.option(altered(right.signature), { nil: right.signature }),
      fc.option(altered(right.agent), { nil: right.agent }),
      async (input, signature, agent) => {
        const { signature: state } = await judge(requestWith({ agent, input, signature }, nowMs));
        // White space between members and labels are not signed.
        return states.includes(state) && (state !== "verified" || input.includes(";created="));
      },
    ),
    { numRuns: 3000 },
  );
  t.pass();
});

t.test("any header lines, hosts, paths and queries are judged", async (t) => {
  const name = fc.constantFrom("Signature", "signature-input", "SIGNATURE-AGENT", "Host", "x", "");
  const value = fc.oneof(junk, fc.constantFrom(right.input, right.signature, right.agent, right.input.repeat(30)));
  const maybe = fc.option(junk, { nil: undefined });
  await holdsInTime(
    t,
    fc.asyncProperty(
      fc.array(fc.tuple(name, value), { maxLength: 40 }),
      fc.record({ authority: maybe, path: maybe, query: maybe, method: maybe, ip: maybe }),
      async (headers, facts) => {
        const judged = await judge({ headers, ...facts, projectId: 1, nowMs });
        return states.includes(judged.signature) && (judged.agent !== undefined) === (judged.signature === "verified");
      },
    ),
    { numRuns: 3000 },
  );
  t.pass();
});

t.test("a thousand signatures, deep and endless fields are judged at once", async (t) => {
  const atOnce = (input: string, signature = right.signature, agent = right.agent) => {
    const judged = judge(requestWith({ agent, input, signature }, nowMs));
    t.notOk(judged instanceof Promise, "nothing was verified");
    return judged instanceof Promise ? "" : judged.signature;
  };
  const many = Array.from({ length: 1000 }, (_, index) => `s${index}=();tag="web-bot-auth"`).join(",");
  t.equal(atOnce(many), "none", "a cut in the middle of a member breaks the field");
  const whole = Array.from({ length: 100 }, (_, index) => `s${index}=();tag="web-bot-auth"`).join(",");
  t.ok(whole.length < limits.signatureFieldMax);
  t.equal(atOnce(whole), "unverified", "without a keyid no key is known");
  t.equal(atOnce(`sig1=${"(".repeat(4000)};tag="web-bot-auth"`), "none");
  t.equal(atOnce(`sig1=();tag="web-bot-auth";a="${"x".repeat(100_000)}"`), "none");
  t.equal(atOnce(`sig1=("@authority" ${'"x" '.repeat(900)}`), "none");
  const wide = Array.from({ length: 200 }, (_, index) => `"x${index}"`).join(" ");
  const made = Math.floor(nowMs / 1000);
  const params = `;created=${made};expires=${made + 9};keyid="${key.thumbprint}";tag="web-bot-auth"`;
  t.equal(
    atOnce(`sig1=("@authority" "signature-agent" ${wide})${params}`),
    "unverified",
    "more components than are worked on",
  );
});

t.test("line breaks in what is reported don't forge a line of the signed text", async (t) => {
  // Signed over the path /a\n"x-admin": 1 as one component would be the same text as over two.
  const covered = ['"@authority"', '"signature-agent"', '"@path"'];
  const fields = signatureFields({ key, nowMs, covered, values: { '"@path"': '/a\n"x-admin": 1' } });
  const judged = await judge(requestWith(fields, nowMs, { path: '/a\n"x-admin": 1' }));
  t.same(judged, { signature: "invalid" });
});
