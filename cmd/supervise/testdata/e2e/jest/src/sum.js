exports.sum = (a, b) => a + b

exports.sign = (n) => {
  if (n < 0) {
    return -1
  }
  return n > 0 ? 1 : 0
}
