/**
 * Commands under way in the cluster: which node each goes to, what the node's answer means, when it is repeated and when the caller gets the result.
 * One operation has one deadline.
 */
import { limits } from "../limits.js";
import { ClusterError, type ClusterErrorReason, passingCodes } from "./cluster-error.js";
import type { ClusterMeters } from "./cluster-meters.js";
import type { Connection, Lane, Sendable } from "./connection.js";
import type { RespCommand } from "./resp-encoder.js";
import { ErrorReply, type RespReply } from "./resp-parser.js";
import type { Script } from "./script.js";
import { type NodeAddress, parseRedirect } from "./slots.js";
import type { Topology } from "./topology.js";

/** A command with the slot of its keys. */
export interface KeyedCommand {
  readonly command: RespCommand;
  /** `keySlot` of its keys. */
  readonly slot: number;
  /** The script that it runs; it is loaded on a node that lacks it. */
  readonly script?: Script | undefined;
}

/** The outcome of a command: an answer, never an `ErrorReply`; or why there is none. */
export type Outcome = RespReply | ClusterError;

/** Where the commands of an operation go, and whether they are repeated. */
export interface Routing {
  readonly lane: Lane;
  /** One fixed node, whatever its slots; nothing is repeated. */
  readonly node?: NodeAddress | undefined;
  /** Repeated even if it may have run. */
  readonly isIdempotent: boolean;
  /** Fails as soon as the node can't serve it, instead of waiting for another node to take over. */
  readonly failsFast: boolean;
  /** Refused at once if its master is suspected not to answer. */
  readonly isImpatient: boolean;
}

/** Limit of redirections and repetitions of one command; with the longest pauses this takes some 20 s. */
const attemptsMax = 100;
/** Limit of those without a pause: nodes that point at each other may agree soon. */
const redirectionsMax = 5;
const pauseMsMin = 5;
const pauseMsMax = 200;

/** A deadline missed by less than this may have been missed because this thread was busy. */
const patientMs = 1000;
const unanswered: ReadonlySet<ClusterErrorReason> = new Set(["deadline", "unreachable", "unsettled"]);

/** Several commands with one deadline; done when each has an outcome. */
export class Operation {
  readonly outcomes: Outcome[];
  readonly #requests: Request[] = [];
  #left: number;
  readonly #timer: NodeJS.Timeout;
  readonly #suspecting: NodeJS.Timeout | undefined;
  isOver = false;

  constructor(
    readonly topology: Topology,
    readonly meters: ClusterMeters,
    readonly routing: Routing,
    commands: readonly KeyedCommand[],
    readonly deadlineMs: number,
    private readonly onDone: (outcomes: Outcome[]) => void,
  ) {
    this.outcomes = new Array(commands.length);
    this.#left = commands.length;
    // If this thread was busy meanwhile, answers that arrived in time are read first.
    this.#timer = setTimeout(() => setImmediate(() => this.#miss()), deadlineMs);
    if (this.#suspects) {
      const { clusterImpatientMs } = limits;
      const everyMs = routing.isImpatient ? Math.min(deadlineMs, clusterImpatientMs) : clusterImpatientMs / 2;
      this.#suspecting = setInterval(() => setImmediate(() => this.#suspect()), everyMs);
    }
    for (let index = 0; index < commands.length; index++) {
      this.#requests.push(new Request(this, index, commands[index]!));
    }
  }

  begin(): void {
    for (const request of this.#requests) request.place();
    if (this.#left === 0) this.finish();
  }

  /** Called each time a command is handed to a connection. */
  placed(_request: Request, _connection: Connection): void {}

  settled(index: number, outcome: Outcome): void {
    this.outcomes[index] = outcome;
    this.#left--;
    this.considerDone();
  }

  /** Why it is not finished, by the first command without an outcome. */
  get waitsFor(): string {
    return (
      this.#requests.find(({ index }) => this.outcomes[index] === undefined)?.waitsFor ?? "its replicas do not answer"
    );
  }

  /** Whether a node has answered a command with anything but an error. */
  hasAnswer(index: number): boolean {
    const outcome = this.outcomes[index];
    return outcome !== undefined && !(outcome instanceof ClusterError);
  }

  protected considerDone(): void {
    if (this.#left === 0 && !this.isOver) this.commandsDone();
  }

  /** Every command has its outcome. */
  protected commandsDone(): void {
    this.finish();
  }

  protected finish(): void {
    if (this.isOver) return;
    this.isOver = true;
    clearTimeout(this.#timer);
    clearInterval(this.#suspecting);
    this.onDone(this.outcomes);
  }

  /** Whether a master that does not answer soon becomes suspected. Impatient commands, which others wait for, and writes detect this. */
  get #suspects(): boolean {
    return this.routing.isImpatient || this.routing.lane === "group";
  }

  #suspect(): void {
    if (this.isOver || this.topology.isClosed) return;
    for (const request of this.#requests) request.suspect();
  }

  #miss(): void {
    if (this.isOver) return;
    this.meters.deadlineMisses++;
    // A frozen node sends nothing, and another may have taken over.
    this.topology.refresh();
    for (const request of this.#requests) {
      if (this.#suspects) request.suspect();
      request.giveUp(this.deadlineMs);
    }
    this.finish();
  }
}

/** One command of an operation. */
export class Request implements Sendable {
  readonly command: RespCommand;
  readonly bytes: number;
  readonly script: Script | undefined;
  isAsking = false;
  isCancelled = false;
  isSent = false;
  #target: NodeAddress | undefined;
  #attempts = 0;
  #redirections = 0;
  #isSettled = false;
  /** An earlier attempt was lost under way. */
  #mayBeDone = false;
  /** The master of the last attempt. */
  #master: NodeAddress = "";
  /** The node of the last attempt; "" while the slot's node is unknown. */
  #address: NodeAddress = "";
  /** Why it was last repeated. */
  #fault: ClusterError | undefined;
  #pause: NodeJS.Timeout | undefined;

  constructor(
    private readonly operation: Operation,
    readonly index: number,
    private readonly keyed: KeyedCommand,
  ) {
    this.command = keyed.command;
    this.script = keyed.script;
    let bytes = 32;
    for (const part of keyed.command) bytes += typeof part === "number" ? 16 : part.length + 8;
    this.bytes = bytes;
    this.#target = operation.routing.node;
  }

  /** Why it waits. */
  get waitsFor(): string {
    if (!this.isSent && this.#fault !== undefined) return this.#fault.message;
    return this.#address === "" ? "no node says who has its slots" : `${this.#address} does not answer`;
  }

  /** Hands it to the best known connection. */
  place(): void {
    const { topology, routing, meters } = this.operation;
    this.isSent = false;
    if (topology.isClosed) {
      this.#settle(new ClusterError("closed", "not-sent", "the client was closed"));
      return;
    }
    const address = this.#target ?? this.#choose();
    this.#address = address ?? "";
    if (this.#hangsOnMaster) {
      this.#master = address ?? "";
      const refusal = this.#attempts === 0 ? topology.circuits.refusal(this.#master, routing.isImpatient) : undefined;
      if (refusal !== undefined) {
        topology.refresh();
        this.#settle(refusal, false);
        return;
      }
    }
    if (address === undefined) {
      topology.refresh();
      this.#wait(new ClusterError("unreachable", "not-sent", `no node is known to have slot ${this.keyed.slot}`));
      return;
    }
    const node = topology.node(address);
    const connection = node.connection(routing.lane);
    if (connection === undefined) {
      if (routing.node === undefined) this.#forgetTarget();
      topology.refresh();
      const why = node.lastError?.message ?? `${address} can't be reached`;
      const isRefused = node.lastError?.reason === "refused";
      const code = node.lastError?.serverCode;
      const error = new ClusterError(isRefused ? "refused" : "unreachable", "not-sent", why, code);
      if (isRefused) this.#settle(error);
      else this.#wait(error);
      return;
    }
    if (!connection.send(this)) {
      meters.busy++;
      this.#settle(new ClusterError("busy", "not-sent", `too many commands wait for ${address}`));
      return;
    }
    this.operation.placed(this, connection);
  }

  answered(reply: RespReply, from: Connection): void {
    // A late answer ends a suspicion as well.
    if (!(reply instanceof ErrorReply)) this.operation.topology.circuits.answered(from.address);
    if (this.#isSettled) return;
    if (reply instanceof ErrorReply) this.#failed(reply, from);
    else this.#settle(reply);
  }

  lost(error: ClusterError): void {
    if (this.#isSettled) return;
    if (error.reason === "refused" || error.reason === "closed") this.#settle(error);
    else if (error.outcome === "not-sent" || this.operation.routing.isIdempotent) {
      if (error.outcome === "unknown") this.#mayBeDone = true;
      this.#wait(error);
    } else this.#settle(error);
  }

  /** It has waited as long as impatient commands may wait; a write, half as long or more. */
  suspect(): void {
    if (this.#isSettled || !this.#hangsOnMaster) return;
    const { topology, routing } = this.operation;
    topology.refresh();
    if (routing.isImpatient) topology.circuits.suspected(this.#master);
    else topology.circuits.doubted(this.#master);
  }

  /** Ends it at the deadline. */
  giveUp(deadlineMs: number): void {
    if (this.#isSettled) return;
    this.isCancelled = true;
    const outcome = this.isSent ? "unknown" : "not-sent";
    const { topology, routing } = this.operation;
    const ms = `${Math.round(deadlineMs)} ms`;
    // Writes that a silent master keeps waiting make it suspected.
    const isWrite = routing.lane === "group" && this.#tellsOfMaster && this.isSent;
    const answersOthers = isWrite && !topology.circuits.isSuspected(this.#master);
    const others = answersOthers ? ", which answers others: earlier writes may wait for its replicas" : "";
    const why =
      !this.isSent && this.#fault !== undefined
        ? `${this.#fault.message}, for ${ms}`
        : `no answer in ${ms} of ${this.#address === "" ? "the cluster" : this.#address}${others}`;
    this.#settle(new ClusterError("deadline", outcome, why), !answersOthers);
    // Its deadline is behind the time that it blocks for: if no large answer is arriving, nobody is there, and the next ones would wait in vain.
    const isUnheard = routing.lane === "blocking" && this.isSent;
    if (isUnheard) topology.node(this.#address).dropIfSilent("blocking", deadlineMs / 2, why);
  }

  #choose(): NodeAddress | undefined {
    const { topology, routing } = this.operation;
    const shard = topology.map.shard(this.keyed.slot);
    if (shard === undefined || routing.lane !== "replica") return shard?.master;
    const { replicas } = shard;
    const first = Math.floor(Math.random() * replicas.length);
    for (let step = 0; step < replicas.length; step++) {
      const address = replicas[(first + step) % replicas.length]!;
      if (topology.node(address).isAvailable("replica")) return address;
    }
    return replicas[first] ?? shard.master;
  }

  /** Goes by the map again, not to where it was redirected. */
  #forgetTarget(): void {
    this.#target = undefined;
    this.isAsking = false;
  }

  #failed(reply: ErrorReply, from: Connection): void {
    const { topology, meters, routing } = this.operation;
    const { code } = reply;
    this.isSent = false;
    if (routing.node === undefined && (code === "MOVED" || code === "ASK")) {
      const to = parseRedirect(reply.message, from.address);
      if (to !== undefined) {
        this.#target = to.address;
        this.isAsking = code === "ASK";
        if (code === "ASK") meters.ask++;
        else {
          meters.moved++;
          topology.refresh();
          // A redirect from a replica means that it must not answer for this slot, not that the slot moved.
          if (routing.lane !== "replica") {
            topology.map.move(to.slot, to.address);
            this.#target = undefined;
          }
        }
        this.#again(reply, from);
        return;
      }
    }
    if (code === "NOSCRIPT" && this.script !== undefined) {
      const fault = from.unload(this.script);
      if (fault === undefined) this.#again(reply, from);
      else this.#settle(refused(fault, from.address, `can't load script ${this.script.name}: `));
      return;
    }
    const isMapDoubtful = passingCodes.get(code);
    if (isMapDoubtful === undefined || routing.node !== undefined) {
      this.#settle(refused(reply, from.address));
      return;
    }
    if (isMapDoubtful) {
      this.#forgetTarget();
      topology.refresh();
    }
    this.#wait(refused(reply, from.address));
  }

  /** Repeats it at once, or after a pause if that has not helped so far. */
  #again(reply: ErrorReply, from: Connection): void {
    if (++this.#redirections > redirectionsMax) {
      this.#wait(new ClusterError("unsettled", "refused", `${from.address}: ${reply.message}`, reply.code));
      return;
    }
    this.#attempts++;
    this.operation.meters.retries++;
    this.place();
  }

  /** Repeats it after a pause. */
  #wait(error: ClusterError): void {
    const { routing, meters } = this.operation;
    this.isSent = false;
    this.#fault = error;
    const isWaiting = !this.operation.isOver && !routing.failsFast && routing.node === undefined;
    if (!isWaiting || ++this.#attempts > attemptsMax) {
      this.#settle(error);
      return;
    }
    const pauseMs = Math.min(pauseMsMin * 2 ** Math.min(this.#attempts - 1, 10), pauseMsMax);
    this.#pause = setTimeout(() => {
      meters.retries++;
      this.place();
    }, pauseMs);
  }

  /** Whether its failure says something about the master: it waits long enough, but not so long that the master may be replaced meanwhile. */
  get #tellsOfMaster(): boolean {
    const { routing, deadlineMs } = this.operation;
    const isToMaster = routing.lane === "command" || routing.lane === "group";
    const isPatient = deadlineMs >= patientMs && deadlineMs < limits.clusterGiveUpMs;
    return isToMaster && routing.node === undefined && !routing.failsFast && isPatient;
  }

  /** Whether it is refused while its master gets no commands. */
  get #hangsOnMaster(): boolean {
    return this.#tellsOfMaster || this.operation.routing.isImpatient;
  }

  /** `isOfMaster`: a failure says something about the master as it is now. */
  #settle(outcome: Outcome, isOfMaster = true): void {
    if (this.#isSettled) return;
    if (isOfMaster && this.#tellsOfMaster && outcome instanceof ClusterError && unanswered.has(outcome.reason)) {
      this.operation.topology.circuits.failed(this.#master, outcome);
    }
    this.#isSettled = true;
    clearTimeout(this.#pause);
    if (this.#mayBeDone && outcome instanceof ClusterError && outcome.outcome !== "unknown") {
      const { reason, message, serverCode } = outcome;
      this.operation.settled(this.index, new ClusterError(reason, "unknown", message, serverCode));
    } else this.operation.settled(this.index, outcome);
  }
}

function refused(reply: ErrorReply, address: NodeAddress, before = ""): ClusterError {
  // `min-replicas-to-write` of the server: asking again helps as soon as its replicas are back.
  const reason = reply.code === "NOREPLICAS" ? "unacknowledged" : "refused";
  return new ClusterError(reason, "refused", `${address}: ${before}${reply.message}`, reply.code);
}
