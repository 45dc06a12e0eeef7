/**
 * A small real DNS server on loopback UDP, for tests: zones are set as the test goes, and a name can also be silent, late or
 * broken. Counts what it is asked. It knows PTR, A and AAAA, and nothing of the product.
 */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import dnsPacket from "dns-packet";

/** How the server treats one name: records by type, or a way to fail. */
type DnsBehaviour =
  | { readonly records: readonly string[]; readonly ttl?: number }
  | { readonly fail: "SERVFAIL" | "REFUSED" | "NXDOMAIN" }
  /** Answers nothing but "too long for UDP"; there is no TCP side to turn to. */
  | { readonly truncated: true }
  /** Says nothing, ever. */
  | { readonly silent: true }
  /** Answers once the promise is settled. */
  | { readonly after: Promise<unknown>; readonly records: readonly string[]; readonly ttl?: number };

type DnsType = "PTR" | "A" | "AAAA";

export interface DnsServer {
  /** `127.0.0.1:port`, as a resolver takes it. */
  readonly address: string;
  /** Sets what the server says to questions of this type and name. Other names are NXDOMAIN; known ones of another type are empty. */
  on(type: DnsType, name: string, behaviour: DnsBehaviour): void;
  /** The questions received so far, as `PTR 1.2.0.192.in-addr.arpa`. */
  readonly questions: readonly string[];
  /** Resolves once so many questions have been received. */
  received(count: number): Promise<void>;
  close(): Promise<void>;
}

const responseCodes = { NOERROR: 0, SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 } as const;

export async function startDnsServer(): Promise<DnsServer> {
  const socket = createSocket("udp4");
  const zone = new Map<string, DnsBehaviour>();
  const names = new Set<string>();
  const questions: string[] = [];
  const waiting: { count: number; done: () => void }[] = [];
  let isClosed = false;

  socket.on("message", async (message, from) => {
    const query = dnsPacket.decode(message);
    const asked = query.questions?.[0];
    if (asked === undefined) return;
    const name = asked.name.toLowerCase();
    const behaviour = zone.get(`${asked.type} ${name}`);
    questions.push(`${asked.type} ${name}`);
    for (const each of waiting) if (questions.length >= each.count) each.done();
    if (behaviour !== undefined && "silent" in behaviour) return;
    if (behaviour !== undefined && "after" in behaviour) await behaviour.after;
    if (isClosed) return;
    socket.send(answer(query.id ?? 0, asked, behaviour, names.has(name)), from.port, from.address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");

  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    on(type, name, behaviour) {
      zone.set(`${type} ${name.toLowerCase()}`, behaviour);
      names.add(name.toLowerCase());
    },
    received: (count) =>
      new Promise((done) => {
        if (questions.length >= count) done();
        else waiting.push({ count, done });
      }),
    async close() {
      isClosed = true;
      socket.close();
      await once(socket, "close");
    },
  };
}

function answer(
  id: number,
  asked: dnsPacket.Question,
  behaviour: DnsBehaviour | undefined,
  nameExists: boolean,
): Buffer {
  const fail =
    behaviour === undefined ? (nameExists ? "NOERROR" : "NXDOMAIN") : "fail" in behaviour ? behaviour.fail : "NOERROR";
  const records = behaviour !== undefined && "records" in behaviour ? behaviour.records : [];
  const ttl = behaviour !== undefined && "ttl" in behaviour ? (behaviour.ttl ?? 300) : 300;
  const truncation = behaviour !== undefined && "truncated" in behaviour ? dnsPacket.TRUNCATED_RESPONSE : 0;
  return dnsPacket.encode({
    type: "response",
    id,
    flags: dnsPacket.RECURSION_DESIRED | dnsPacket.RECURSION_AVAILABLE | truncation | responseCodes[fail],
    questions: [asked],
    answers: records.map((data) => ({ type: asked.type as DnsType, name: asked.name, ttl, data })),
  });
}
