/**
 * Caches compiled expressions by their source: a change of one rule costs one compilation instead of the whole project's. It has two generations. A
 * hit moves to the newer one; when that is full, the older one is dropped.
 */
import { limits } from "../limits.js";
import { type CompiledRule, compileRule } from "./compile-rule.js";
import type { RuleFault } from "./fault.js";

/** A cache of compilations, including faults. One for each thread that compiles rules. */
export class CompileMemo {
  #newer = new Map<string, CompiledRule | RuleFault>();
  #older = new Map<string, CompiledRule | RuleFault>();
  #characters = 0;

  /** As `compileRule` for a rule that was saved. Holds sources of at most twice `limits.compiledSourceCharactersMax` characters. */
  compile(source: string): CompiledRule | RuleFault {
    let compiled = this.#newer.get(source);
    if (compiled !== undefined) return compiled;
    compiled = this.#older.get(source) ?? compileRule(source, "stored");
    if (this.#characters > limits.compiledSourceCharactersMax) {
      this.#older = this.#newer;
      this.#newer = new Map();
      this.#characters = 0;
    }
    this.#newer.set(source, compiled);
    this.#characters += source.length;
    return compiled;
  }
}
