/** `verdictd ip-list import`, `list` and `remove`: the operator's own lists of addresses, for the rule field `ip_lists`. */
import { statSync } from "node:fs";
import { type IpListSummary, IpLists } from "../../control-plane/lists/ip-lists.js";
import { limits } from "../../limits.js";
import { isIpListFault, parseIpList } from "../../network/ip-list-file.js";
import type { StoreCommand } from "../command.js";
import { expectDone, textOf } from "../given.js";
import { readTextFile } from "../json-file.js";
import { CommandFailure, columns } from "../output.js";

interface Shown {
  readonly name: string;
  readonly count: number;
  readonly imported_at: string;
}

const shown = ({ name, count, importedAt }: IpListSummary): Shown => ({ name, count, imported_at: importedAt });
const named = { name: "NAME", help: "name of the list" };

const importFile: StoreCommand<Shown> = {
  name: "ip-list import",
  help: "create or replace a list of addresses; a file with a bad line is refused",
  onCluster: "same",
  positionals: [
    named,
    { name: "FILE", help: "one address, CIDR range or AS number (AS13335) per line; comments start with #" },
  ],
  flags: [{ name: "as", help: "also read a bare number as an AS number" }],
  run: async (store, given) => {
    const path = textOf(given, "FILE");
    const list = parseIpList(readListFile(path), given["as"] !== undefined);
    if (isIpListFault(list))
      throw new CommandFailure(`${path}${list.line === 0 ? "" : `:${list.line}`}: ${list.reason}`);
    return shown(expectDone(await new IpLists(store).put(textOf(given, "NAME"), list, Date.now())));
  },
};

function readListFile(path: string): string {
  const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (bytes > limits.ipListFileBytesMax) {
    throw new CommandFailure(`${path} has ${bytes} bytes: at most ${limits.ipListFileBytesMax} are read`);
  }
  return readTextFile(path);
}

const list: StoreCommand<{ readonly data: readonly Shown[] }> = {
  name: "ip-list list",
  help: "show the lists of addresses",
  onCluster: "same",
  worksOnMigrated: true,
  run: async (store) => ({ data: new IpLists(store).list().map(shown) }),
  show: ({ data }) =>
    columns([
      ["NAME", "COUNT", "IMPORTED"],
      ...data.map(({ name, count, imported_at }) => [name, String(count), imported_at]),
    ]),
};

const remove: StoreCommand<Shown> = {
  name: "ip-list remove",
  help: "remove a list of addresses",
  onCluster: "same",
  positionals: [named],
  run: async (store, given) => shown(expectDone(await new IpLists(store).remove(textOf(given, "NAME")))),
};

/** Import, list and remove. An import replaces the list of its name, and a file with one bad line changes nothing. */
export const ipListCommands: readonly StoreCommand[] = [importFile, list, remove];
