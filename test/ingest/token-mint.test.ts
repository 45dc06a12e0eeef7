/** The order of minted tokens: groups behind one another, whatever the times of their contacts. */
import t from "tap";
import { TokenMint } from "../../src/ingest/token-mint.js";

const noon = Date.UTC(2026, 10, 21, 12);

function group(mint: TokenMint, ...times: number[]): Buffer[] {
  mint.startGroup();
  return times.map((ms) => mint.mint(noon + ms));
}

function sorted(tokens: readonly Buffer[]): Buffer[] {
  return [...tokens].sort((one, other) => one.compare(other));
}

t.test("sessions of a group lie behind those of the one before, though their contacts came meanwhile", async (t) => {
  const mint = new TokenMint();
  const groups = [group(mint, 0, 2, 9), group(mint, 3, 5, 9, 10), group(mint, 9, 30)];
  for (let index = 1; index < groups.length; index++) {
    const [before, after] = [sorted(groups[index - 1]!), sorted(groups[index]!)];
    t.equal(before.at(-1)!.compare(after[0]!), -1, `group ${index}`);
  }
});

t.test("within a group tokens are in the order of their contacts", async (t) => {
  const tokens = group(new TokenMint(), 0, 1000, 2000, 60_000);
  t.same(sorted(tokens), tokens);
});

t.test("a clock that is set back is followed", async (t) => {
  const mint = new TokenMint();
  group(mint, 86_400_000);
  const [token] = group(mint, 0);
  t.equal(token!.readUInt32BE(0), noon / 1000);
  t.equal(group(mint, 1)[0]!.compare(token!), 1, "and groups are in order again");
});

t.test("no token is ahead of its time by more than a second, however fast groups come", async (t) => {
  const mint = new TokenMint();
  const seconds = Array.from({ length: 2000 }, () => group(mint, 0)[0]!.readUInt32BE(0));
  t.equal(
    seconds.findIndex((second) => second * 1000 > noon + 1000),
    -1,
  );
});

t.test("no two tokens are alike", async (t) => {
  const mint = new TokenMint();
  const tokens = new Set(Array.from({ length: 1000 }, () => mint.mint(noon).toString("hex", 5)));
  t.equal(tokens.size, 1000);
  t.notOk(tokens.has("0".repeat(32)));
});

t.test("a shard stands in the token, whose second and 128 random bits are as without one", async (t) => {
  const mint = new TokenMint();
  const tokens = Array.from({ length: 256 }, (_, shard) => mint.mint(noon + 999, shard));
  t.same(
    tokens.map((token) => token[4]),
    tokens.map((_, shard) => shard),
  );
  t.ok(tokens.every((token) => token.readUInt32BE(0) === noon / 1000));
  t.equal(new Set(tokens.map((token) => token.subarray(5).toString("hex"))).size, tokens.length);
});
