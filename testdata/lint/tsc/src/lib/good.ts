export const good: number = 1;
