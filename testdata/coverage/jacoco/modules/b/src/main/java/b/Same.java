package b;

public class Same {
    public static int twice(int n) {
        return n > 0 ? n * 2 : 0;
    }
}
