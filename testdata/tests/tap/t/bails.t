use Test::More;
ok 1, 'one';
BAIL_OUT('no more');
