/**
 * Signing in once for all tabs: a new tab asks the others for the token, and signing out reaches them. Tabs talk over a channel of this origin;
 * nothing is kept beyond a tab's own session storage.
 */

const channelName = "verdictd.console";
/** How long a new tab waits for an answer of another. */
const answerMs = 400;

type Message =
  | { readonly type: "ask"; readonly from: string }
  | { readonly type: "token"; readonly to: string; readonly token: string }
  | { readonly type: "signed-out"; readonly token: string };

/** The token of another tab that is signed in; null where none answers. */
export async function tokenOfOtherTabs(): Promise<string | null> {
  if (typeof BroadcastChannel === "undefined") return null;
  const channel = new BroadcastChannel(channelName);
  const from = String(crypto.getRandomValues(new Uint32Array(2)));
  try {
    return await new Promise((resolve) => {
      channel.onmessage = ({ data }: MessageEvent<Message>) => {
        if (data.type === "token" && data.to === from) resolve(data.token);
      };
      channel.postMessage({ type: "ask", from } satisfies Message);
      setTimeout(() => resolve(null), answerMs);
    });
  } finally {
    channel.close();
  }
}

/** Answers tabs that ask, until the returned function is called; `onSignedOut` runs when this token was signed out elsewhere. */
export function shareToken(token: string, onSignedOut: () => void): () => void {
  if (typeof BroadcastChannel === "undefined") return () => {};
  const channel = new BroadcastChannel(channelName);
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.type === "ask") channel.postMessage({ type: "token", to: data.from, token } satisfies Message);
    if (data.type === "signed-out" && data.token === token) onSignedOut();
  };
  return () => channel.close();
}

/** Tells the other tabs that this token was signed out. */
export function tellSignedOut(token: string): void {
  if (typeof BroadcastChannel === "undefined") return;
  const channel = new BroadcastChannel(channelName);
  channel.postMessage({ type: "signed-out", token } satisfies Message);
  channel.close();
}
