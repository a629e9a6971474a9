@test "adds" { [ $((1 + 1)) -eq 2 ]; }
@test "fails" { echo "before it fails"; [ 1 -eq 2 ]; }
@test "skips" { skip "needs a database"; }
@test "skips without a reason" { skip; }
@test "compares <a> & \"b\" # with a hash" { true; }
@test "grüßt die Welt 世界" { echo "# to the terminal" >&3; }
@test "is not found" { nowhere_to_be_found; }
