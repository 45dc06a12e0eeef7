/** The nginx of a cluster's compose file, `scripts/deploy/cluster/nginx.conf`, in front of three nodes on this machine. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const deployed = new URL("../../../scripts/deploy/cluster/nginx.conf", import.meta.url);

/** Writes its configuration into `folder`, with the nodes of these addresses, for `nginx -p folder -c FILE`; the file. */
export function deployedNginx(folder: string, nodes: readonly string[], port: number): string {
  const file = join(folder, "nginx.conf");
  const text = readFileSync(deployed, "utf8")
    .replace(/node-([123]):8080/g, (_, number: string) => nodes[Number(number) - 1]!)
    .replace("listen 8080", `listen 127.0.0.1:${port}`)
    .replace("http {", "http {\n  access_log off;");
  const user = process.getuid?.() === 0 ? "user root;\n" : "";
  writeFileSync(file, `daemon off;\n${user}pid ${folder}/pid;\nerror_log ${folder}/error.log;\n${text}`);
  return file;
}
