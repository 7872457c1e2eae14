import { expect, test } from "vitest";
import { nestedLines, pathName } from "../../src/app/nested";

test("each field of a nested type has the path that names it", () => {
  const lines = nestedLines("array<struct<sku:string,price:decimal(10,2),tags:map<string,struct<a:int>>,b:int>>");
  const named = lines.filter((line) => line.name !== null).map((line) => line.path.join("/"));
  expect(named).toEqual(["sku", "price", "tags", "tags/value/a", "b"]);
  expect(lines.map(({ indent, name, rest }) => indent + (name ?? "") + rest)).toEqual([
    "array<",
    "  struct<",
    "    sku:string,",
    "    price:decimal(10,2),",
    "    tags:map<",
    "      string,",
    "      struct<",
    "        a:int",
    "      >",
    "    >,",
    "    b:int",
    "  >",
    ">",
  ]);
});

test("names of any letters are names, and what is no type is a line", () => {
  const names = ["<img src=x>", "\u202egpj", "", "a.b", "`", "__proto__"];
  const lines = nestedLines(`struct<${names.map((name) => `${name}:int`).join(",")}>`);
  expect(lines.flatMap(({ name }) => (name === null ? [] : [name]))).toEqual(names);
  expect(nestedLines("struct<no name>").map(({ name, rest }) => [name, rest])).toEqual([
    [null, "struct<"],
    [null, "no name"],
    [null, ">"],
  ]);
  expect(nestedLines(`${"array<".repeat(9999)}int${">".repeat(9999)}`)).toHaveLength(101);
  expect(nestedLines("")).toEqual([{ indent: "", name: null, path: [], rest: "" }]);
});

test("parts with dots and backticks are quoted", () => {
  expect(pathName(["m", "a.b", "c`d", "e"])).toBe("m.`a.b`.`c``d`.e");
});
