/** The browsers and systems that a user agent may claim to be. */

/** Append only: the features hold positions. */
export const browserFamilies = ["chromium", "firefox", "safari", "other"] as const;
/** The engine behind the name: Edge and Opera are `chromium`, browsers on iOS `safari`. */
export type BrowserFamily = (typeof browserFamilies)[number];

/** Append only: the features hold positions. */
export const claimedSystems = ["windows", "mac", "linux", "android", "ios", "chromeos", "other"] as const;
/** The operating system that a user agent names; `other` where it names none of these. */
export type ClaimedSystem = (typeof claimedSystems)[number];
