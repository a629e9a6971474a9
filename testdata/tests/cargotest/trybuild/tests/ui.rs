#[test]
fn ui() {
    let t = trybuild::TestCases::new();
    t.compile_fail("tests/ui/fails.rs");
    t.pass("tests/ui/passes.rs");
}

#[test]
fn adds() {
    assert_eq!(built::one(1), 2);
}
