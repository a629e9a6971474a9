require('./nested.js');
