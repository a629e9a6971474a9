use strict; use warnings; use utf8;
use Test::More tests => 9;
binmode Test::More->builder->$_, ':utf8' for qw(output failure_output todo_output);
ok 1, 'adds';
is 1, 2, 'fails';
SKIP: { skip 'needs a database', 2; }
TODO: { local $TODO = 'soon'; ok 0, 'is still to do'; ok 1, 'is done already'; }
ok 1;
ok 1, 'compares <a> & "b" # with a hash';
subtest 'grüßt' => sub { plan tests => 2; ok 1, 'deeper'; ok 0, 'deeper and fails'; };
