// A report holds what the page's modules ask for: the server's list of numbers and the page's are held against each other.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { fetchHeatmap, takeAnswersFrom } from "../gradwatch_frontend/api.js";
import { Archive } from "../gradwatch_frontend/archive.js";
import { RunNumbers, fetchTensorNumbers } from "../gradwatch_frontend/numbers.js";
import * as schema from "../gradwatch_frontend/schema.js";
import { describeBaseline, describeSequel } from "../gradwatch_frontend/verdict.js";

const load = (name) => JSON.parse(readFileSync(new URL(`../../tests/contract/snapshots/${name}.json`, import.meta.url), "utf8"));
const report = schema.report(load("report"));
const everywhere = { worker: null, replica: null };

test("a report has an answer to all that its charts ask for", async () => {
  const archive = new Archive(report.answers);
  const missing = [];
  const asked = [];
  takeAnswersFrom(async (address) => {
    asked.push(address);
    const answer = await archive.answer(address);
    if (!answer.ok) missing.push(address);
    return new Response("{}", { status: 500 }); // the numbers are not in the snapshot
  });
  for (const { kind, statistic, from, to, tensor } of report.views) {
    const view = { kind, statistic, from, to, columns: 1, ...everywhere };
    await assert.rejects(new RunNumbers(report.run.id).load(view, report.scalars));
    if (tensor === null) continue;
    const hasUpdate = report.tensors.find((each) => each.tensor === tensor).kinds.includes("update");
    await assert.rejects(fetchTensorNumbers(report.run.id, { tensor, kind, hasUpdate, from, to, ...everywhere }, new AbortController().signal));
  }
  assert.deepEqual(missing, []);
  assert.ok(asked.length >= 4 + 11, `only ${asked.length} were asked`);
  assert.deepEqual(report.views.map(({ finding }) => finding), [null, ...report.findings.map(({ id }) => id)]);
});

test("an archive finds an answer whatever the order and the resolution asked for", async () => {
  const values = load("heatmap_gradient");
  const archive = new Archive({ "/api/runs/a%20b/heatmap?kind=gradient&statistic=norm&from=3": values });
  takeAnswersFrom((address) => archive.answer(address));
  const found = await fetchHeatmap("a b", { statistic: "norm", kind: "gradient", from: 3, columns: 77 });
  assert.deepEqual(found.steps, values.steps);
  await assert.rejects(fetchHeatmap("a b", { statistic: "max", kind: "gradient" }), { code: "not_in_report" });
});

test("whether it helped is said in words", () => {
  const [finding] = report.findings;
  const run = { ...report.run, name: "cured", state: "finished" };
  const say = (outcome, more = {}) => describeSequel({ run: { ...run, ...more }, findings: [{ id: finding.id, n_steps: 640, again: null, ...outcome }] }, finding).text;
  assert.equal(say({ outcome: "not_seen" }), "Not seen in 640 steps of the next run, cured.");
  assert.equal(say({ outcome: "not_seen" }, { state: "live" }), "Not seen in 640 steps so far of the next run, cured.");
  const again = { id: "x", kind: finding.kind, first_step: 12, title: "NaN" };
  assert.equal(say({ outcome: "came_back", again }), "It came back at step 12 of the next run, cured.");
  assert.match(say({ outcome: "came_back", again: { ...again, kind: "other" } }), /the next run, cured: NaN\.$/);
  assert.match(say({ outcome: "too_short", n_steps: 9 }), /^Too early to say: the next run, cured, has 9 steps; here it began at step \d+\.$/);
  assert.match(describeSequel({ run: null, findings: [] }, finding).text, /^Change it and run again/);
});

test("what is not the same in the last healthy run is a short table", () => {
  const baseline = load("baseline");
  const told = describeBaseline(baseline);
  assert.equal(told.name, "mlp-digits");
  assert.deepEqual(told.rows[0], ["optimizer.learning_rate", "5e-4", "0.001"]);
  const norm = told.rows.find(([name]) => name.startsWith("gradient norm before step"));
  assert.ok(norm !== undefined && norm[1] !== norm[2], String(norm));
  assert.ok(!told.rows.some(([name]) => name.startsWith("learning rate before")), "it is said among the settings");
  const many = { ...baseline, config: Array.from({ length: 9 }, (_, i) => ({ key: `k${i}`, there: i, here: null })) };
  assert.equal(describeBaseline(many).nMore, 3);
  assert.equal(describeBaseline(load("baseline_none")), null);
  assert.equal(describeBaseline({ ...baseline, config: [], values: [] }), null);
});
