fn main() {
    built::one(1);
}
