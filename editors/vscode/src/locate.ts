/** Finding Graphward. Nothing here knows of the editor, so that it can be tested without one. */

import { execFile } from "node:child_process";
import * as path from "node:path";

/** How the language server is started. */
export interface Start {
  command: string;
  args: string[];
}

/** What the settings and the Python extension say. Empty strings say nothing. */
export interface Sources {
  path: string;
  interpreter: string;
  pythonExtension: string;
}

/** Whether a program exists and, run with these arguments, ends well. */
export type Probe = (command: string, args: string[]) => Promise<boolean>;

export type Found = { start: Start } | { missing: string };

/** Exit status 0 of this says that an interpreter has Graphward with its language server. */
export const HAS_SERVER = "import graphward.lsp, pygls, lsprotocol";

/**
 * The first of: the executable in the settings, the interpreter in the settings, the one that the Python extension has
 * chosen, `graphward` on PATH. An interpreter without Graphward is passed over only where the user did not name it; then
 * `missing` is the interpreter to install it into.
 */
export async function locate(sources: Sources, probe: Probe): Promise<Found> {
  if (sources.path) {
    return { start: { command: sources.path, args: ["lsp"] } };
  }
  const interpreter = sources.interpreter || sources.pythonExtension;
  if (interpreter && (await probe(interpreter, ["-c", HAS_SERVER]))) {
    return { start: module(interpreter, ["lsp"]) };
  }
  if (!sources.interpreter && (await probe("graphward", ["lsp", "--help"]))) {
    return { start: { command: "graphward", args: ["lsp"] } };
  }
  return { missing: interpreter };
}

/** Graphward's command line under an interpreter; isolated, so that no file of the user's is taken for a module. */
export function module(interpreter: string, args: string[]): Start {
  return { command: interpreter, args: ["-I", "-c", "from graphward.cli.start import main; main()", ...args] };
}

/** The same Graphward as the language server's, with other arguments. */
export function otherCommand(server: Start, args: string[]): Start {
  return { command: server.command, args: [...server.args.slice(0, -1), ...args] };
}

/** Pip's command line that installs Graphward with its language server. */
export function installation(interpreter: string): Start {
  return { command: interpreter, args: ["-m", "pip", "install", "--upgrade", "graphward[lsp]"] };
}

/** A command line for a terminal of the given platform. */
export function commandLine(start: Start, platform: NodeJS.Platform): string {
  const quote = platform === "win32" ? quotedForPowerShell : quotedForShell;
  const words = [start.command, ...start.args].map(quote);
  // PowerShell takes a quoted word at the start for a text, not for a command.
  return platform === "win32" && words[0].startsWith("'") ? `& ${words.join(" ")}` : words.join(" ");
}

export function quotedForShell(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

export function quotedForPowerShell(word: string): string {
  return /^[\w@%+=:./\\-]+$/.test(word) ? word : `'${word.replaceAll("'", "''")}'`;
}

/** Runs a program and says whether it ended well; one that takes longer than `timeout` milliseconds did not. */
export function runs(timeout: number): Probe {
  return (command, args) =>
    new Promise((resolve) => {
      const options = { timeout, windowsHide: true, cwd: path.parse(process.cwd()).root };
      execFile(command, args, options, (error) => resolve(error === null));
    });
}
