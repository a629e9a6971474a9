//! A sample.

/// Doubles.
///
/// ```
/// assert_eq!(sample::twice(2), 4);
/// ```
///
/// ```should_panic
/// assert_eq!(sample::twice(2), 5);
/// ```
///
/// ```no_run
/// loop {}
/// ```
///
/// ```ignore
/// nothing at all
/// ```
///
/// ```
/// assert_eq!(sample::twice(2), 6);
/// ```
pub fn twice(n: i32) -> i32 {
    n * 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes() {
        println!("a line to standard output");
        assert_eq!(twice(2), 4);
    }

    #[test]
    fn fails() {
        println!("before it fails");
        assert_eq!(twice(2), 5, "two and two <is> & \"five\"");
    }

    #[test]
    #[ignore = "needs a database"]
    fn skips() {}

    #[test]
    #[ignore]
    fn skips_without_a_reason() {}

    #[test]
    #[should_panic(expected = "as it should")]
    fn panics_as_it_should() {
        panic!("as it should");
    }

    #[test]
    #[should_panic]
    fn should_panic_and_does_not() {}

    #[test]
    #[should_panic(expected = "this")]
    fn panics_with_another_message() {
        panic!("that");
    }

    #[test]
    fn returns_an_error() -> Result<(), String> {
        Err("broken".to_string())
    }

    #[test]
    fn grüßt_die_welt() {}

    mod deeper {
        #[test]
        fn passes() {}
    }
}
