/** Which graph region the cursor is in, by what the language server says of regions. */

/** A region's code lens as the server sends it: the line of its name, and the address and name that it is known by. */
export interface Lens {
  range: { start: { line: number } };
  command?: { command: string; arguments?: unknown[] };
}

/** The arguments of the proof for the last region that starts at or above a line; none when there is no such region. */
export function regionAt(lenses: Lens[], line: number): [string, string] | undefined {
  let best: Lens | undefined;
  for (const lens of lenses) {
    const here = lens.range.start.line;
    if (lens.command?.command === "graphward.verify" && here <= line && (!best || here >= best.range.start.line)) {
      best = lens;
    }
  }
  const [uri, name] = best?.command?.arguments ?? [];
  return typeof uri === "string" && typeof name === "string" ? [uri, name] : undefined;
}
