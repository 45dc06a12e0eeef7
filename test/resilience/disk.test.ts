/** The disk gives out. The long form is in `test/long`. */
import t from "tap";
import { fillDisk } from "./full-disk.js";
import { cannotMount } from "./small-disk.js";

t.test(
  "on a full disk batches are refused, all else goes on, and when there is room again so do batches",
  { skip: cannotMount },
  fillDisk,
);
