describe('math', () => {
  test('adds', () => { expect(1 + 1).toBe(2); });
  test('fails', () => { expect(1).toBe(2); });
  test.skip('skips', () => {});
  test.todo('is still to do');
  test('has \u001b[31mcolour\u001b[0m in its name', () => {});
  describe('deeper', () => { test('adds', () => {}); });
});
test('at the top', () => {});
