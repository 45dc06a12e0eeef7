/** Addresses of scripts as pages with `require-trusted-types-for 'script'` want them. */

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string };
}

let policy: ReturnType<TrustedTypes["createPolicy"]> | undefined;

/**
 * The address, for `new Worker`. A page may allow each name of a policy once, so the SDK's files share this one: it is handed to those that
 * load later. Throws where the page allows no policy called `verdictd`.
 */
export function scriptUrl(url: string): string {
  policy ??= (window as { trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy("verdictd", {
    createScriptURL: (each) => each,
  });
  return policy?.createScriptURL(url) ?? url;
}
