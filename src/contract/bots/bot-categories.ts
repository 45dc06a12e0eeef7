/** What a bot that names itself or signs its requests is for. */
export const botCategories = [
  "search",
  "ai_crawler",
  "ai_search",
  "ai_assistant",
  "ai_agent",
  "seo",
  "monitoring",
  "preview",
  "feed",
  "archive",
  "security",
  "webhook",
  "probe",
  "library",
  "other",
] as const;
/** The category that catalogues, rules and answers give a bot. */
export type BotCategory = (typeof botCategories)[number];
