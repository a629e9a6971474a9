import { describe, expect, test } from "bun:test";
import { sum } from "./src/sum";
describe("sum > of", () => {
  test("adds 1+1", () => expect(sum(1, 1)).toBe(2));
  describe("inner", () => { test("fails", () => expect(sum(1, 1)).toBe(3)); });
  test.skip("skipped", () => {});
  test.todo("todo");
});
test("adds 1+1", () => expect(sum(1, 1)).toBe(2));
test.each([[1, 2, 3], [2, 2, 4]])("adds %d and %d", (a, b, c) => expect(sum(a, b)).toBe(c));
