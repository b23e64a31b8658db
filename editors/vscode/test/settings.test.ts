import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { forServer } from "../src/settings";

const manifest = JSON.parse(readFileSync("package.json", "utf8"));
const properties: Record<string, { default: unknown }> = manifest.contributes.configuration.properties;

test("what is not set is left to pyproject.toml", () => {
  const sent = forServer((name) => properties[`graphward.${name}`].default, true);
  assert.deepEqual(sent, { trusted: true, codeLens: true });
});

test("what is set is sent, and an empty selection is one", () => {
  const values: Record<string, unknown> = { select: [], ignore: ["GW1"], targetVersion: "2.9", codeLens: false };
  const sent = forServer((name) => values[name], false);
  assert.deepEqual(sent, { trusted: false, codeLens: false, select: [], ignore: ["GW1"], targetVersion: "2.9" });
});

test("every command of the manifest is registered", () => {
  const source = readFileSync("src/extension.ts", "utf8");
  for (const { command } of manifest.contributes.commands) {
    assert.ok(source.includes(`command("${command.replace("graphward.", "")}"`), command);
  }
});
