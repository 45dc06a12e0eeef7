/** What the token that is signed in with may change: pages offer nothing that the server would refuse. */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { TokenRow } from "../contract/configuration/account-answers.js";
import type { Role } from "../contract/configuration/entities.js";

/** What one may do beside reading. */
interface Access {
  /** Change what belongs to projects: rules, settings, keys, exceptions, alerts; mark and delete sessions. */
  readonly mayWrite: boolean;
  /** Why not, as a sentence; "" where one may. */
  readonly why: string;
}

/** Until it is known, and for who may do everything. */
const everything: Access = { mayWrite: true, why: "" };

/** Given by the frame to all pages. */
export const AccessContext = createContext<Access>(everything);

/** What the page may offer. */
export function useAccess(): Access {
  return useContext(AccessContext);
}

/** What a role permits with a token of these abilities; null: the token is not in the list. */
export function accessOf(role: Role | null, own: Pick<TokenRow, "abilities"> | null): Access {
  if (role === null || role === "viewer")
    return { mayWrite: false, why: `Your role (${role ?? "none"}) can only read.` };
  if (own !== null && !own.abilities.some((ability) => ability === "*" || ability === "projects:write")) {
    return { mayWrite: false, why: "Your token can only read: it lacks the ability projects:write." };
  }
  return everything;
}
