package calc;

public class Calc {
    public static int add(int a, int b) {
        return a + b;
    }

    public static int sign(int n) {
        if (n < 0) {
            return -1;
        }
        return n > 0 ? 1 : 0;
    }
}
