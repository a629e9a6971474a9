export function sum(a, b) {
  return a + b
}

export function sign(n) {
  if (n < 0) {
    return -1
  }
  return n > 0 ? 1 : 0
}
