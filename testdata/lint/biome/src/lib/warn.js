export const w = (a) => a == 1;
