/**
 * The live line to the server: one websocket, kept open, with back-off and jitter. Owns no data; it hands on validated messages.
 *
 * Its `state` is "connecting" until the first answer, "open", or "lost" (with `retryAt`, when it tries again).
 */

import { liveMessage } from "./schema.js";

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 15_000;

/** @typedef {import("./schema.js").LiveMessage} LiveMessage */
/** @typedef {"connecting" | "open" | "lost"} LineState */
/**
 * @typedef {object} Surroundings what a test replaces
 * @property {(url: string) => WebSocket} connect
 * @property {(call: () => void, delay: number) => unknown} delay
 * @property {() => number} random 0 to 1
 * @property {() => number} now milliseconds
 */

export class Live {
  /** @type {LineState} */
  state = "connecting";
  /** When the next try is due, in milliseconds. */
  retryAt = 0;
  /** @type {string[] | "all"} */
  #runs = [];
  /** @type {WebSocket | null} */
  #socket = null;
  #failures = 0;
  #tries = 0;
  /** @type {Set<(message: LiveMessage) => void>} */
  #listeners = new Set();
  /** @type {Set<(state: LineState) => void>} */
  #watchers = new Set();
  #url;
  #surroundings;

  /**
   * @param {string} url
   * @param {Partial<Surroundings>} [surroundings]
   */
  constructor(url, surroundings = {}) {
    this.#url = url;
    this.#surroundings = {
      connect: (/** @type {string} */ to) => new WebSocket(to),
      delay: (/** @type {() => void} */ call, /** @type {number} */ delay) => setTimeout(call, delay),
      random: Math.random,
      now: Date.now,
      ...surroundings,
    };
  }

  /**
   * Hears every message until the returned function is called.
   * @param {(message: LiveMessage) => void} listener
   * @returns {() => void}
   */
  listen(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Hears every change of `state`, and the present one at once.
   * @param {(state: LineState) => void} watcher
   * @returns {() => void}
   */
  watch(watcher) {
    this.#watchers.add(watcher);
    watcher(this.state);
    return () => this.#watchers.delete(watcher);
  }

  /**
   * Chooses the runs to hear of; replaces the last choice.
   * @param {string[] | "all"} runs
   */
  subscribe(runs) {
    this.#runs = runs;
    if (this.#socket === null) this.open();
    else if (this.state === "open") this.#announce();
  }

  /** Opens the line now, also when a later try is due. */
  open() {
    this.#tries += 1;
    this.#socket?.close();
    const socket = this.#surroundings.connect(this.#url);
    this.#socket = socket;
    socket.addEventListener("open", () => {
      if (socket !== this.#socket) return;
      this.#failures = 0;
      this.#change("open");
      this.#announce();
    });
    socket.addEventListener("message", (event) => this.#receive(socket, event.data));
    socket.addEventListener("close", () => this.#lose(socket));
  }

  #announce() {
    this.#socket?.send(JSON.stringify({ type: "subscribe", runs: this.#runs }));
  }

  /**
   * @param {WebSocket} socket
   * @param {unknown} data
   */
  #receive(socket, data) {
    if (socket !== this.#socket) return;
    let message = null;
    try {
      message = liveMessage(JSON.parse(String(data)));
    } catch (error) {
      message = /** @type {LiveMessage} */ ({
        type: "error",
        code: "unexpected_message",
        message: `The server sent a message that this page does not understand. ${error instanceof Error ? error.message : ""}`,
      });
    }
    if (message !== null) for (const listener of this.#listeners) listener(message);
  }

  /** @param {WebSocket} socket */
  #lose(socket) {
    if (socket !== this.#socket) return;
    const longest = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** this.#failures);
    const delay = longest * (0.5 + 0.5 * this.#surroundings.random());
    this.#failures += 1;
    this.retryAt = this.#surroundings.now() + delay;
    const tries = this.#tries;
    this.#surroundings.delay(() => {
      if (this.#tries === tries) this.open();
    }, delay);
    this.#change("lost");
  }

  /** @param {LineState} state */
  #change(state) {
    this.state = state;
    for (const watcher of this.#watchers) watcher(state);
  }
}
