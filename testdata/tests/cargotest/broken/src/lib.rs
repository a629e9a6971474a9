#[test]
fn never() {
    let n: i32 = "a";
}
