/** Sign-in: asks for an account token, tries it, and hands it on only when the server knows it. */
import { useEffect, useRef, useState } from "preact/hooks";
import { Api, ApiFault } from "../api.js";
import { Fault } from "../parts.js";
import { useTask } from "../resource.js";

const unknown = "The server does not know this token.";
const wanted = "The console needs an account token, which begins with vat_: “verdictd token create” makes one.";
/** What people try instead, by its beginning. */
const otherKeys: readonly (readonly [prefix: string, text: string])[] = [
  ["sk_", `This is a project’s private key, which belongs in your backend. ${wanted}`],
  ["pk_", `This is a project’s site key, which belongs in your pages. ${wanted}`],
  ["sess_", `This is the token of a visitor’s session. ${wanted}`],
];

/** `onSignIn` gets a token that the server has accepted; `notice` says why one was signed out, null for no such reason. */
export function SignInPage({
  notice,
  onSignIn,
}: {
  readonly notice: string | null;
  readonly onSignIn: (token: string) => void;
}) {
  const field = useRef<HTMLInputElement>(null);
  const [wrong, setWrong] = useState<string | null>(null);
  const isWrong = wrong !== null;
  const task = useTask();
  useEffect(() => {
    document.title = "Sign in · verdictd";
    field.current?.focus();
  }, []);
  const submit = (event: Event) => {
    event.preventDefault();
    const token = field.current?.value.trim() ?? "";
    // A header takes only these; no token has others.
    if (!/^[\x21-\x7e]+$/.test(token)) {
      setWrong(unknown);
      field.current?.focus();
      return;
    }
    const otherKey = otherKeys.find(([prefix]) => token.startsWith(prefix));
    if (otherKey !== undefined) {
      setWrong(otherKey[1]);
      field.current?.focus();
      return;
    }
    void task.run(async () => {
      setWrong(null);
      try {
        await new Api(token, () => {}).account();
      } catch (error) {
        field.current?.focus();
        if (!(error instanceof ApiFault) || error.status !== 401) throw error;
        setWrong(unknown);
        return;
      }
      onSignIn(token);
    });
  };
  return (
    <main class="sign-in">
      <form class="card" method="post" onSubmit={submit}>
        <p class="brand">verdictd</p>
        <h1>Sign in</h1>
        <p class="dim">
          With an account token. It stays in this browser’s open tabs until you sign out or close the last one.
          “verdictd token create” makes another.
        </p>
        {notice !== null && (
          <p class="notice" role="status">
            {notice}
          </p>
        )}
        <label for="token">Account token</label>
        <input
          id="token"
          ref={field}
          type="password"
          autocomplete="off"
          spellcheck={false}
          required
          aria-invalid={isWrong}
          aria-describedby={isWrong ? "token-fault" : undefined}
        />
        {isWrong && (
          <p id="token-fault" class="fault" role="alert">
            {wrong}
          </p>
        )}
        <Fault of={task.fault} />
        <button type="submit" class="primary" aria-disabled={task.isRunning}>
          Sign in
        </button>
      </form>
    </main>
  );
}
