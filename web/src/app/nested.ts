/** Fields within columns: their names, and the types that have them. */

/** A line of a nested type: what is before the name of a field, the name, and what is behind it. */
export interface NestedLine {
  readonly indent: string;
  /** The name of a field of a struct, null on lines without one. */
  readonly name: string | null;
  /** The names of the fields from the column inwards: elements of arrays have none, those of maps are `key` and `value`. */
  readonly path: readonly string[];
  readonly rest: string;
}

const DEEPEST = 50;

/**
 * Return a nested type with a line for each of its fields, indented by depth.
 *
 * Names with brackets are read as the server reads them: Spark does not quote names in types.
 */
export function nestedLines(type: string): NestedLine[] {
  return linesOf(type, "", 0, null, []);
}

function linesOf(type: string, end: string, depth: number, name: string | null, path: readonly string[]): NestedLine[] {
  const indent = "  ".repeat(depth);
  const [, kind, inner] = (depth < DEEPEST && /^(struct|array|map)<(.*)>$/s.exec(type)) || [];
  const before = name === null ? "" : ":";
  if (kind === undefined) return [{ indent, name, path, rest: before + type + end }];
  const parts = partsOf(inner);
  const fields = parts.flatMap((part, place) => {
    const comma = place < parts.length - 1 ? "," : "";
    if (kind !== "struct") {
      const own = kind === "map" ? [...path, place ? "value" : "key"] : path;
      return linesOf(part, comma, depth + 1, null, own);
    }
    const colon = part.indexOf(":");
    const field = part.slice(0, Math.max(0, colon));
    return linesOf(part.slice(colon + 1), comma, depth + 1, colon < 0 ? null : field, [...path, field]);
  });
  return [
    { indent, name, path, rest: `${before}${kind}<` },
    ...fields,
    { indent, name: null, path: [], rest: `>${end}` },
  ];
}

/** Return the parts of a text between those commas that no bracket encloses. */
function partsOf(text: string): string[] {
  const parts = [""];
  let depth = 0;
  for (const character of text) {
    depth += { "<": 1, "(": 1, ">": -1, ")": -1 }[character] ?? 0;
    if (character === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += character;
  }
  return parts;
}

/** Return the name of a field within a column as Spark writes it. */
export function pathName(path: readonly string[]): string {
  return path.map((part) => (/[.`]|^$/.test(part) ? `\`${part.replaceAll("`", "``")}\`` : part)).join(".");
}
