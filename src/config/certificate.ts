/** Looks at certificate and key files before a server uses them, so that a bad pair is refused with the reason. */
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";

/** Paths of PEM files. */
export interface CertificateFiles {
  /** The certificate, and the chain after it. */
  readonly certificate: string;
  readonly key: string;
}

/** What is known of a usable certificate. */
export interface CertificateFacts {
  readonly subject: string;
  /** ms since the epoch. */
  readonly validFromMs: number;
  readonly validToMs: number;
}

/** The facts of a certificate that matches its key, or why the pair can't be used: one line, without anything of the key. */
export function readCertificate(files: CertificateFiles): CertificateFacts | { readonly fault: string } {
  const cert = read(files.certificate);
  if (typeof cert !== "string") return cert;
  const key = read(files.key);
  if (typeof key !== "string") return key;
  try {
    createSecureContext({ cert, key });
    const leaf = new X509Certificate(cert);
    // OpenSSL takes a pair of two kinds (an EC certificate, an RSA key) for two certificates of which each lacks its half.
    const privateKey = createPrivateKey(key);
    if (!leaf.checkPrivateKey(privateKey)) {
      const [of, other] = [kindOf(leaf.publicKey), kindOf(privateKey)];
      const kinds = of === other ? "" : `: the certificate is ${of}, the key is ${other}`;
      return { fault: `${files.key} is not the key of ${files.certificate}${kinds}` };
    }
    const { subject, validFrom, validTo } = leaf;
    return {
      subject: subject.replaceAll("\n", ", "),
      validFromMs: Date.parse(validFrom),
      validToMs: Date.parse(validTo),
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { fault: `${files.certificate} and ${files.key} are not a certificate and its key (${reason})` };
  }
}

function kindOf({ asymmetricKeyType }: KeyObject): string {
  return (asymmetricKeyType ?? "unknown").toUpperCase();
}

/** Why a pair can't be used, or null. */
export function certificateFault(files: CertificateFiles): string | null {
  const read = readCertificate(files);
  return "fault" in read ? read.fault : null;
}

function read(path: string): string | { readonly fault: string } {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    return { fault: `can't read ${path} (${(error as NodeJS.ErrnoException).code ?? "unknown"})` };
  }
}

/** Why a certificate should not replace one that works, or null. */
export function reasonToKeepOld({ validFromMs, validToMs }: CertificateFacts, nowMs: number): string | null {
  if (nowMs > validToMs) return `the new certificate expired on ${new Date(validToMs).toISOString()}`;
  if (nowMs < validFromMs) return `the new certificate is not valid before ${new Date(validFromMs).toISOString()}`;
  return null;
}

/** Why a file can't be used as a list of authorities, or null: it has to hold certificates in PEM. */
export function authoritiesFault(file: string): string | null {
  let pem: string;
  try {
    pem = readFileSync(file, "utf8");
  } catch (error) {
    return `${file} can't be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}`;
  }
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs) ?? [];
  if (certificates.length === 0) return `${file} holds no certificate in PEM`;
  try {
    for (const each of certificates) new X509Certificate(each);
    return null;
  } catch {
    return `${file} holds a certificate that can't be read`;
  }
}
