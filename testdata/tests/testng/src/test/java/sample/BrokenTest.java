package sample;

import org.testng.annotations.*;

public class BrokenTest {
    @BeforeClass public void setUp() { throw new IllegalStateException("no database"); }
    @Test public void first() {}
    @Test public void second() {}
}
