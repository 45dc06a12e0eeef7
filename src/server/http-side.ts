/** What takes and answers requests, apart from what starts it: loaded while the scoring threads start. */
export { HttpServer, meteredRows } from "../http/server.js";
export { startWaitingServer } from "../http/waiting-server.js";
export { buildServices } from "./services.js";
