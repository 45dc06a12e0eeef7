/** Caches compiled expressions by their source: a change of one rule costs one compilation instead of the whole project's. */
import { LRUCache } from "lru-cache";
import { limits } from "../limits.js";
import { type CompiledRule, compileRule } from "./compile-rule.js";
import type { RuleFault } from "./fault.js";

/** A cache of compilations, including faults. One for each thread that compiles rules. */
export class CompileMemo {
  readonly #compiled = new LRUCache<string, CompiledRule | RuleFault>({
    maxSize: limits.compiledSourceCharactersMax,
    sizeCalculation: (_, source) => Math.max(1, source.length),
  });

  /** As `compileRule` for a rule that was saved. Holds sources of at most `limits.compiledSourceCharactersMax` characters. */
  compile(source: string): CompiledRule | RuleFault {
    let compiled = this.#compiled.get(source);
    if (compiled === undefined) {
      compiled = compileRule(source, "stored");
      this.#compiled.set(source, compiled);
    }
    return compiled;
  }
}
