/** `verdictd licenses`: prints the licence texts of what this build carries. */
import { readAsset } from "../../assets.js";
import type { ProcessCommand } from "../command.js";

export const licensesCommand: ProcessCommand = {
  name: "licenses",
  help: "print the licences of verdictd and of the packages it carries",
  runProcess: async () => {
    process.stdout.write(readAsset("licenses.txt"));
  },
};
