/**
 * The demo page's script: things to play with, and a panel with this visitor's own verdict. It asks its own server, as a
 * site's backend would ask; it knows no private key.
 */
import type { Verdict } from "../contract/verdicts/verdict.js";
import type { Verdictd } from "../sdk/options.js";

/** One entry of `GET /v1/detections`. */
interface Detection {
  id: number;
  slug: string;
  meaning: string;
}

const pollMs = 1000;

const bandTexts: Record<Verdict["verdict"], string> = {
  not_computed: "not scored yet",
  definite: "definitely a bot",
  confident_automated: "almost certainly automated",
  likely_automated: "likely automated",
  likely_human: "likely human",
  verified: "a verified bot",
};

const $ = (id: string) => document.getElementById(id) as HTMLElement;
const sdk = () => (window as unknown as { verdictd?: Verdictd }).verdictd;

let catalogue = new Map<number, Detection>();

async function loadCatalogue(): Promise<void> {
  const response = await fetch("/v1/detections");
  const { data } = (await response.json()) as { data: Detection[] };
  catalogue = new Map(data.map((each) => [each.id, each]));
}

function detectionItem(id: number): HTMLLIElement {
  const item = document.createElement("li");
  const code = document.createElement("code");
  const known = catalogue.get(id);
  code.textContent = known ? `${id} ${known.slug}` : String(id);
  item.append(code, known ? ` ${known.meaning}` : "");
  return item;
}

function show(verdict: Verdict): void {
  const { score } = verdict;
  $("score").textContent = score > 0 ? String(score) : "–";
  $("needle").style.left = `${score}%`;
  $("band").textContent = bandTexts[verdict.verdict] ?? verdict.verdict;
  $("band").dataset["band"] = verdict.verdict;
  $("reason").textContent = verdict.reason;
  $("action").textContent = verdict.action;
  const list = $("detections");
  list.replaceChildren(...verdict.detection_ids.map(detectionItem));
  // A keyboard scrolls only what has the focus; what does not scroll is no stop of the Tab key.
  if (list.scrollHeight > list.clientHeight) list.tabIndex = 0;
  else list.removeAttribute("tabindex");
}

let asking = false;

/** Asks for the verdict and shows it. A failure leaves what is shown; the next second asks again. */
async function refresh(): Promise<void> {
  const token = sdk()?.token();
  if (!token || asking || document.hidden) return;
  asking = true;
  try {
    const response = await fetch(`/demo/verdict?session=${encodeURIComponent(token)}`, { cache: "no-store" });
    if (response.ok) {
      $("session").textContent = token;
      show((await response.json()) as Verdict);
    }
  } catch {
    // The server may be restarting.
  } finally {
    asking = false;
  }
}

function letDraw(): void {
  const pad = $("pad") as HTMLCanvasElement;
  const pen = pad.getContext("2d");
  let last: [number, number] | null = null;
  const forget = () => {
    last = null;
  };
  pad.addEventListener("pointermove", (event) => {
    const box = pad.getBoundingClientRect();
    const at: [number, number] = [
      ((event.clientX - box.left) / box.width) * pad.width,
      ((event.clientY - box.top) / box.height) * pad.height,
    ];
    if (pen && last) {
      pen.strokeStyle = getComputedStyle(pad).color;
      pen.lineWidth = event.buttons ? 4 : 1;
      pen.lineCap = "round";
      pen.beginPath();
      pen.moveTo(...last);
      pen.lineTo(...at);
      pen.stroke();
    }
    last = at;
  });
  pad.addEventListener("pointerleave", forget);
  pad.addEventListener("pointerup", (event) => {
    if (event.pointerType === "touch") forget();
  });
}

function letCatch(): void {
  const dot = $("dot");
  let caught = 0;
  dot.addEventListener("click", () => {
    caught++;
    $("caught").textContent = String(caught);
    dot.style.left = `${5 + Math.random() * 80}%`;
    dot.style.top = `${5 + Math.random() * 70}%`;
  });
}

function letSend(): void {
  const form = $("form") as HTMLFormElement;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    form.reset();
    $("sent").textContent = "Thank you. Nothing was sent.";
  });
}

letDraw();
letCatch();
letSend();
loadCatalogue().catch(() => {});
setInterval(refresh, pollMs);
let movedAt = 0;
addEventListener("pointermove", () => {
  // After movement too, but no more often than three times a second.
  if (performance.now() - movedAt < 333) return;
  movedAt = performance.now();
  refresh();
});
