package sample;

/** A class with {@link Nowhere}. */
public class Doc {
    /**
     * Does it.
     * @param b nothing
     * <p>
     */
    public int f(int a) { return 1; }
    public void undocumented() {}
}
