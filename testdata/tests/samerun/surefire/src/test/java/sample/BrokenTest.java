package sample;

import org.junit.jupiter.api.*;

class BrokenTest {
    @BeforeAll static void setUp() { throw new IllegalStateException("no database"); }
    @Test void first() {}
    @Test void second() {}
}
