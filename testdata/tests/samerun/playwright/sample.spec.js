const { test, expect } = require('@playwright/test');

test.describe('math', () => {
  test('adds', () => { expect(1 + 1).toBe(2); });
  test('fails', () => { expect(1, 'one is two').toBe(2); });
  test.skip('skips', () => {});
  test('skips while it runs', () => { test.skip(true, 'needs a database'); });
  test.fixme('is to be fixed', () => {});
  test('fails as it should', () => { test.fail(true, 'known bug'); expect(1).toBe(2); });
  test('passes and should not', () => { test.fail(); });
  test('fails softly twice', () => { expect.soft(1).toBe(2); expect.soft('<a>').toBe('b'); });
  for (const word of ['a', 'b c']) test(`takes ${word}`, () => { expect(word).not.toBe('b c'); });
  test('compares <a> & "b"', { tag: '@fast' }, () => {});
  test('grüßt die Welt 世界', () => {});
  test.describe('deeper', () => { test('adds', () => {}); });
});
test('passes the second time', async ({}, info) => { expect(info.retry).toBe(1); });
test('is too slow', async () => { test.setTimeout(50); await new Promise(() => {}); });
test('prints', () => { console.log('a line to standard output'); console.error('a line to standard error'); });
