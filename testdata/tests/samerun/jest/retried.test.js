jest.retryTimes(2);
let tries = 0;
test('passes the second time', () => { expect(++tries).toBe(2); });
