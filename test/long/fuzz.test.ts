/** The long form of what must hold for every input: more than a million of them. */
import t from "tap";
import { fuzz } from "../resilience/fuzz-properties.js";

fuzz(t, "long");
