/** Starts the language server for the interpreter that the user works with, and adds the commands. */

import * as vscode from "vscode";
import { LanguageClient, LanguageClientOptions, ServerOptions, State } from "vscode-languageclient/node";

import { commandLine, installation, locate, otherCommand, runs, Start } from "./locate";
import { interpreter, onChange } from "./python";
import { Lens, regionAt } from "./regions";
import { forServer } from "./settings";

const PROBE_MILLISECONDS = 20_000;

class Graphward {
  private client: LanguageClient | undefined;
  private start: Start | undefined;
  private readonly log = vscode.window.createOutputChannel("Graphward", { log: true });
  /** Starts and stops come one after the other, however fast they are asked for. */
  private turn: Promise<void> = Promise.resolve();
  private offered = false;

  restart(): Promise<void> {
    this.turn = this.turn.then(() => this.startAgain()).catch((error) => this.log.error(String(error)));
    return this.turn;
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (client && client.state !== State.Stopped) {
      await client.stop().catch((error) => this.log.warn(String(error)));
    }
  }

  private async startAgain(): Promise<void> {
    await this.stop();
    const settings = vscode.workspace.getConfiguration("graphward");
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    const found = await locate(
      {
        path: settings.get("path", ""),
        interpreter: settings.get("interpreter", ""),
        pythonExtension: await interpreter(folder),
      },
      runs(PROBE_MILLISECONDS),
    );
    if ("missing" in found) {
      this.start = undefined;
      this.log.warn(`Graphward was not found${found.missing ? ` in ${found.missing}` : ""}`);
      if (!this.offered) {
        this.offered = true;
        void this.offer(found.missing);
      }
      return;
    }
    this.start = found.start;
    this.log.info(`starting ${commandLine(found.start, process.platform)}`);
    const server: ServerOptions = { command: found.start.command, args: found.start.args };
    this.client = new LanguageClient("graphward", "Graphward", server, this.options());
    await this.client.start();
  }

  private options(): LanguageClientOptions {
    const settings = () => {
      const configuration = vscode.workspace.getConfiguration("graphward", vscode.window.activeTextEditor?.document);
      return forServer((name) => configuration.get(name), vscode.workspace.isTrusted);
    };
    return {
      documentSelector: [
        { scheme: "file", language: "python" },
        { scheme: "vscode-notebook-cell", language: "python" },
      ],
      initializationOptions: settings(),
      outputChannel: this.log,
      middleware: {
        // The server is told what it knows, not the whole section: paths and traces are this extension's business.
        workspace: { configuration: (params) => params.items.map(() => settings()) },
      },
    };
  }

  private async offer(python: string): Promise<void> {
    const install = "Install";
    const where = python ? ` in ${python}` : "";
    const choices = python && vscode.workspace.isTrusted ? [install, "Open Settings"] : ["Open Settings"];
    const chosen = await vscode.window.showInformationMessage(`Graphward is not installed${where}.`, ...choices);
    if (chosen === install) {
      await this.install();
    } else if (chosen) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "graphward.");
    }
  }

  async install(): Promise<void> {
    const settings = vscode.workspace.getConfiguration("graphward");
    const python = settings.get("interpreter", "") || (await interpreter());
    if (!python) {
      void vscode.window.showErrorMessage("Choose a Python interpreter first (Python: Select Interpreter).");
      return;
    }
    const { command, args } = installation(python);
    const task = new vscode.Task(
      { type: "graphward", task: "install" }, vscode.TaskScope.Workspace, "Install Graphward", "graphward",
      new vscode.ProcessExecution(command, args),
    );
    const execution = await vscode.tasks.executeTask(task);
    const ended = vscode.tasks.onDidEndTaskProcess((event) => {
      if (event.execution === execution) {
        ended.dispose();
        if (event.exitCode === 0) {
          void this.restart();
        }
      }
    });
  }

  /** Runs Graphward's command line in a terminal, in a folder of the workspace. */
  async inTerminal(name: string, args: string[]): Promise<void> {
    if (!this.start) {
      void vscode.window.showErrorMessage("Graphward is not installed; see the command “Install Graphward”.");
      return;
    }
    const folders = vscode.workspace.workspaceFolders ?? [];
    const folder = folders.length > 1 ? await vscode.window.showWorkspaceFolderPick() : folders[0];
    if (folder) {
      const terminal = vscode.window.createTerminal({ name, cwd: folder.uri });
      terminal.show();
      terminal.sendText(commandLine(otherCommand(this.start, args), process.platform));
    }
  }

  async verifyAtCursor(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (!editor || !this.client) {
      return;
    }
    const textDocument = { uri: editor.document.uri.toString() };
    const lenses = (await this.client.sendRequest<Lens[] | null>("textDocument/codeLens", { textDocument })) ?? [];
    const region = regionAt(lenses, editor.selection.active.line);
    if (!region) {
      void vscode.window.showInformationMessage("There is no construct or jit function above the cursor.");
      return;
    }
    await vscode.commands.executeCommand("graphward.verify", ...region);
  }

  async explainSelection(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const selected = editor?.document.getText(editor.selection);
    const text = selected?.trim() ? selected : await vscode.env.clipboard.readText();
    if (!this.client || !text.trim()) {
      void vscode.window.showInformationMessage("Select or copy the text of a MindSpore error first.");
      return;
    }
    await vscode.commands.executeCommand("graphward.explainError", text);
  }
}

let graphward: Graphward | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const mine = (graphward = new Graphward());
  const command = (name: string, run: () => Promise<void>) =>
    context.subscriptions.push(vscode.commands.registerCommand(`graphward.${name}`, run));
  command("restart", () => mine.restart());
  command("install", () => mine.install());
  command("migrate", () => mine.inTerminal("Graphward migrate", ["migrate", "."]));
  command("review", () => mine.inTerminal("Graphward review", ["review", "."]));
  command("verifyAtCursor", () => mine.verifyAtCursor());
  command("explainSelection", () => mine.explainSelection());
  context.subscriptions.push(
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("graphward.path") || event.affectsConfiguration("graphward.interpreter")) {
        void mine.restart();
      }
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void mine.restart()),
  );
  const listening = await onChange(() => void mine.restart());
  if (listening) {
    context.subscriptions.push(listening);
  }
  await mine.restart();
}

export function deactivate(): Promise<void> | undefined {
  return graphward?.stop();
}
