import { sum } from "./sum.ts";
Deno.test("adds 1+1", () => { if (sum(1, 1) !== 2) throw new Error("no"); });
Deno.test("steps", async (t) => {
  await t.step("first", () => {});
  await t.step("second fails", () => { throw new Error("boom"); });
  await t.step("third", async (t) => { await t.step("inner", () => {}); });
});
Deno.test({ name: "ignored", ignore: true, fn() {} });
Deno.test("a (b) [c]/d", () => {});
