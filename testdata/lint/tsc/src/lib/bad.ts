import { nothing } from "./nowhere";

interface Shape {
  kind: "circle" | "square";
  size: { width: number; height: number };
}

export function area(s: Shape): number {
  const unused = 1;
  if (s.kind === "triangle") {
    return missing;
  }
  return "<é>";
}

export const shape: Shape = { kind: "circle", size: { width: "1" } };
area(1, 2);
