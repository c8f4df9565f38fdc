import assert from "node:assert/strict";
import test from "node:test";

import { MOST_TRACKS, countTracks, findFinding, placeFindings } from "../gradwatch_frontend/charts/timeline.js";

const finding = (id, first, last) => ({ id, title: id, first, last, tone: "warning" });
const tracks = (findings, range = [0, 1000]) => Object.fromEntries(placeFindings(findings, range, 1000).map(({ id, track }) => [id, track]));

test("findings that overlap stand in tracks of their own, the leading one topmost", () => {
  assert.deepEqual(tracks([finding("a", 500, 900), finding("b", 100, 600), finding("c", 10, 80), finding("d", 700, null)]), { a: 0, b: 1, c: 0, d: 1 });
});

test("marks need room, however short a finding", () => {
  assert.deepEqual(tracks([finding("a", 500, 500), finding("b", 504, 504), finding("c", 540, 540)]), { a: 0, b: 1, c: 0 });
});

test("there are never more than so many tracks", () => {
  const placed = placeFindings(new Array(20).fill(null).map((_, i) => finding(String(i), i, 900)), [0, 1000], 1000);
  assert.equal(countTracks(placed), MOST_TRACKS);
  assert.equal(countTracks([]), 0);
});

test("what lies outside of the range is not placed; what lasts on reaches its end", () => {
  const placed = placeFindings([finding("before", 0, 90), finding("into", 50, 150), finding("on", 180, null), finding("after", 200, 300)], [100, 200], 100);
  assert.deepEqual(placed.map(({ id, end }) => [id, end]), [["into", 151], ["on", 200]]);
});

test("the pointer means the nearest mark of its track", () => {
  const placed = placeFindings([finding("long", 100, 400), finding("next", 420, 430)], [0, 500], 500);
  assert.equal(findFinding(placed, 405, 0, 1)?.id, "long");
  assert.equal(findFinding(placed, 418, 0, 1)?.id, "next");
  assert.equal(findFinding(placed, 250, 0, 1)?.id, "long");
  assert.equal(findFinding(placed, 50, 0, 1), null);
  assert.equal(findFinding(placed, 250, 1, 1), null);
});
