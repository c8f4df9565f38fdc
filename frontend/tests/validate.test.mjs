import assert from "node:assert/strict";
import test from "node:test";

import * as schema from "../gradwatch_frontend/schema.js";
import { ValidationError, list, nullable, number, numbers, object, oneOf, optional, string } from "../gradwatch_frontend/validate.js";

const refuses = (validator, value, message) =>
  assert.throws(() => validator(value), (error) => error instanceof ValidationError && error.message === message);

test("what was found, where, and what was expected", () => {
  const validator = object({ runs: list(object({ id: string, step: nullable(number) })) });
  refuses(validator, { runs: [{ id: "a", step: "7" }] }, 'value.runs[0].step: found "7", expected a number.');
  refuses(validator, { runs: {} }, "value.runs: found an object, expected a list.");
  refuses(validator, [], "value: found a list of 0, expected an object.");
  refuses(validator, {}, "value.runs: found nothing, expected a list.");
  refuses(oneOf("live", "crashed"), "dead", 'value: found "dead", expected one of live, crashed.');
});

test("a number is finite: JSON knows no other", () => {
  refuses(number, Number.NaN, "value: found null, expected a number.");
  refuses(number, Infinity, "value: found null, expected a number.");
});

test("fields that the page does not know are dropped, absent ones get their default", () => {
  const validator = object({ id: string, tags: optional(list(string), []) });
  assert.deepEqual(validator({ id: "a", future: 1 }), { id: "a", tags: [] });
  assert.deepEqual(validator({ id: "a", tags: null }), { id: "a", tags: [] });
});

test("lists of numbers hold nulls and name the place of what they do not hold", () => {
  assert.deepEqual(numbers([1, null, 2.5]), [1, null, 2.5]);
  refuses(numbers, [1, "NaN"], 'value[1]: found "NaN", expected a number or null.');
});

test("a live message of a type from the future is ignored, a broken one is not", () => {
  assert.equal(schema.liveMessage({ type: "weather", sun: true }), null);
  assert.equal(schema.liveMessage({ type: "constructor" }), null);
  assert.deepEqual(schema.liveMessage({ type: "deleted", run_id: "a" }), { type: "deleted", run_id: "a" });
  assert.throws(() => schema.liveMessage({ type: "deleted" }), ValidationError);
  assert.throws(() => schema.liveMessage("hello"), ValidationError);
});
