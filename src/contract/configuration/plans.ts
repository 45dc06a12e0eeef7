/** Plans: how much an account may send in a month and which features it has. Plans are configuration; these are the defaults. */

/** What a plan can include beyond its quota; a route that needs it refuses accounts without. */
export type Feature = "verified-bots-export";

/** What one plan allows and includes. */
interface Plan {
  /** Accepted events a calendar month (UTC); null is unlimited. The quota is soft: it only raises a flag. */
  readonly eventsPerMonth: number | null;
  readonly features: readonly Feature[];
}

/** Every plan by its name in accounts. */
export type Plans = Readonly<Record<string, Plan>>;

/** The plans of a server, by their names for `account create`. */
export const defaultPlans: Plans = {
  free: { eventsPerMonth: 100_000, features: [] },
  pro: { eventsPerMonth: 5_000_000, features: [] },
  business: { eventsPerMonth: 50_000_000, features: ["verified-bots-export"] },
  owner_lifetime: { eventsPerMonth: null, features: ["verified-bots-export"] },
};
