/** The figures of the documentation are what the program comes to now. Takes half a minute. */
import t from "tap";
import { figures, figuresOfPage } from "../../scripts/figures.js";
import { dataFolder } from "../../scripts/trace-sessions.js";

const folder = dataFolder();

t.test(
  "the documented figures are those that the scripts print",
  { skip: folder === null && "no ../shared/data" },
  async (t) => {
    t.equal(figuresOfPage(), figures(folder!));
  },
);
