/** Makes the row of a call of the control plane: method, path, body and answers come from the contract's operations, all else is said by its handler. */
import type { TokenNeed } from "../contract/api/access.js";
import { type JsonObject, parseJsonObject } from "../contract/api/json-body.js";
import { type AnswerOf, type BodyName, type BodyOf, type OperationId, operations } from "../contract/api/operations.js";
import type { RouteDoc } from "../contract/api/route-doc.js";
import type { Feature } from "../contract/configuration/plans.js";
import { checkBody } from "../contract/validators.js";
import { Refusal, refuse } from "../errors.js";
import type { JsonReply } from "./reply.js";
import type { Call, ProjectCall, ProjectRoute, PublicRoute, TokenCall, TokenRoute } from "./route.js";

/** A body as it was checked, and as it was sent. */
interface ReadBody<Body> {
  readonly value: Body;
  readonly raw: JsonObject;
}

/** What the handler of an operation gets: the call, and its body. */
export type Asked<Id extends OperationId, C extends Call = ProjectCall> = C & {
  /** The body as the operation's type has it, or why it is refused. Unknown keys are ignored, unless the check says otherwise. */
  readonly readBody: () => ReadBody<BodyOf<Id>> | Refusal;
};

/** What the handler of an operation answers: JSON of its type, a refusal, or no body. */
export type Answered<Id extends OperationId> = JsonReply<AnswerOf<Id>>;

interface Said<Id extends OperationId, C extends Call> {
  readonly doc: Omit<RouteDoc, "id" | "body" | "bodyOptional" | "answers">;
  readonly handle: (call: Asked<Id, C>) => Answered<Id> | Promise<Answered<Id>>;
}

interface SaidOfToken<Id extends OperationId, C extends Call> extends Said<Id, C> {
  /** What the token must be able to do. */
  readonly needs: TokenNeed;
}

/** The row of an operation that needs no credential. */
export function publicRoute<Id extends OperationId>(id: Id, said: Said<Id, Call>): PublicRoute {
  return { ...rowOf(id, said), credential: "none" };
}

/** The row of an operation of the token's account. */
export function tokenRoute<Id extends OperationId>(
  id: Id,
  said: SaidOfToken<Id, TokenCall> & { readonly feature?: Feature; readonly needsSubscription?: boolean },
): TokenRoute {
  return { ...rowOf(id, said), credential: "token" };
}

/** The row of an operation of a project, which its path names. */
export function projectRoute<Id extends OperationId>(id: Id, said: SaidOfToken<Id, ProjectCall>): ProjectRoute {
  return { ...rowOf(id, said), credential: "project" };
}

function rowOf<Id extends OperationId, C extends Call, S extends Said<Id, C>>(id: Id, said: S) {
  const { method, path, answers, ...sent }: (typeof operations)[OperationId] = operations[id];
  const { body, bodyOptional }: { body?: BodyName; bodyOptional?: true } = sent;
  const read = (bytes: Buffer) => checkedBody(bytes, body!, bodyOptional === true) as ReadBody<BodyOf<Id>> | Refusal;
  return {
    ...said,
    method,
    path,
    readsBody: body !== undefined,
    doc: { ...said.doc, ...sent, id, answers },
    handle: (call: C) => said.handle({ ...call, readBody: () => read(call.body) }),
  };
}

function checkedBody(bytes: Buffer, name: BodyName, isOptional: boolean): ReadBody<unknown> | Refusal {
  if (bytes.length === 0 && isOptional) return { value: {}, raw: {} };
  const raw = parseJsonObject(bytes);
  if (raw instanceof Refusal) return raw;
  const checked = checkBody(name, raw);
  return "value" in checked
    ? { value: checked.value, raw }
    : refuse("invalidPayload", `${checked.path || "the body"} ${checked.fault}`);
}
