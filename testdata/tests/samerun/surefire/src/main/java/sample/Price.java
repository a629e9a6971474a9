package sample;

public class Price {
    private final int count;

    public Price(int count) {
        if (count < 0) {
            throw new IllegalArgumentException("negative");
        }
        this.count = count;
    }

    public int of(boolean member, boolean sale) {
        int full = count * 10;
        return member && sale ? full / 2 : full;
    }

    public Runnable never() {
        return () -> System.out.println("never");
    }

    static class Inner {
        String name(int n) {
            switch (n) {
                case 1: return "one";
                default: return "more";
            }
        }
    }
}
