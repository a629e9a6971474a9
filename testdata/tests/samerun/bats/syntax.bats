@test "never" { if; }
