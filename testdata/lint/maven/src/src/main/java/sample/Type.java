package sample;

public class Type {
    int f() {
        String s = 1;
        missing();
    }
}
