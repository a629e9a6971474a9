const test = require('tape');

test('math adds', (t) => { t.equal(1 + 1, 2); t.ok(true, 'and is <right> # with a hash'); t.end(); });
test('math fails', (t) => { t.equal(1, 2, 'one is two'); t.end(); });
test.skip('skips', (t) => { t.fail(); t.end(); });
test('still to do', { todo: true }, (t) => { t.fail('not yet'); t.end(); });
test('one assertion is skipped', (t) => { t.ok(false, 'needs a database', { skip: true }); t.ok(false, 'not yet', { todo: 'soon' }); t.end(); });
test('grüßt die Welt 世界', (t) => { t.comment('a comment'); t.pass('ja'); t.end(); });
test('outer', (t) => { t.test('inner', (u) => { u.pass('deep'); u.fail('deep too'); u.end(); }); t.end(); });
test('plans too much', (t) => { t.plan(2); t.pass('one'); setTimeout(() => t.end(), 1); });
