describe('math', () => {
  test('adds', () => { expect(1 + 1).toBe(2); });
  test('fails', () => { expect(1).toBe(2); });
  test.skip('skips', () => {});
  test.todo('is still to do');
  test.failing('fails as it should', () => { throw new Error('known bug'); });
  test.failing('passes and should not', () => {});
  test.each([[1, 1], [2, 3]])('%i equals %i', (a, b) => { expect(a).toBe(b); });
  test('compares <a> & "b"', () => {});
  test('grüßt die Welt 世界', () => {});
  describe('deeper', () => { test('adds', () => {}); });
});
test('at the top', () => { console.log('a line to standard output'); });
test('is', () => {});
test('is', () => { throw new TypeError('the same name <again> & again'); });
