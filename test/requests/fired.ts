/** Names of detections by id, for the messages of tests. */
import { detections } from "../../src/detections/catalogue.js";

const slugs = new Map(detections.map(({ id, slug }) => [id, slug]));

export function slugsOf(ids: readonly number[]): string[] {
  return ids.map((id) => slugs.get(id) ?? `${id}`);
}
