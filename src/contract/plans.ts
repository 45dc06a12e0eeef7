/** Plans: what an account may send in a month and which features it has. Plans are configuration; these are the defaults. */

export type Feature = "verified-bots-export";

export interface Plan {
  /** Accepted events a calendar month (UTC); null is unlimited. The quota is soft: it only raises a flag. */
  readonly eventsPerMonth: number | null;
  readonly features: readonly Feature[];
}

export type Plans = Readonly<Record<string, Plan>>;

export const defaultPlans: Plans = {
  free: { eventsPerMonth: 100_000, features: [] },
  pro: { eventsPerMonth: 5_000_000, features: [] },
  business: { eventsPerMonth: 50_000_000, features: ["verified-bots-export"] },
  owner_lifetime: { eventsPerMonth: null, features: ["verified-bots-export"] },
};
