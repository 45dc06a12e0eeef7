/**
 * One connection to one node. It sends the commands of one tick as one write, returns answers in order, and closes for good at the first fault.
 * `ClusterNode` opens the next one.
 */
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { ClusterError, passingCodes } from "./cluster-error.js";
import type { ClusterMeters } from "./cluster-meters.js";
import { type ClusterTls, secureContextOf, textOfFile } from "./cluster-tls.js";
import { type RespCommand, RespEncoder } from "./resp-encoder.js";
import { ErrorReply, RespFault, RespParser, type RespReply } from "./resp-parser.js";
import type { Script } from "./script.js";
import { type NodeAddress, splitAddress } from "./slots.js";

/** Credentials and bounds of every connection of a client. */
export interface ConnectionOptions {
  readonly tls?: ClusterTls | undefined;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  /** A file that holds the password, read at each connection; `password` counts while it can't be read. */
  readonly passwordFile?: string | undefined;
  /** How long a connection may take until it can be used. */
  readonly connectMs: number;
  /** A connection that owes answers and has sent none for this long is closed. */
  readonly silenceMs: number;
  /** How many commands, and how many bytes of them, may wait for an answer on one connection. */
  readonly pendingCommandsMax: number;
  readonly pendingBytesMax: number;
}

/** A command to send. The connection calls `answered` or `lost` once, unless the command was cancelled before it was sent. */
export interface Sendable {
  readonly command: RespCommand;
  /** Its approximate size in bytes. */
  readonly bytes: number;
  /** Sent right before it, to make the node serve a slot that is still being moved to it. */
  readonly isAsking?: boolean;
  /** Loaded before its first use. */
  readonly script?: Script | undefined;
  /** Set by a caller that gives up before it `isSent`. */
  isCancelled: boolean;
  isSent: boolean;
  answered(reply: RespReply, from: Connection): void;
  lost(error: ClusterError): void;
}

/** Replicas answer reads only after READONLY. */
export type Lane = "command" | "group" | "replica" | "blocking";

type Receiver = Pick<Sendable, "answered" | "lost" | "bytes">;

/** Answers come in the order of the commands; each goes to its `Sendable`. */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #meters: ClusterMeters;
  readonly #onClosed: (error: ClusterError | undefined) => void;
  readonly #socket: Socket;
  readonly #encoder = new RespEncoder();
  readonly #looking: NodeJS.Timeout;
  #state: "connecting" | "ready" | "closed" = "connecting";
  #queued: Sendable[] = [];
  #awaiting: (Receiver | undefined)[] = [];
  #head = 0;
  #bytes = 0;
  #isFlushing = false;
  #heardMs = performance.now();
  readonly #loaded = new Set<string>();
  /** Why the last attempts to load failed, unless that passes. */
  readonly #loadFaults = new Map<string, ErrorReply>();

  /** `onClosed` is called once with why it ended, or with nothing when it was closed on purpose. */
  constructor(
    readonly address: NodeAddress,
    readonly lane: Lane,
    options: ConnectionOptions,
    meters: ClusterMeters,
    onClosed: (error: ClusterError | undefined) => void,
  ) {
    this.#options = options;
    this.#meters = meters;
    this.#onClosed = onClosed;
    const { host, port } = splitAddress(address);
    const { tls } = options;
    const name = tls?.serverName ?? (isIP(host) === 0 ? host : undefined);
    this.#socket =
      tls === undefined
        ? connectTcp({ host, port })
        : connectTls({
            host,
            port,
            secureContext: secureContextOf(tls),
            ...(name === undefined ? {} : { servername: name }),
          });
    this.#socket.setNoDelay(true).setKeepAlive(true, 5000);
    const parser = new RespParser((reply) => this.#receive(reply));
    this.#socket
      .on(tls === undefined ? "connect" : "secureConnect", () => this.#greet())
      .on("data", (chunk: Buffer) => {
        this.#heardMs = performance.now();
        try {
          parser.write(chunk);
        } catch (error) {
          if (!(error instanceof RespFault)) throw error;
          this.#end("protocol", `${address} sent ${error.message}`);
        }
      })
      .on("error", (error: NodeJS.ErrnoException) => this.#end("unreachable", `${address}: ${textOf(error)}`))
      .on("close", () => this.#end("unreachable", `${address} closed the connection`));
    const deadline = setTimeout(() => {
      if (this.#state === "connecting") {
        this.#end("unreachable", `${address} did not answer in ${options.connectMs} ms`);
      }
    }, options.connectMs);
    this.#socket.once("close", () => clearTimeout(deadline));
    this.#looking = setInterval(() => this.#look(), Math.max(10, options.silenceMs / 4));
    this.#looking.unref();
  }

  get isClosed(): boolean {
    return this.#state === "closed";
  }

  /** Whether it has ever been usable. */
  wasReady = false;

  /** Whether no command waits here. */
  get isIdle(): boolean {
    return this.#queued.length === 0 && this.#head === this.#awaiting.length;
  }

  /** Adds a command, which is sent with all others of this tick; returns false when too many wait, or the connection is closed. */
  send(sendable: Sendable): boolean {
    if (this.#state === "closed") return false;
    const waiting = this.#awaiting.length - this.#head + this.#queued.length;
    const { pendingCommandsMax, pendingBytesMax } = this.#options;
    if (waiting >= pendingCommandsMax || (waiting > 0 && this.#bytes + sendable.bytes > pendingBytesMax)) return false;
    this.#bytes += sendable.bytes;
    this.#queued.push(sendable);
    this.#flushSoon();
    return true;
  }

  /** Loads a script again before its next use. Returns why it can't be loaded here, if that will not change. */
  unload(script: Script): ErrorReply | undefined {
    this.#loaded.delete(script.sha);
    return this.#loadFaults.get(script.sha);
  }

  close(): void {
    this.#end("closed", "the client was closed", true);
  }

  /** Ends it as lost, unless something has arrived within `silentMs`. */
  dropIfSilent(silentMs: number, why: string): void {
    if (performance.now() - this.#heardMs > silentMs) this.#end("unreachable", why);
  }

  #flushSoon(): void {
    if (this.#isFlushing || this.#state !== "ready") return;
    this.#isFlushing = true;
    setImmediate(() => {
      this.#isFlushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#state !== "ready") return;
    const queued = this.#queued;
    this.#queued = [];
    if (this.#head === this.#awaiting.length) this.#heardMs = performance.now();
    for (const each of queued) {
      if (each.isCancelled) {
        this.#bytes -= each.bytes;
        continue;
      }
      if (each.script !== undefined && !this.#loaded.has(each.script.sha)) this.#load(each.script);
      if (each.isAsking === true) this.#write(["ASKING"], ignored);
      each.isSent = true;
      this.#write(each.command, each);
      this.#meters.commands++;
    }
    this.#send();
  }

  #write(command: RespCommand, receiver: Receiver): void {
    this.#encoder.add(command);
    this.#awaiting.push(receiver);
  }

  #load(script: Script): void {
    this.#loaded.add(script.sha);
    this.#write(["SCRIPT", "LOAD", script.source], {
      ...ignored,
      answered: (reply) => {
        this.#loadFaults.delete(script.sha);
        if (!(reply instanceof ErrorReply)) return;
        this.#loaded.delete(script.sha);
        if (!passingCodes.has(reply.code)) this.#loadFaults.set(script.sha, reply);
      },
    });
  }

  #send(): void {
    if (this.#encoder.length === 0) return;
    this.#meters.roundTrips++;
    this.#socket.write(this.#encoder.take());
    // Node tries to write at once: when nothing is left to write, the memory is free.
    this.#encoder.release(this.#socket.writableLength === 0);
  }

  /** Authenticates; afterwards the connection can be used. */
  #greet(): void {
    if (this.#state !== "connecting") return;
    const { user, passwordFile } = this.#options;
    const password = textOfFile(passwordFile) ?? this.#options.password;
    if (password !== undefined) {
      this.#write(user === undefined ? ["AUTH", password] : ["AUTH", user, password], this.#accepted(password));
    }
    if (this.lane === "replica") this.#write(["READONLY"], this.#accepted());
    // Its name in the server's list of connections; not every user may set it.
    this.#write(["CLIENT", "SETNAME", "verdictd"], {
      ...ignored,
      answered: (reply) => {
        if (this.#state !== "connecting") return;
        if (isTurnedAway(reply)) {
          this.#refuse(reply);
          return;
        }
        this.#state = "ready";
        this.wasReady = true;
        this.#flush();
      },
    });
    this.#send();
  }

  /** Takes an answer that must not be an error; `password`: the one that was sent. */
  #accepted(password?: string): Receiver {
    return {
      ...ignored,
      answered: (reply) => {
        if (reply instanceof ErrorReply) this.#refuse(reply, password);
      },
    };
  }

  /** Ends a connection whose greeting the server did not accept. */
  #refuse(reply: ErrorReply, password?: string): void {
    const isPassing = passingCodes.has(reply.code) || isTurnedAway(reply);
    const why = password === undefined ? reply.message : authFault(reply, password);
    this.#end(isPassing ? "unreachable" : "refused", `${this.address}: ${why}`, false, reply.code);
  }

  #receive(reply: RespReply): void {
    if (this.#state === "closed") return;
    const receiver = this.#awaiting[this.#head];
    if (receiver === undefined) {
      if (isTurnedAway(reply)) this.#end("unreachable", `${this.address}: ${reply.message}`);
      else this.#end("protocol", `${this.address} sent an answer to nothing`);
      return;
    }
    this.#awaiting[this.#head++] = undefined;
    if (this.#head === this.#awaiting.length) {
      this.#awaiting = [];
      this.#head = 0;
    } else if (this.#head > 4096 && this.#head * 2 > this.#awaiting.length) {
      this.#awaiting = this.#awaiting.slice(this.#head);
      this.#head = 0;
    }
    this.#bytes -= receiver.bytes;
    receiver.answered(reply, this);
  }

  #look(): void {
    if (!this.#isSilent()) return;
    // The server may have answered while this thread was busy: Node reads what has arrived before the next `setImmediate`.
    setImmediate(() => {
      if (!this.#isSilent()) return;
      this.#end("unreachable", `${this.address} has not answered for ${this.#options.silenceMs} ms`);
    });
  }

  /** Whether it owes an answer and has been silent for too long. */
  #isSilent(): boolean {
    const owes = this.#head < this.#awaiting.length;
    return this.#state === "ready" && owes && performance.now() - this.#heardMs > this.#options.silenceMs;
  }

  #end(reason: ClusterError["reason"], message: string, isWanted = false, serverCode = ""): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    clearInterval(this.#looking);
    this.#socket.destroy();
    const error = (outcome: ClusterError["outcome"]): ClusterError =>
      new ClusterError(reason, outcome, message, serverCode);
    const awaiting = this.#awaiting.slice(this.#head);
    const queued = this.#queued;
    this.#awaiting = [];
    this.#head = 0;
    this.#queued = [];
    this.#onClosed(isWanted ? undefined : error("unknown"));
    for (const each of awaiting) each?.lost(error("unknown"));
    for (const each of queued) if (!each.isCancelled) each.lost(error("not-sent"));
  }
}

const ignored: Receiver = { bytes: 0, answered: () => {}, lost: () => {} };

/** Returns what a socket failed with: Node puts the failures of a host's several addresses into one error without a text. */
function textOf(error: NodeJS.ErrnoException & { readonly errors?: readonly Error[] }): string {
  return error.message || error.errors?.map(({ message }) => message).join(", ") || (error.code ?? "it failed");
}

/** Errors to AUTH that say what is wrong. */
const authErrors = /^(WRONGPASS|NOAUTH|NOPERM) |^ERR AUTH <password> called without any password/;

/** Returns what an answer to AUTH says. A server that lacks the command quotes its arguments, which must not get into messages. */
function authFault(reply: ErrorReply, password: string): string {
  const isShown = authErrors.test(reply.message) || passingCodes.has(reply.code) || isTurnedAway(reply);
  return isShown && !reply.message.includes(password) ? reply.message : "the server does not accept AUTH";
}

/** Errors that servers send before any command, and then hang up. */
function isTurnedAway(reply: RespReply): reply is ErrorReply {
  return reply instanceof ErrorReply && (reply.code === "DENIED" || reply.message.includes("max number of clients"));
}
