setup_file() { echo "no database"; return 1; }
@test "first" { true; }
@test "second" { true; }
