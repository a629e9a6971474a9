const t = require('tap');

t.equal(1 + 1, 2, 'adds at the top');
t.test('math', async (t) => {
  t.equal(1 + 1, 2, 'adds <and> "more" # with a hash');
  t.equal(1, 2, 'fails');
  t.test('deeper', async (t) => { t.pass('grüßt die Welt 世界'); });
});
t.test('skips', { skip: 'needs a database' }, async () => {});
t.test('is still to do', { todo: true }, async () => {});
t.test('one is skipped', async (t) => { t.ok(false, 'later', { skip: true }); t.ok(false, 'not yet', { todo: 'soon' }); });
t.test('throws', async () => { throw new Error('broken'); });
t.test('bails out', async (t) => { t.bailout('no database'); });
t.test('never', async (t) => { t.pass('never'); });
