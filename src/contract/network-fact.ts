/** What is known of an address by the files of networks and the operator's own lists. */
export interface NetworkFact {
  /** ISO 3166-1 alpha-2, upper case. */
  readonly country: string | undefined;
  /** Number and name of the autonomous system. */
  readonly asn: number | undefined;
  readonly asName: string | undefined;
}

/** Both take an address in any spelling, and know nothing of other text. */
export interface AddressLookup {
  readonly networkOf: (ip: string) => NetworkFact;
  /** Names of the lists that hold it. */
  readonly listsOf: (ip: string) => readonly string[];
}
