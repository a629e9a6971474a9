#[test]
fn passes() {}

#[test]
#[ignore = "ends the process"]
fn aborts() {
    std::process::abort();
}
