/** Token abilities, the roles that cap them, and what a route's `needs` come to for a token. */
import type { Ability, TokenNeed } from "../contract/api/access.js";
import type { Role } from "../contract/configuration/entities.js";

const everything: readonly Ability[] = ["projects:read", "projects:write", "content:read", "content:write"];

const abilitiesOfRole: Readonly<Record<Role, readonly Ability[]>> = {
  owner: everything,
  admin: everything,
  member: everything,
  viewer: ["projects:read", "content:read"],
};

/** Who outranks whom; a user without a role is below all. */
const ranks: Readonly<Record<Role, number>> = { viewer: 1, member: 2, admin: 3, owner: 4 };

/** A token's stored abilities with its holder's role on the token's account. */
export interface TokenPowers {
  readonly abilities: readonly string[];
  /** null: no longer a member. */
  readonly role: Role | null;
}

/** Whether a token may: its stored abilities are the lower bound, what its holder's role permits is the upper. */
export function isAble(stored: readonly string[], role: Role, ability: Ability): boolean {
  return abilitiesOfRole[role].includes(ability) && hasAbility(stored, ability);
}

/** What the holder lacks for a route with this need, as a clause for the refusal; null when nothing is lacking. */
export function lackOf(need: TokenNeed, powers: { abilities: readonly string[]; role: Role }, isStrict: boolean) {
  if (need === "any-token") return null;
  if (need === "administration" && !isAdministrator(powers.role)) {
    return `the role ${powers.role} does not permit to change members`;
  }
  const ability = need === "writing-role" || need === "administration" ? "projects:write" : need;
  if (!abilitiesOfRole[powers.role].includes(ability)) return `the role ${powers.role} does not permit ${ability}`;
  const asksToken = need !== "writing-role" || isStrict;
  return asksToken && !hasAbility(powers.abilities, ability) ? `the token lacks the ability ${ability}` : null;
}

/**
 * Whether another token is above this one: its holder's role is higher, or it stores an ability that this one does not. Such a
 * token can't be revoked with this one. Roles are those of now; abilities count as stored, because a role may be raised again.
 */
export function isAbove(other: TokenPowers, own: TokenPowers): boolean {
  return (
    rankOf(other.role) > rankOf(own.role) || !other.abilities.every((ability) => hasAbility(own.abilities, ability))
  );
}

/** Whether somebody of this role looks after the account: sees what all its members have, and changes who they are. */
export function isAdministrator(role: Role | null): boolean {
  return rankOf(role) >= ranks.admin;
}

function hasAbility(stored: readonly string[], ability: string): boolean {
  return stored.includes("*") || stored.includes(ability);
}

function rankOf(role: Role | null): number {
  return role === null ? 0 : ranks[role];
}
