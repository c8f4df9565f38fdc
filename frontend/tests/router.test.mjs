import assert from "node:assert/strict";
import test from "node:test";

import { ApiError, buildQuery } from "../gradwatch_frontend/api.js";
import { safePath } from "../gradwatch_frontend/pages/login.js";
import { comparePath, parseRoute, runPath } from "../gradwatch_frontend/router.js";

test("addresses of the contract", () => {
  assert.equal(parseRoute("/", "?search=vit").query.get("search"), "vit");
  assert.equal(parseRoute("/", "").page, "runs");
  assert.deepEqual([parseRoute("/runs/a%2Fb", "").page, parseRoute("/runs/a%2Fb", "").id], ["run", "a/b"]);
  assert.deepEqual(parseRoute("/compare", "?run=a&run=b").query.getAll("run"), ["a", "b"]);
  assert.equal(parseRoute("/alerts", "").page, "alerts");
  assert.equal(parseRoute("/login", "").page, "login");
  assert.equal(parseRoute("/nowhere", "").page, "unknown");
  assert.equal(parseRoute("/runs/%E0%A4%A", "").page, "unknown");
});

test("ids go into addresses and come out again", () => {
  const id = "2026/03 run?&#%";
  assert.equal(parseRoute(runPath(id), "").id, id);
  assert.deepEqual(new URL(comparePath([id, "b"]), "http://x").searchParams.getAll("run"), [id, "b"]);
});

test("a query leaves out what is empty, not what is zero", () => {
  assert.equal(buildQuery({ from: 0, to: null, search: "", project: undefined, run: ["a", "b"] }), "?from=0&run=a&run=b");
  assert.equal(buildQuery({}), "");
});

test("after signing in only a path of this server is gone to", () => {
  assert.equal(safePath("/runs/a?kind=weight"), "/runs/a?kind=weight");
  for (const bad of [null, "", "//evil.example", "/\\evil.example", "https://evil.example", "javascript:alert(1)"]) {
    assert.equal(safePath(bad), "/");
  }
});

test("an error says what to do", () => {
  assert.match(new ApiError("no_answer", "x", 0).advice, /gradwatch serve/);
  assert.match(new ApiError("unauthorized", "x", 401).advice, /GRADWATCH_TOKEN/);
  assert.match(new ApiError("unknown_run", "x", 404).advice, /list of runs/);
});
