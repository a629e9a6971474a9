import {suite} from 'uvu';

const only = suite('only');
only('is left out', () => {});
only.only('runs', () => {});
only.run();
