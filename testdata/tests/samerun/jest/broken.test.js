require('./nowhere.js');
test('never', () => {});
