/** Holds a running server's certificate, and reads its files again on SIGHUP. */
import { type CertificateFacts, readCertificate, reasonToKeepOld } from "../config/certificate.js";
import type { ServeConfig } from "../config/config.js";
import type { Logger } from "../runtime/log.js";

/** What `CertificateReload` needs. */
export interface CertificateOptions {
  readonly config: ServeConfig;
  readonly log: Logger;
  /** Makes all HTTP threads use the current certificate files; rejects when a thread kept the old certificate. */
  readonly reloadCertificate: () => Promise<void>;
}

/** The certificate in use. A bad new one is refused and logged; the old one stays. */
export class CertificateReload {
  readonly #options: CertificateOptions;
  #facts: CertificateFacts | null = null;
  #done = 0;
  #refused = 0;
  #reloading = Promise.resolve();

  constructor(options: CertificateOptions) {
    this.#options = options;
    const read = this.#read();
    if (read === null) return;
    if ("fault" in read) throw new Error(read.fault);
    this.#facts = read;
    const reason = reasonToKeepOld(read, Date.now());
    if (reason !== null) options.log.warn({ reason }, "the certificate is used nevertheless");
  }

  /** Seconds since the epoch; null without TLS. */
  get expiresAt(): number | null {
    return this.#facts === null ? null : this.#facts.validToMs / 1000;
  }

  get reloads(): { readonly done: number; readonly refused: number } {
    return { done: this.#done, refused: this.#refused };
  }

  /** One after another, if the signal comes more than once. */
  reloadLater(): void {
    this.#reloading = this.#reloading.then(() => this.#reload());
  }

  #read(): ReturnType<typeof readCertificate> | null {
    const { tlsCert, tlsKey } = this.#options.config;
    return tlsCert === "" ? null : readCertificate({ certificate: tlsCert, key: tlsKey });
  }

  async #reload(): Promise<void> {
    const { log, reloadCertificate } = this.#options;
    const read = this.#read();
    if (read === null) {
      log.info("nothing to reload: TLS is off");
      return;
    }
    try {
      if ("fault" in read) throw new Error(read.fault);
      const reason = reasonToKeepOld(read, Date.now());
      if (reason !== null) throw new Error(reason);
      await reloadCertificate();
      this.#facts = read;
      this.#done++;
      log.info({ subject: read.subject, validTo: new Date(read.validToMs).toISOString() }, "certificate reloaded");
    } catch (err) {
      this.#refused++;
      log.error({ err }, "the new certificate can't be used; the old one stays");
    }
  }
}
