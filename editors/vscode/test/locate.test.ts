import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import test from "node:test";

import { commandLine, HAS_SERVER, installation, locate, module, otherCommand, runs } from "../src/locate";

const nothing = { path: "", interpreter: "", pythonExtension: "" };

function has(...programs: string[]) {
  const asked: string[] = [];
  const probe = async (command: string, args: string[]) => {
    asked.push([command, ...args].join(" "));
    return programs.includes(command);
  };
  return { asked, probe };
}

test("an executable in the settings is taken as it is", async () => {
  const { asked, probe } = has();
  const found = await locate({ ...nothing, path: "/opt/graphward", interpreter: "/opt/python" }, probe);
  assert.deepEqual(found, { start: { command: "/opt/graphward", args: ["lsp"] } });
  assert.deepEqual(asked, []);
});

test("an interpreter is asked whether it has the language server", async () => {
  const { asked, probe } = has("/env/python");
  const found = await locate({ ...nothing, pythonExtension: "/env/python" }, probe);
  assert.deepEqual(found, { start: module("/env/python", ["lsp"]) });
  assert.deepEqual(asked, [`/env/python -c ${HAS_SERVER}`]);
});

test("the interpreter in the settings comes before that of the Python extension", async () => {
  const { probe } = has("/mine", "/theirs");
  const found = await locate({ ...nothing, interpreter: "/mine", pythonExtension: "/theirs" }, probe);
  assert.deepEqual(found, { start: module("/mine", ["lsp"]) });
});

test("without Graphward in the chosen environment, the one on PATH serves", async () => {
  const { probe } = has("graphward");
  const found = await locate({ ...nothing, pythonExtension: "/env/python" }, probe);
  assert.deepEqual(found, { start: { command: "graphward", args: ["lsp"] } });
});

test("an interpreter that the user named is never passed over", async () => {
  const { probe } = has("graphward");
  assert.deepEqual(await locate({ ...nothing, interpreter: "/mine" }, probe), { missing: "/mine" });
});

test("nothing found says where to install", async () => {
  const { probe } = has();
  assert.deepEqual(await locate({ ...nothing, pythonExtension: "/env/python" }, probe), { missing: "/env/python" });
  assert.deepEqual(await locate(nothing, probe), { missing: "" });
});

test("other commands run under the server's Graphward", () => {
  assert.deepEqual(otherCommand({ command: "graphward", args: ["lsp"] }, ["migrate", "."]), {
    command: "graphward",
    args: ["migrate", "."],
  });
  const start = otherCommand(module("/env/python", ["lsp"]), ["review", "."]);
  assert.deepEqual(start.args.slice(-2), ["review", "."]);
  assert.equal(start.args.includes("lsp"), false);
});

test("a terminal gets back the words that were meant", () => {
  const words = ["a b", "it's", 'say "x"', "$HOME", "a;b", "plain", "graphward[lsp]"];
  const line = commandLine({ command: process.execPath, args: ["-p", "JSON.stringify(process.argv.slice(1))", ...words] }, "linux");
  assert.deepEqual(JSON.parse(execFileSync("sh", ["-c", line], { encoding: "utf8" })), words);
  assert.equal(commandLine({ command: "C:\\My Python\\python.exe", args: ["-m", "x"] }, "win32"), "& 'C:\\My Python\\python.exe' -m x");
  assert.equal(commandLine(installation("python"), "win32"), "python -m pip install --upgrade 'graphward[lsp]'");
});

test("a program that is not there, fails or hangs does not run", async () => {
  const probe = runs(2_000);
  assert.equal(await probe(process.execPath, ["-e", "process.exit(0)"]), true);
  assert.equal(await probe(process.execPath, ["-e", "process.exit(1)"]), false);
  assert.equal(await probe(process.execPath, ["-e", "setInterval(() => {}, 1000)"]), false);
  assert.equal(await probe("/no/such/program", []), false);
});
