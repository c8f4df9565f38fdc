// The server's tests write these snapshots from its real answers; here the page's validators take them.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import test from "node:test";

import * as schema from "../gradwatch_frontend/schema.js";
import { describeVerdict } from "../gradwatch_frontend/verdict.js";

const folder = new URL("../../tests/contract/snapshots/", import.meta.url);
const load = (name) => JSON.parse(readFileSync(new URL(name, folder), "utf8"));
const names = readdirSync(folder).filter((name) => name.endsWith(".json"));

const VALIDATORS = {
  alert: schema.alert,
  alerts: schema.alertList,
  baseline: schema.baseline,
  capture: schema.captureHistory,
  columns: schema.inputColumns,
  compare: schema.comparison,
  control: schema.controlAccepted,
  error: schema.apiError,
  figure: schema.figure,
  findings: schema.findings,
  forecasts: schema.forecastRecord,
  heatmap: schema.heatmap,
  next: schema.sequel,
  nonfinite: schema.nonfinite,
  report: schema.report,
  run: schema.runDetail,
  runs: schema.runList,
  series: schema.series,
  tensors: schema.tensorTable,
};

for (const name of names) {
  const sort = /^[a-z]+/.exec(name)[0];
  if (sort === "protocol" || sort === "live") continue;
  test(`the page takes ${name}`, () => {
    assert.ok(Object.hasOwn(VALIDATORS, sort), `no validator for ${name}`);
    VALIDATORS[sort](load(name));
  });
}

test("each answer of the contract has a snapshot", () => {
  for (const sort of Object.keys(VALIDATORS)) assert.ok(names.some((name) => name.startsWith(sort)), sort);
});

test("the page takes every live message, and knows each of its types", () => {
  const messages = Object.values(load("live.json")).flat();
  assert.ok(messages.length > 0);
  for (const message of messages) assert.notEqual(schema.liveMessage(message), null, JSON.stringify(message).slice(0, 80));
});

test("blocks have a value for every tensor and column", () => {
  for (const name of names.filter((each) => each.startsWith("heatmap"))) {
    const { tensors, steps, step_end, values, n_nonfinite, missing } = schema.heatmap(load(name));
    for (const block of [values, n_nonfinite, missing]) {
      assert.equal(block.length, tensors.length);
      for (const row of block) assert.equal(row.length, steps.length);
    }
    assert.ok(step_end > (steps.at(-1) ?? -1));
  }
});

test("a sick run's snapshot becomes a verdict with evidence, chain and fix", () => {
  const verdict = describeVerdict(schema.runDetail(load("run.json")), schema.findings(load("findings.json")).findings);
  assert.notEqual(verdict.finding, null);
  assert.ok(verdict.summary.length > 20);
  assert.ok(verdict.chain.length > 0);
  assert.ok(verdict.hypotheses[0].fix.length > 0);
});
