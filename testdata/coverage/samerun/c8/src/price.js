function price(count, member) {
  if (count < 0) {
    throw new RangeError('negative');
  }
  const full = count * 10;
  return member ? full * 0.9 : full;
}

function never(a = 1, b) {
  switch (a) {
    case 1: return b ?? 'one';
    default: return b || 'more';
  }
}

const anonymous = [1].map((n) => n + 1);

/* istanbul ignore next */
function ignored() { return 0; }

module.exports = { price, never, ignored, anonymous };
