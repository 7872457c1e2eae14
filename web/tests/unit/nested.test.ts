import { expect, test } from "vitest";
import { nestedLines, pathName } from "../../src/app/nested";

test("each field of a nested type has the path that names it", () => {
  const lines = nestedLines("array<struct<sku:string,price:decimal(10,2),tags:map<string,struct<a:int>>,b:int>>");
  const named = lines.filter((line) => line.name).map((line) => line.path.join("/"));
  expect(named).toEqual(["sku", "price", "tags", "tags/value/a", "b"]);
  expect(lines.map(({ indent, name, rest }) => indent + name + rest)).toEqual([
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

test("parts with dots and backticks are quoted", () => {
  expect(pathName(["m", "a.b", "c`d", "e"])).toBe("m.`a.b`.`c``d`.e");
});
