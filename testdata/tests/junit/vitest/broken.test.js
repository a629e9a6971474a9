import './nowhere.js';
test('never', () => {});
