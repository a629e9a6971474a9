const {suite, test} = require('uvu');
const assert = require('uvu/assert');
const {sum} = require('../src/sum');

test('adds', () => assert.is(sum(1, 2), 3));
test('is wrong', () => assert.is(sum(1, 2), 4));
test.skip('is left out', () => {});
test.run();

const hooks = suite('hooks', {n: 0});
hooks.before.each((c) => {
  if (++c.n === 2) throw new Error('the hook failed');
});
hooks('first', () => {});
hooks('second', () => {});
hooks('third', (c) => assert.is(c.n, 3));
hooks.run();
