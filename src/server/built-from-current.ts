/** What is built from a list that an operator may replace. */

/**
 * Returns what is built from the current list. It is built now, because the first request should not wait for it (some 30 ms for the shipped lists),
 * and again only after `read` returns another list.
 */
export function builtFromCurrent<List extends object, Built>(
  read: () => List,
  build: (list: List) => Built,
): () => Built {
  let from = read();
  let built = build(from);
  return () => {
    const list = read();
    if (list !== from) {
      built = build(list);
      from = list;
    }
    return built;
  };
}
