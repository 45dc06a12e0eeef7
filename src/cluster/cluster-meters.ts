/** Counts the client's work, for `/metrics`: plain numbers that only grow. */
export function newClusterMeters() {
  return {
    /** Writes to a socket, each a pipeline. */
    roundTrips: 0,
    commands: 0,
    /** Commands that were sent again, for whatever reason. */
    retries: 0,
    moved: 0,
    ask: 0,
    /** Connections opened again after a loss. */
    reconnects: 0,
    connectionLosses: 0,
    deadlineMisses: 0,
    /** Commands rejected because too many waited. */
    busy: 0,
    /** Groups of writes, at each master, that fewer replicas acknowledged than required; a group that is retried counts once. */
    acknowledgementsMissing: 0,
    slotMapReads: 0,
  };
}

/** The counts of one client since its creation. */
export type ClusterMeters = ReturnType<typeof newClusterMeters>;
