import { describe, expect, test } from 'vitest';

describe('math', () => {
  test('adds', () => { expect(1 + 1).toBe(2); });
  test('fails', () => { expect(1).toBe(2); });
  test.skip('skips', () => {});
  test('skips while it runs', (context) => { context.skip('needs a database'); });
  test.todo('is still to do');
  test.fails('fails as it should', () => { throw new Error('known bug'); });
  test.fails('passes and should not', () => {});
  test.each([[1, 1], [2, 3]])('%i equals %i', (a, b) => { expect(a).toBe(b); });
  test('compares <a> & "b" # with a hash', () => {});
  test('grüßt die Welt 世界', () => {});
  describe('deeper', () => { test('adds', () => {}); });
  describe.skip('skipped as a whole', () => { test('never', () => {}); });
});
let tries = 0;
test('passes the second time', { retry: 2 }, () => { expect(++tries).toBe(2); });
test('fails softly twice', () => { expect.soft(1).toBe(2); expect.soft('<a>').toBe('b'); });
test('is', () => { console.log('a line to standard output'); });
test('is', () => { throw new TypeError('the same name <again> & again'); });
