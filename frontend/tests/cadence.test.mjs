import assert from "node:assert/strict";
import test from "node:test";

import { ApiError } from "../gradwatch_frontend/api.js";
import { currentCadence, sayCadence, sayCost, sayKinds, sayReason } from "../gradwatch_frontend/cadence.js";
import { describeAccepted, describeRefusal } from "../gradwatch_frontend/pages/run/controls.js";

const cadence = (extra = {}) => ({ step: 0, period: 1, every: 1, kinds: [], until_step: null, cost: null, reason: "budget", worker: null, ...extra });

test("how often, in words", () => {
  assert.equal(sayCadence(cadence(), 10), "full statistics at every step");
  assert.equal(sayCadence(cadence({ period: 8 }), 10), "full statistics every 8 steps");
  assert.equal(sayCadence(cadence({ every: 100 }), 10), "full statistics every 100 steps");
  assert.equal(sayCadence(cadence({ until_step: 1050 }), 1000), "everything until step 1,050");
  assert.equal(sayCadence(cadence({ until_step: 1050, period: 8 }), 1050), "full statistics every 8 steps");
});

test("why, in words", () => {
  assert.equal(sayReason(cadence({ period: 8, cost: 0.018 })), "to stay within the hook's budget");
  assert.equal(sayReason(cadence()), "until the cost is measured");
  assert.equal(sayReason(cadence({ reason: "control" })), "as a person asked");
});

test("of which kinds, where some were left out", () => {
  const history = [cadence({ kinds: ["gradient", "weight"] }), cadence({ kinds: ["gradient"] })];
  assert.deepEqual(history.map((entry) => sayKinds(entry, history)), ["", "of gradient alone"]);
});

test("the pill says the cost, and the cadence where it is thinned", () => {
  assert.equal(sayCost(0.011, null, 5), "hook costs 1.1\u2009%");
  assert.equal(sayCost(0.011, cadence({ period: 8 }), 5), "hook costs 1.1\u2009% · in full every 8 steps");
  assert.equal(sayCost(0.2, cadence({ until_step: 60 }), 5), "hook costs 20\u2009% · everything until 60");
  assert.equal(sayCost(null, cadence({ period: 8 }), 5), "in full every 8 steps");
});

test("the newest entry of a worker is in force", () => {
  const history = [cadence({ worker: 0 }), cadence({ worker: 1, period: 4 }), cadence({ worker: 0, period: 8 })];
  assert.equal(currentCadence(history)?.period, 8);
  assert.equal(currentCadence(history, 1)?.period, 4);
  assert.equal(currentCadence([]), null);
});

test("what was asked for and what was refused, in words", () => {
  assert.match(describeAccepted({ everything_for: 50 }), /everything in the next 50 steps/);
  assert.match(describeAccepted({ every: 0 }), /budget/);
  assert.match(describeAccepted({ kinds: ["gradient", "weight"] }), /gradient, weight/);
  assert.match(describeAccepted({ kinds: ["gradient", "slot"] }, ["slot"]), /of gradient alone.*does not capture slot/);
  assert.match(describeAccepted({ stop: "NaN" }), /stop/);
  assert.match(describeRefusal(new ApiError("not_connected", "No hook of this run is connected.", 409)), /not connected to this server just now.*Try again/);
  assert.match(describeRefusal(new ApiError("no_answer", "The server does not answer.", 0)), /gradwatch serve/);
});
