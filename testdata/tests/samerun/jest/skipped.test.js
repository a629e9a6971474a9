describe.skip('all of it', () => {
  test('one', () => {});
  test('two', () => {});
});
