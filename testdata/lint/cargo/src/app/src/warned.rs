#[deprecated(note = "use new")]
pub fn old() -> i32 {
    return 1;
}

pub fn caller(v: &Vec<i32>) -> i32 {
    let unused = 1;
    let mut x = old();
    if v.len() == 0 {
        x
    } else {
        x + 0
    }
}

macro_rules! compare {
    ($a:expr) => {
        if $a == true {
            println!("yes");
        }
    };
}

pub fn expands(a: bool) {
    compare!(a);
    #[allow(clippy::all)]
    let _b = a == true;
}
