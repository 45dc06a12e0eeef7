/** What the network files and the operator's own lists say about an address. */
export interface NetworkFact {
  /** ISO 3166-1 alpha-2, upper case. */
  readonly country: string | undefined;
  /** Number and name of the autonomous system. */
  readonly asn: number | undefined;
  readonly asName: string | undefined;
}

/** Both take an address in any spelling, and return nothing for other text. */
export interface AddressLookup {
  readonly networkOf: (ip: string) => NetworkFact;
  /** Returns the names of the lists that contain it. */
  readonly listsOf: (ip: string) => readonly string[];
}
