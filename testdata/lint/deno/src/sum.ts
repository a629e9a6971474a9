export const sum = (a: number, b: number): number => a + b;
export const wrong: number = "a";
export function unused(x: any) {
  return sum(x, "b");
}
