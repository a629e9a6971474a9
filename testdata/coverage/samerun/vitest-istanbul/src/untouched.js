export default function untouched(x) { return x ? 1 : 2; }
