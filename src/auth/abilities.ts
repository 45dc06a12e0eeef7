/** Token abilities and the roles that cap them. */
import type { Role } from "../contract/entities.js";

export type Ability = "projects:read" | "projects:write" | "content:read" | "content:write";

const everything: readonly Ability[] = ["projects:read", "projects:write", "content:read", "content:write"];

const abilitiesOfRole: Readonly<Record<Role, readonly Ability[]>> = {
  owner: everything,
  admin: everything,
  member: everything,
  viewer: ["projects:read", "content:read"],
};

/** Whether a token may: its stored abilities are the lower bound, what its holder's role permits is the upper. */
export function isAble(stored: readonly string[], role: Role, ability: Ability): boolean {
  return abilitiesOfRole[role].includes(ability) && (stored.includes("*") || stored.includes(ability));
}
