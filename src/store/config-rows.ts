/** Rows of the configuration in the cluster's form: table and key form the name of a field; the value is LMDB's. */

/** A key of the control plane's tables. */
export type ConfigKey = string | number | (string | number)[];

/** One row of the configuration to put or to remove. */
export interface ConfigRow {
  readonly field: string;
  /** As LMDB stores it, never empty; `null` removes the row. */
  readonly value: Buffer | null;
}

/** The field of a row: `rules:[1,2]`, `slugs:"default"`. `table` as in `tableNames`. */
export function configField(table: string, key: ConfigKey): string {
  return `${table}:${JSON.stringify(key)}`;
}

/** Returns table and key of a field. Throws on a field that verdictd has not written. */
export function parseConfigField(field: string): { readonly table: string; readonly key: ConfigKey } {
  const end = field.indexOf(":");
  return { table: field.slice(0, end), key: JSON.parse(field.slice(end + 1)) as ConfigKey };
}
