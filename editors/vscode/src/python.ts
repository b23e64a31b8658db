/** The interpreter that the Python extension has chosen. */

import * as vscode from "vscode";

/** The part of the Python extension's API that is used. */
interface PythonApi {
  environments?: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    resolveEnvironment(path: { path: string }): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
    onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
  };
}

async function api(): Promise<PythonApi | undefined> {
  const extension = vscode.extensions.getExtension<PythonApi>("ms-python.python");
  return extension && (await Promise.resolve(extension.activate()).catch(() => undefined));
}

/** Its path; empty without the Python extension, and while nothing is chosen. */
export async function interpreter(resource?: vscode.Uri): Promise<string> {
  const environments = (await api())?.environments;
  if (!environments) {
    return "";
  }
  const chosen = environments.getActiveEnvironmentPath(resource);
  const resolved = await environments.resolveEnvironment(chosen).catch(() => undefined);
  return resolved?.executable.uri?.fsPath ?? "";
}

/** Calls back when another interpreter is chosen. */
export async function onChange(callback: () => void): Promise<vscode.Disposable | undefined> {
  return (await api())?.environments?.onDidChangeActiveEnvironmentPath(() => callback());
}
