/** The modules that take and answer requests, without the code that starts them. They load while the scoring threads start. */
export { HttpServer, meteredRows } from "../http/server.js";
export { startWaitingServer } from "../http/waiting-server.js";
export { buildServices } from "./services.js";
