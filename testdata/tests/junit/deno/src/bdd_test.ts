import { describe, it } from "node:test";
import { sum } from "./sum.ts";
describe("outer", () => { it("works", () => { if (sum(1,1)!==2) throw new Error("x"); }); it("fails", () => { throw new Error("y"); }); });
