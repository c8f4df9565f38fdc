import assert from "node:assert/strict";
import test from "node:test";

import { TOO_EARLY_STEPS, describeEnd, describeOperations, describeRecord, describeVerdict, findTone, listNumbers, readDiff, readFix } from "../gradwatch_frontend/verdict.js";

const run = (extra = {}) => ({ state: "live", last_step: 899, error: null, streams: [{ n_tensors: 47 }], ...extra });
const finding = (extra = {}) => ({
  id: "f", kind: "nonfinite_gradient", severity: "critical", first_step: 812, last_step: 899, title: "Gradient became NaN at step 812",
  layer: "head", tensor: "head/kernel", operation: null, source: { file: "train.py", line: 47, code: null },
  evidence: {
    summary: "29 of 128 rows were zero.",
    chain: [{ what: "gradient", step: 812, n: 41 }, { what: "loss", step: 813, n: 1 }],
    flood: [{ kind: "nonfinite_weight", first_step: 813, n_tensors: 47 }],
  },
  hypotheses: [
    { cause: "less likely", confidence: 0.2, why: "", fix: "", code: null },
    { cause: "singular", confidence: 0.97, why: "The slope has no value there.", fix: "Add a small number.", code: "-a\n+b" },
  ],
  worker: null, ...extra,
});

test("a finding leads: title, why, evidence, chain, the likeliest cause first", () => {
  const verdict = describeVerdict(run(), [finding(), finding({ id: "second", title: "other" })]);
  assert.equal(verdict.tone, "nonfinite");
  assert.equal(verdict.title, "Gradient became NaN at step 812");
  assert.equal(verdict.why, "The slope has no value there.");
  assert.equal(verdict.summary, "29 of 128 rows were zero.");
  assert.deepEqual(verdict.chain, [{ text: "gradient (step 812)", isCause: true }, { text: "loss (step 813)", isCause: false }]);
  assert.deepEqual(verdict.hypotheses.map(({ confidence }) => confidence), [0.97, 0.2]);
});

test("NaN has its own tone; what is finite has that of its severity", () => {
  assert.equal(findTone(finding()), "nonfinite");
  assert.equal(findTone(finding({ kind: "exploding_gradient" })), "critical");
  assert.equal(findTone(finding({ kind: "missing_gradient", severity: "warning" })), "warning");
});

test("what is only forecast is no NaN yet", () => {
  const evidence = { summary: "The loss rose.", forecast: { outcome: "pending" }, early_warning: null };
  assert.equal(findTone(finding({ kind: "nonfinite_loss", severity: "warning", evidence })), "warning");
  assert.deepEqual(listNumbers(evidence), []);
});

test("the engine's record is a line, and none before its first forecast", () => {
  const record = (came_true, did_not, pending) => describeRecord({ counts: { came_true, did_not, pending }, total: came_true + did_not + pending });
  assert.equal(record(7, 1, 0), "forecasts so far: 7 came true, 1 did not");
  assert.equal(record(0, 0, 2), "forecasts so far: 0 came true, 0 did not, 2 open");
  assert.equal(record(0, 0, 0), "");
});

test("no finding: healthy so far, to the end, when last heard of; too early; waiting", () => {
  const title = (extra) => describeVerdict(run(extra), []).title;
  assert.equal(title({}), "Healthy so far");
  assert.equal(title({ state: "finished" }), "Healthy to the end");
  assert.equal(title({ state: "lost_contact" }), "Healthy when last heard of");
  assert.equal(title({ last_step: TOO_EARLY_STEPS - 2 }), "Too early to say");
  assert.equal(title({ last_step: TOO_EARLY_STEPS - 1 }), "Healthy so far");
  assert.equal(title({ last_step: 3, state: "finished" }), "Too short to say much");
  assert.equal(title({ last_step: null }), "Waiting for the first step");
  assert.match(describeVerdict(run(), []).why, /900 steps of 47 watched tensors/);
});

test("a crash without a finding is not called healthy, and its error is kept", () => {
  const verdict = describeVerdict(run({ state: "crashed", error: "OSError: disk full" }), []);
  assert.equal(verdict.tone, "warning");
  assert.equal(verdict.title, "The training stopped at step 899");
  assert.equal(verdict.error, "OSError: disk full");
});

test("evidence that lacks its parts is no obstacle", () => {
  const verdict = describeVerdict(run(), [finding({ evidence: {}, hypotheses: [] })]);
  assert.deepEqual([verdict.summary, verdict.chain, verdict.why], ["", [], ""]);
});

test("a fix that is a diff is shown as one, and copied without its signs", () => {
  const code = "x = f()\n- return x / tf.norm(x)\n+ return x * tf.math.rsqrt(s)\n+     # safe\n";
  assert.deepEqual(readDiff(code).map(({ change }) => change), [null, "out", "in", "in"]);
  assert.equal(readFix(code), "x = f()\nreturn x * tf.math.rsqrt(s)\n    # safe");
  assert.equal(readFix("# train.py:7\n  f(\n-     a,\n+     b,\n  )"), "# train.py:7\nf(\n    b,\n)");
  assert.equal(readFix("a = 1\n  b = -a\n"), "a = 1\n  b = -a");
});

test("the way from the operation to the gradient names a layer where it changes", () => {
  const link = (type, layer, n_nonfinite) => ({ type, name: `gradient_tape/${type}`, layer, is_gradient: true, n_nonfinite });
  const steps = describeOperations([link("SqrtGrad", "norm", 12), link("Mul", "norm", 1536), link("MatMul", "head", null), link("Sum", null, 1)]);
  assert.deepEqual(steps.map(({ place }) => place), ["norm", "", "head", ""]);
  assert.deepEqual(steps.map(({ spread }) => spread), ["12 NaN or Inf", "1,536 NaN or Inf", "", "1 NaN or Inf"]);
  assert.equal(describeEnd(steps), "the gradients");
  assert.equal(describeEnd(steps.map((step) => ({ ...step, isGradient: false }))), "the loss");
});

test("numbers behind a finding: named, without what is unknown, nothing that float32 cannot hold written out", () => {
  const numbers = new Map(listNumbers({
    summary: "said already", n_rows: 900, loss: null, loss_state: "+inf", margin: null, amplification: 3.403e38, largest: 3.4028235e38,
    operation_step: 812, update_ratio: 0.00123, is_over: true, last_losses: [0.5, 3.403e38], replicas: [], loss_is_false: false,
  }));
  assert.deepEqual([...numbers], [
    ["steps looked at", "900"], ["loss", "infinite"], ["steepest slope", "infinite"], ["largest", "beyond float32"],
    ["operations looked at in step", "812"], ["update ÷ weight", "0.00123"], ["is over", "yes"], ["last losses", "0.5, beyond float32"],
  ]);
});

test("a training that a person stopped did not die", () => {
  const verdict = describeVerdict(run({ state: "finished", error: "Stopped by a person: enough" }), []);
  assert.deepEqual([verdict.title, verdict.isStopped], ["Healthy until it was stopped", true]);
  assert.equal(describeVerdict(run({ state: "crashed", error: "ValueError" }), [finding()]).isStopped, false);
});

test("what a person dismissed leaves no verdict behind, and is not called healthy", () => {
  const dismissed = describeVerdict(run(), [], 2);
  assert.deepEqual([dismissed.tone, dismissed.title, dismissed.finding], ["early", "Nothing left to act on so far", null]);
  assert.match(dismissed.why, /^Both findings in 900 steps were dismissed by a person/);
  assert.match(describeVerdict(run({ state: "finished" }), [], 1).why, /^The one finding in 900 steps was dismissed/);
  assert.equal(describeVerdict(run(), [finding()], 2).title, "Gradient became NaN at step 812");
});
