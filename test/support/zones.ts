/**
 * Zones of a data centre on one machine: network namespaces of Linux, each with two links, one that the cluster talks over and one for
 * clients, so that a zone can be cut off from the other zones and still be asked by clients. Needs root.
 */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import type { Test } from "tap";
import type { NodePlace } from "./redis-cluster.js";

export interface Zone extends NodePlace {
  readonly number: number;
  /** Takes the link of the cluster down, and up again. */
  cut(): void;
  join(): void;
}

const run = (...words: string[]): void => {
  execFileSync("ip", words, { stdio: ["ignore", "ignore", "pipe"] });
};

/** Zones that reach each other; gone with the test. Null where this process may not make any. */
export function makeZones(t: Pick<Test, "teardown">, count: number): Zone[] | null {
  const name = randomBytes(2).toString("hex");
  // Two networks of 10.0.0.0/8 that no other test is likely to have.
  const octet = 64 + (randomBytes(1)[0]! % 128);
  const [inner, outer] = [`vd${name}i`, `vd${name}o`];
  const made: string[][] = [];
  const remove = (): void => {
    for (const words of made.splice(0).reverse()) {
      try {
        run(...words);
      } catch {
        // Gone with its other end.
      }
    }
  };
  const make = (undo: string[], ...words: string[]): void => {
    run(...words);
    made.push(undo);
  };
  try {
    for (const [index, bridge] of [inner, outer].entries()) {
      make(["link", "del", bridge], "link", "add", bridge, "type", "bridge");
      run("address", "add", `10.${octet}.${index + 1}.254/24`, "dev", bridge);
      run("link", "set", bridge, "up");
    }
    const zones = Array.from({ length: count }, (_, number): Zone => {
      const space = `vd${name}z${number}`;
      make(["netns", "del", space], "netns", "add", space);
      run("-n", space, "link", "set", "lo", "up");
      const addresses = [`10.${octet}.1.${number + 1}`, `10.${octet}.2.${number + 1}`] as const;
      for (const [index, bridge] of [inner, outer].entries()) {
        const link = `${bridge}${number}`;
        run("link", "add", link, "type", "veth", "peer", "name", `e${index}`, "netns", space);
        run("link", "set", link, "master", bridge, "up");
        run("-n", space, "address", "add", `${addresses[index]}/24`, "dev", `e${index}`);
        run("-n", space, "link", "set", `e${index}`, "up");
      }
      return {
        number,
        host: addresses[0],
        askedAt: addresses[1],
        under: ["ip", "netns", "exec", space],
        cut: () => run("link", "set", `${inner}${number}`, "down"),
        join: () => run("link", "set", `${inner}${number}`, "up"),
      };
    });
    process.once("exit", remove);
    t.teardown(() => {
      process.off("exit", remove);
      remove();
    });
    return zones;
  } catch {
    remove();
    return null;
  }
}
