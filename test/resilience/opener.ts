/** A process that opens the environment in the file of its argument and closes it, again and again, until it is killed. */
import { Environment } from "../../src/store/environment.js";

const [, , path = ""] = process.argv;
for (;;) await new Environment(path).close();
