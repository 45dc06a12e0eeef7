/** What a route says of itself beside its method, path and credential: the OpenAPI document is made of these, nothing else. */
import type { ErrorName } from "../errors.js";
import type { ApiTypeName } from "./api-answers.js";

/** A JSON schema (2020-12), as OpenAPI 3.1 takes it. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** The groups of the API reference, in its order. */
export const routeTags = ["data plane", "control plane", "logs", "service"] as const;
/** The group that a route is listed in. */
export type RouteTag = (typeof routeTags)[number];

/** A query parameter or request header. Those of the path derive from the path. */
export interface ParameterDoc {
  readonly in: "query" | "header";
  readonly name: string;
  readonly description: string;
  readonly schema: JsonSchema;
}

/** A success: JSON of this type, no body at all, or a file of a media type. */
export type AnswerDoc = ApiTypeName | "empty" | { readonly contentType: string };

/** What a route's entry in the OpenAPI document holds that can't be derived from the route itself. */
export interface RouteDoc {
  /** The `operationId`: unique, for generators of clients. */
  readonly id: string;
  readonly tag: RouteTag;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly ParameterDoc[];
  readonly body?: ApiTypeName;
  /** Whether a request without body is fine too. */
  readonly bodyOptional?: boolean;
  /** Media types the body may come as; default JSON. */
  readonly bodyTypes?: readonly string[];
  /** Every success by status. */
  readonly answers: { readonly [status: number]: AnswerDoc };
  /** True when a missing credential, an inactive subscription and even a failure get a success answer. */
  readonly refusesNobody?: true;
  /** Refusals beside those that credential, path and body bring with them. */
  readonly refusals?: readonly ErrorName[];
}
