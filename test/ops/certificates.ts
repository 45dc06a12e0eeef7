/** Self-signed certificates for tests, made by openssl: they are as real as any, and nobody trusts them. */
import { execFileSync } from "node:child_process";
import { copyFileSync } from "node:fs";
import type { Test } from "tap";

interface CertificatePair {
  readonly certificate: string;
  readonly key: string;
}

/** A pair of files in a folder of the test's own, for this name. */
export function selfSigned(t: Test, name: string): CertificatePair {
  return signInto(t.testdir(), name);
}

/** A new pair `<name>.crt`, `<name>.key` in `folder`, valid for two days. */
export function signInto(folder: string, name: string): CertificatePair {
  const pair = { certificate: `${folder}/${name}.crt`, key: `${folder}/${name}.key` };
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const validity = ["-days", "2"];
  const names = ["-subj", `/CN=${name}`, "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  const files = ["-keyout", pair.key, "-out", pair.certificate];
  execFileSync("openssl", ["req", "-x509", ...curve, ...validity, ...names, ...files], { stdio: "ignore" });
  return pair;
}

/** Puts one pair in the place of another, as an ACME client does. */
export function replacePair(old: CertificatePair, by: CertificatePair): void {
  copyFileSync(by.certificate, old.certificate);
  copyFileSync(by.key, old.key);
}
