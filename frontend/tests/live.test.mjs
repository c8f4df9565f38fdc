import assert from "node:assert/strict";
import test from "node:test";

import { Live } from "../gradwatch_frontend/live.js";

class FakeSocket extends EventTarget {
  sent = [];
  isClosed = false;
  send(text) {
    this.sent.push(JSON.parse(text));
  }
  close() {
    this.isClosed = true;
  }
  say(message) {
    this.dispatchEvent(new MessageEvent("message", { data: typeof message === "string" ? message : JSON.stringify(message) }));
  }
}

function start() {
  const sockets = [];
  const delays = [];
  const live = new Live("ws://x/ws/live", {
    connect: () => sockets[sockets.push(new FakeSocket()) - 1],
    delay: (call, ms) => delays.push({ call, ms }),
    random: () => 1,
    now: () => 1000,
  });
  const heard = [];
  const states = [];
  live.listen((message) => heard.push(message));
  live.watch((state) => states.push(state));
  return { live, sockets, delays, heard, states };
}

test("subscribes when the line opens, and again when the choice changes", () => {
  const { live, sockets, states } = start();
  live.subscribe(["a"]);
  assert.deepEqual(sockets[0].sent, []);
  sockets[0].dispatchEvent(new Event("open"));
  live.subscribe("all");
  assert.deepEqual(sockets[0].sent, [{ type: "subscribe", runs: ["a"] }, { type: "subscribe", runs: "all" }]);
  assert.deepEqual(states, ["connecting", "open"]);
});

test("a lost line is tried again with growing delays, up to a limit, and afresh after a success", () => {
  const { live, sockets, delays, states } = start();
  live.subscribe("all");
  for (let i = 0; i < 8; i++) {
    sockets.at(-1).dispatchEvent(new Event("close"));
    delays.at(-1).call();
  }
  assert.deepEqual(delays.map(({ ms }) => ms), [500, 1000, 2000, 4000, 8000, 15000, 15000, 15000]);
  assert.equal(live.retryAt, 16000);
  sockets.at(-1).dispatchEvent(new Event("open"));
  assert.deepEqual(sockets.at(-1).sent, [{ type: "subscribe", runs: "all" }]);
  sockets.at(-1).dispatchEvent(new Event("close"));
  assert.equal(delays.at(-1).ms, 500);
  assert.equal(states.at(-1), "lost");
});

test("a try by hand makes the waiting one void", () => {
  const { live, sockets, delays } = start();
  live.subscribe("all");
  sockets[0].dispatchEvent(new Event("close"));
  live.open();
  delays[0].call();
  assert.equal(sockets.length, 2);
});

test("what an abandoned socket still says is not heard", () => {
  const { live, sockets, heard } = start();
  live.subscribe("all");
  live.open();
  sockets[0].say({ type: "deleted", run_id: "old" });
  sockets[0].dispatchEvent(new Event("close"));
  sockets[1].say({ type: "deleted", run_id: "new" });
  assert.deepEqual(heard, [{ type: "deleted", run_id: "new" }]);
  assert.equal(sockets[0].isClosed, true);
});

test("a message that is none becomes an error in words", () => {
  const { live, sockets, heard } = start();
  live.subscribe("all");
  sockets[0].say("{");
  sockets[0].say({ type: "progress", run_id: 7 });
  assert.deepEqual(heard.map(({ type, code }) => [type, code]), [["error", "unexpected_message"], ["error", "unexpected_message"]]);
  assert.match(heard[1].message, /progress\.run_id: found 7, expected a text/);
});
