/** Eight thousand idle connections, half of them in the middle of a header. */
import t from "tap";
import { holdIdle } from "../resilience/idle-connections.js";

t.test("eight thousand idle connections cost little and keep nobody else waiting", async (t) => {
  await holdIdle(t, 8000);
});
