import test from 'ava';

test('adds', (t) => { t.is(1 + 1, 2); });
test('fails', (t) => { t.is(1, 2, 'one is two'); });
test.skip('skips', (t) => { t.pass(); });
test.todo('is still to do');
test.failing('fails as it should', (t) => { t.fail('known bug'); });
test.failing('passes and should not', (t) => { t.pass(); });
test('compares <a> & "b" # with a hash', (t) => { t.log('a line'); t.pass(); });
test('grüßt die Welt 世界', (t) => { t.pass(); });
test('has no assertion', () => {});
