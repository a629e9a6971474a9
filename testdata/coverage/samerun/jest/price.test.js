const { price } = require('./src/price.js');
const { twice } = require('./src/with space & ünicode.js');

test('a price', () => { expect(price(2, false)).toBe(20); });
test('twice', () => { expect(twice(2)).toBe(4); });
