/** Who waits for something to become true: each is asked again whenever something has happened. */
export class Waiters {
  readonly #checks = new Set<() => void>();

  /** Resolves once `test` holds; rejects after `ms`, and says what was waited for. */
  until(test: () => boolean, what: string, ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#checks.delete(check);
        reject(new Error(`${what}: not within ${ms} ms`));
      }, ms);
      const check = () => {
        if (!test()) return;
        clearTimeout(timer);
        this.#checks.delete(check);
        resolve();
      };
      this.#checks.add(check);
      check();
    });
  }

  /** Something has happened. */
  check(): void {
    for (const check of [...this.#checks]) check();
  }
}
