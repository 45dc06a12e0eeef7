/** `verdictd licenses`: prints the licence texts of what this build carries. */
import { readAsset } from "../../assets.js";
import type { ProcessCommand } from "../command.js";

/** Prints the text that the build gathers, as it is. */
export const licensesCommand: ProcessCommand = {
  name: "licenses",
  help: "print the licences of verdictd and of the packages it carries",
  runProcess: async () => {
    process.stdout.write(readAsset("licenses.txt"));
  },
};
