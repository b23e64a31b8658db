import assert from "node:assert/strict";
import test from "node:test";

import { Lens, regionAt } from "../src/regions";

function lens(line: number, command: string, name: string): Lens {
  return { range: { start: { line } }, command: { command, arguments: ["file:///net.py", name] } };
}

const lenses = [
  lens(4, "graphward.showState", "A.construct"),
  lens(4, "graphward.verify", "A.construct"),
  lens(20, "graphward.verify", "B.construct"),
  lens(30, "graphward.showState", "inner"),
];

test("the region is the last one that starts at or above the line", () => {
  assert.equal(regionAt(lenses, 3), undefined);
  assert.deepEqual(regionAt(lenses, 4), ["file:///net.py", "A.construct"]);
  assert.deepEqual(regionAt(lenses, 19), ["file:///net.py", "A.construct"]);
  assert.deepEqual(regionAt([...lenses].reverse(), 50), ["file:///net.py", "B.construct"]);
});

test("what cannot be verified is no region", () => {
  assert.equal(regionAt([lens(1, "graphward.showState", "x")], 5), undefined);
  assert.equal(regionAt([{ range: { start: { line: 1 } } }], 5), undefined);
});
