/** A route's documentation besides its method, path and credential. The OpenAPI document is made only of these. */
import type { ErrorName } from "../../errors.js";
import type { ApiTypeName } from "./api-types.js";

/** A JSON schema (2020-12), in OpenAPI 3.1's form. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** The groups of the API reference, in its order. */
export const routeTags = ["data plane", "control plane", "logs", "service"] as const;
/** The group of a route. */
type RouteTag = (typeof routeTags)[number];

/** A query parameter or request header. Path parameters derive from the path. */
export interface ParameterDoc {
  readonly in: "query" | "header";
  readonly name: string;
  readonly description: string;
  readonly schema: JsonSchema;
}

/** A success: JSON of this type, no body at all, or a file of a media type. */
export type AnswerDoc = ApiTypeName | "empty" | { readonly contentType: string };

/** The parts of a route's OpenAPI entry that can't be derived from the route itself. */
export interface RouteDoc {
  /** The `operationId`: unique, for client generators. */
  readonly id: string;
  readonly tag: RouteTag;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly ParameterDoc[];
  readonly body?: ApiTypeName;
  /** Whether a request without body is allowed too. */
  readonly bodyOptional?: boolean;
  /** Allowed media types of the body; default JSON. */
  readonly bodyTypes?: readonly string[];
  /** Every success by status. */
  readonly answers: { readonly [status: number]: AnswerDoc };
  /** True when even a missing credential, an inactive subscription or a failure returns a success answer. */
  readonly refusesNobody?: true;
  /** Refusals besides those for credential, path and body. */
  readonly refusals?: readonly ErrorName[];
}
