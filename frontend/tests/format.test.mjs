import assert from "node:assert/strict";
import test from "node:test";

import {
  formatAgo, formatCount, formatDecade, formatDuration, formatInteger, formatMoment, formatNumber, formatPlural, formatShare,
  formatState, formatStepRange, formatValue, shortenPath,
} from "../gradwatch_frontend/format.js";

const table = (name, call, rows) =>
  test(name, () => {
    for (const [args, expected] of rows) assert.equal(call(...[args].flat()), expected, JSON.stringify(args));
  });

table("numbers have three digits, and exponents only where they help", formatNumber, [
  [0.0612345, "0.0612"], [52.44, "52.4"], [1, "1"], [0, "0"], [-2.5, "−2.5"], [1234.4, "1,234"], [12345.6, "12,346"],
  [123456, "1.23e5"], [0.00099, "9.9e-4"], [-3.2e-12, "−3.2e-12"], [1e38, "1e38"], [null, "—"], [undefined, "—"],
  [Number.NaN, "NaN"], [Infinity, "+Inf"], [-Infinity, "−Inf"],
]);

table("integers are grouped", formatInteger, [
  [0, "0"], [999, "999"], [9999, "9,999"], [12000, "12,000"], [1234567, "1,234,567"], [-12000, "−12,000"], [null, "—"],
]);

table("large counts are short", formatCount, [[41, "41"], [99999, "99,999"], [1250000, "1.25\u2009M"], [3.2e9, "3.2\u2009G"], [null, "—"]]);

table("a share that is not zero never reads zero", formatShare, [
  [0, "0\u2009%"], [0.0001, "< 0.1\u2009%"], [0.006, "0.6\u2009%"], [0.011, "1.1\u2009%"], [0.97, "97\u2009%"], [1, "100\u2009%"], [null, "—"],
]);

table("states are spelled as people write them", formatState, [["nan", "NaN"], ["+inf", "+Inf"], ["-inf", "−Inf"], [null, "—"]]);

table("a range of one step is a step", formatStepRange, [[[7, 8], "step 7"], [[12000, 12008], "steps 12,000 to 12,007"]]);

table("decades read as numbers near one", formatDecade, [[-3, "1e-3"], [-1, "0.1"], [0, "1"], [1, "10"], [2, "100"], [5, "1e5"]]);

table("durations", formatDuration, [[8.24, "8.2 s"], [59, "59 s"], [250, "4 min 10 s"], [11100, "3 h 05 min"], [null, "—"]]);

test("plurals", () => {
  assert.equal(formatPlural(1, "step"), "1 step");
  assert.equal(formatPlural(0, "entry", "entries"), "0 entries");
});

test("how long ago", () => {
  const now = Date.parse("2026-03-21T12:00:00Z");
  assert.equal(formatAgo("2026-03-21T11:59:50Z", now), "just now");
  assert.equal(formatAgo("2026-03-21T11:57:00Z", now), "3 min ago");
  assert.equal(formatAgo("2026-03-21T07:00:00Z", now), "5 h ago");
  assert.equal(formatAgo("2026-03-18T12:00:00Z", now), "3 days ago");
  assert.equal(formatAgo("2025-03-18T12:00:00Z", now), "2025-03-18");
  assert.equal(formatAgo("soon", now), "—");
  assert.equal(formatMoment(null), "—");
});

test("a path keeps its end", () => {
  assert.equal(shortenPath("head/dense/bias", 27), "head/dense/bias");
  assert.equal(shortenPath("encoder/layer_11/attention/self/query/kernel", 27), "…/self/query/kernel");
  assert.equal(shortenPath("a_single_part_that_is_far_too_long_for_a_label", 20), "…oo_long_for_a_label");
  assert.ok(shortenPath("x".repeat(80), 20).length <= 20);
});

table("settings of any sort fit on a line", formatValue, [
  [null, "—"], [true, "yes"], ["adam", "adam"], [0.0003, "3e-4"], [128, "128"],
]);

test("a nested setting is JSON", () => assert.equal(formatValue([1, { a: null }]), '[1,{"a":null}]'));
