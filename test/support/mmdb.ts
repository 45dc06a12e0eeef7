/** Makes MaxMind DB files: the networks and records of a test, in any of the three widths of the tree. Format: maxmind.github.io/MaxMind-DB. */

type Value = string | number | boolean | { readonly [key: string]: Value };

export interface MmdbContents {
  readonly recordBits?: 24 | 28 | 32;
  readonly ipVersion?: 4 | 6;
  /** Records by network: `1.2.3.0/24`, `2001:db8::/32`. Networks are apart. In a file of version 6, IPv4 lies in `::/96`. */
  readonly networks: Readonly<Record<string, Value>>;
  /** Whether `::ffff:0:0/96` and 2002::/16 lead to IPv4, as GeoLite2 has it. */
  readonly aliases?: boolean;
}

interface Node {
  children: [Child, Child];
}
type Child = Node | { readonly record: Value } | null;

export function mmdbFile({ recordBits = 28, ipVersion = 6, networks, aliases = false }: MmdbContents): Buffer {
  const root: Node = { children: [null, null] };
  for (const [network, record] of Object.entries(networks)) put(root, bitsOf(network, ipVersion), { record });
  if (aliases) {
    const v4 = at(root, "0".repeat(96));
    put(root, "0".repeat(80) + "1".repeat(16), v4);
    put(root, Number(0x2002).toString(2).padStart(16, "0"), v4);
  }
  const nodes: Node[] = [];
  const numbers = new Map<Node, number>();
  const walk = (node: Node): void => {
    if (numbers.has(node)) return;
    numbers.set(node, nodes.length);
    nodes.push(node);
    for (const child of node.children) if (child !== null && "children" in child) walk(child);
  };
  walk(root);
  const data: Buffer[] = [];
  const places = new Map<string, number>();
  let dataBytes = 0;
  const placeOf = (record: Value): number => {
    const key = JSON.stringify(record);
    if (!places.has(key)) {
      const bytes = encode(record);
      places.set(key, dataBytes);
      data.push(bytes);
      dataBytes += bytes.length;
    }
    return places.get(key)!;
  };
  const numberOf = (child: Child): number =>
    child === null
      ? nodes.length
      : "children" in child
        ? numbers.get(child)!
        : nodes.length + 16 + placeOf(child.record);
  const tree = nodes.map(({ children: [left, right] }) => packed(numberOf(left), numberOf(right), recordBits));
  const metadata = encode({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_750_000_000,
    database_type: "Test",
    ip_version: ipVersion,
    node_count: nodes.length,
    record_size: recordBits,
  });
  const marker = Buffer.from("\xab\xcd\xefMaxMind.com", "latin1");
  return Buffer.concat([...tree, Buffer.alloc(16), ...data, marker, metadata]);
}

function put(root: Node, bits: string, child: Child): void {
  let node = root;
  for (let depth = 0; depth < bits.length - 1; depth++) {
    const bit = Number(bits[depth]);
    const next = node.children[bit] ?? { children: [null, null] };
    if (!("children" in next)) throw new Error("networks overlap");
    node.children[bit] = next;
    node = next;
  }
  node.children[Number(bits.at(-1))] = child;
}

function at(root: Node, bits: string): Child {
  let node: Child = root;
  for (const bit of bits) node = (node as Node).children[Number(bit)]!;
  return node;
}

function bitsOf(network: string, ipVersion: 4 | 6): string {
  const [address, length] = network.split("/") as [string, string];
  const isV4 = address.includes(".");
  const bits = isV4
    ? address
        .split(".")
        .map((part) => Number(part).toString(2).padStart(8, "0"))
        .join("")
    : groupsOf(address)
        .map((group) => Number.parseInt(group, 16).toString(2).padStart(16, "0"))
        .join("");
  const before = isV4 && ipVersion === 6 ? "0".repeat(96) : "";
  return before + bits.slice(0, Number(length));
}

function groupsOf(address: string): string[] {
  const [left, right] = address.split("::").map((part) => (part === "" ? [] : part.split(":")));
  if (right === undefined) return left!;
  return [...left!, ...Array<string>(8 - left!.length - right.length).fill("0"), ...right];
}

function packed(left: number, right: number, bits: 24 | 28 | 32): Buffer {
  if (bits === 28) {
    const bytes = Buffer.alloc(7);
    bytes.writeUIntBE(left & 0xffffff, 0, 3);
    bytes[3] = ((left >>> 24) << 4) | (right >>> 24);
    bytes.writeUIntBE(right & 0xffffff, 4, 3);
    return bytes;
  }
  const bytes = Buffer.alloc(bits / 4);
  bytes.writeUIntBE(left, 0, bits / 8);
  bytes.writeUIntBE(right, bits / 8, bits / 8);
  return bytes;
}

function encode(value: Value): Buffer {
  if (typeof value === "string") return Buffer.concat([control(2, Buffer.byteLength(value)), Buffer.from(value)]);
  if (typeof value === "boolean") return control(14, value ? 1 : 0);
  if (typeof value === "number") {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return Buffer.concat([control(6, 4), bytes]);
  }
  const members = Object.entries(value);
  return Buffer.concat([control(7, members.length), ...members.flatMap(([key, each]) => [encode(key), encode(each)])]);
}

/** Type and size; sizes here are below 285. */
function control(type: number, size: number): Buffer {
  const [inByte, more] = size < 29 ? [size, []] : [29, [size - 29]];
  return type <= 7 ? Buffer.from([(type << 5) | inByte, ...more]) : Buffer.from([inByte, type - 7, ...more]);
}
