/** Adds.
 * ```ts
 * import { sum } from "./sum.ts";
 * if (sum(1, 2) !== 3) throw new Error("doc");
 * ```
 */
export const sum = (a: number, b: number): number => a + b;
export const loose = (x: any) => x;
