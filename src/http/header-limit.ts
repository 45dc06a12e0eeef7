/**
 * Raises uWebSockets' limit of 4 KiB for all headers together: a page on the customer's own domain sends its cookies along. The
 * limit is read from the environment when the native module is loaded, so this must be imported before it.
 */
import { limits } from "../limits.js";

process.env["UWS_HTTP_MAX_HEADERS_SIZE"] ??= String(limits.headerBytesMax);
