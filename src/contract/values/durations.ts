/** Named durations, ms. */

/** ms of a minute. */
export const minuteMs = 60_000;
/** ms of an hour. */
export const hourMs = 60 * minuteMs;
/** ms of a day. */
export const dayMs = 24 * hourMs;
