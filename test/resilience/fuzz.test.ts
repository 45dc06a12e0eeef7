/** The short form of what must hold for every input. */
import t from "tap";
import { fuzz } from "./fuzz-properties.js";

fuzz(t, "short");
