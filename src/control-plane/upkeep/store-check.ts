/** The integrity check of a store with what rules, engines and verified bots know of the values they keep in it. */

import { hashSecret } from "../../auth/secrets.js";
import { isCatalogueFault } from "../../bots/catalogue-file.js";
import { checkDeclaredBots } from "../../bots/declared/catalogue.js";
import { checkAgentMarks, retiredAgentMarksFault } from "../../bots/marks/catalogue.js";
import { checkCatalogue } from "../../bots/verified/catalogue-check.js";
import { unpackFeatures } from "../../engines/session-features.js";
import { ipListRecordFault } from "../../network/ip-list-index.js";
import { compileRule } from "../../rules/compile-rule.js";
import { isRuleFault } from "../../rules/fault.js";
import { checkIntegrity, type IntegrityReport, type Progress } from "../../store/integrity.js";
import type { IntegrityChecks } from "../../store/integrity-checks.js";
import type { Store } from "../../store/store.js";
import { signedAgentRowFault } from "../lists/signed-agent-store.js";

/** What the walk over the tables can't check by itself: each gives what is wrong, or null; `hashSecret` hashes keys. */
export const storeChecks: IntegrityChecks = {
  hashSecret,
  ruleSource: (source) => {
    const compiled = compileRule(source, "stored");
    return isRuleFault(compiled) ? `its expression does not compile: ${compiled.message}` : null;
  },
  features: (packed) => (unpackFeatures(packed, 0, packed.length) === null ? "its features can't be unpacked" : null),
  verifiedBots: (catalogue) => faultOf(checkCatalogue(catalogue)),
  declaredBots: (catalogue) => faultOf(checkDeclaredBots(catalogue)),
  agentMarks: (catalogue) => faultOf(checkAgentMarks(catalogue, "stored")),
  retiredAgentMarks: retiredAgentMarksFault,
  ipList: ipListRecordFault,
  signedAgents: signedAgentRowFault,
};

/** Walks every row; see `checkIntegrity`. */
export function checkStore(store: Store, onProgress?: Progress): IntegrityReport {
  return checkIntegrity(store, storeChecks, onProgress);
}

function faultOf(checked: object): string | null {
  return isCatalogueFault(checked) ? checked.message : null;
}
