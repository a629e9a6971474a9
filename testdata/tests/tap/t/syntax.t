use Test::More;
ok 1
ok 2;
