const { price, never } = require('./src/price.js');
price(1, true);
never(2);
