/** Abilities and roles: the stored abilities are the lower bound, the role the upper. The whole table. */
import t from "tap";
import { isAble } from "../../src/auth/abilities.js";
import { roles } from "../../src/contract/configuration/entities.js";

const abilities = ["projects:read", "projects:write", "content:read", "content:write"] as const;
const permitted: Record<(typeof roles)[number], readonly string[]> = {
  owner: abilities,
  admin: abilities,
  member: abilities,
  viewer: ["projects:read", "content:read"],
};

for (const role of roles) {
  t.test(`a wildcard token grants a ${role} only what the role allows`, async (t) => {
    for (const ability of abilities) t.equal(isAble(["*"], role, ability), permitted[role].includes(ability), ability);
  });

  t.test(`a token with one ability grants a ${role} that one, where the role allows it`, async (t) => {
    for (const stored of abilities) {
      for (const ability of abilities) {
        t.equal(
          isAble([stored], role, ability),
          stored === ability && permitted[role].includes(ability),
          `${stored}: ${ability}`,
        );
      }
    }
  });

  t.test(`a token without abilities grants a ${role} nothing`, async (t) => {
    for (const ability of abilities) t.equal(isAble([], role, ability), false);
  });
}
