/** What the language server is told of the editor's settings: only what is set, under the names that it knows. */

const TEXTS = ["targetVersion", "opStyle", "docsUrl", "python"] as const;

/** `get` gives a setting of the section `graphward`. */
export function forServer(get: (name: string) => unknown, trusted: boolean): Record<string, unknown> {
  const settings: Record<string, unknown> = { trusted, codeLens: get("codeLens") !== false };
  for (const name of ["select", "ignore"]) {
    const value = get(name);
    if (Array.isArray(value) && (name === "select" || value.length > 0)) {
      settings[name] = value;
    }
  }
  for (const name of TEXTS) {
    const value = get(name);
    if (typeof value === "string" && value !== "") {
      settings[name] = value;
    }
  }
  return settings;
}
