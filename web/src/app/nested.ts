/** Fields within columns: their names, and the types that have them. */

/** A line of a nested type: what is before the name of a field, the name, and what is behind it. */
export interface NestedLine {
  readonly indent: string;
  /** The name of a field of a struct, `""` on lines without one. */
  readonly name: string;
  /** The names of the fields from the column inwards: elements of arrays have none, those of maps are `key` and `value`. */
  readonly path: readonly string[];
  readonly rest: string;
}

/** Return a nested type with a line for each of its fields, indented by depth. */
export function nestedLines(type: string): NestedLine[] {
  const lines = new TypeLines();
  for (const character of type) lines.put(character);
  return lines.all;
}

class TypeLines {
  readonly all: { indent: string; name: string; path: readonly string[]; rest: string }[] = [];
  readonly #around: { kind: string; path: readonly string[] }[] = [];
  #parentheses = 0;

  constructor() {
    this.#begin([]);
  }

  put(character: string): void {
    if (character === ">") this.#close();
    if (character === ":") this.#name();
    this.#last.rest += character;
    if (character === "<") this.#open();
    if (character === "," && !this.#parentheses) this.#next();
    this.#parentheses += { "(": 1, ")": -1 }[character] ?? 0;
  }

  get #last() {
    return this.all[this.all.length - 1];
  }

  #begin(path: readonly string[]) {
    this.all.push({ indent: "  ".repeat(this.#around.length), name: "", path, rest: "" });
  }

  #open() {
    const { rest, path } = this.#last;
    const kind = /(struct|array|map)<$/.exec(rest)?.[1] ?? "";
    this.#around.push({ kind, path });
    this.#begin(kind === "map" ? [...path, "key"] : path);
  }

  #close() {
    this.#around.pop();
    this.#begin([]);
  }

  #next() {
    const { kind = "", path = [] } = this.#around[this.#around.length - 1] ?? {};
    this.#begin(kind === "map" ? [...path, "value"] : path);
  }

  /** What stands before the first colon of a struct's line is the name of a field. */
  #name() {
    const outer = this.#around[this.#around.length - 1];
    const line = this.#last;
    if (outer?.kind !== "struct" || line.name || !line.rest) return;
    Object.assign(line, { name: line.rest, path: [...outer.path, line.rest], rest: "" });
  }
}

/** Return the name of a field within a column as Spark writes it. */
export function pathName(path: readonly string[]): string {
  return path.map((part) => (/[.`]|^$/.test(part) ? `\`${part.replaceAll("`", "``")}\`` : part)).join(".");
}
