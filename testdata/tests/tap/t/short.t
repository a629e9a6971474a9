use Test::More tests => 3;
ok 1, 'one';
die "broken\n";
