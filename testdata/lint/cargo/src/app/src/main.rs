mod warned;

macro_rules! compare {
    ($a:expr) => {
        if $a == true {
            let unused_in_macro = $a;
        }
    };
}

#[derive(Debug, Nosuch)]
struct Point {
    x: i32,
}

fn main() {
    let unused = "<é>";
    let n: i32 = "text";
    compare!(missing);
    println!("{} {}", 1);
    let p = Point { x: 1 };
    drop(p);
    println!("{:?}", p);
}
