/** The disk gives out, under a store of two environments. The long form, with one, is in `test/long`. */
import t from "tap";
import { fillDisk } from "./full-disk.js";
import { cannotMount } from "./small-disk.js";

t.test(
  "on a full disk batches are refused, all else goes on, and when there is room again so do batches",
  { skip: cannotMount },
  (t) => fillDisk(t, 2),
);
