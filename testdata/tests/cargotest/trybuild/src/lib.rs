/// Adds one.
pub fn one(n: u32) -> u32 {
    n + 1
}
