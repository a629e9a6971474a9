use Test::More skip_all => 'needs a database';
