/// Adds.
///
/// ```
/// assert_eq!(calc::add(1, 2), 3);
/// ```
pub fn add(a: i32, b: i32) -> i32 {
    return a + b;
}

pub fn sign(n: i32) -> i32 {
    if n < 0 {
        -1
    } else {
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds() {
        assert_eq!(add(1, 2), 3);
    }

    #[test]
    fn of_zero() {
        assert_eq!(sign(0), 0);
    }

    #[test]
    #[ignore = "later"]
    fn later() {}
}
