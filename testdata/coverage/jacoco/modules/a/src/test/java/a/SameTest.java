package a;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class SameTest {
    @Test void twice() { assertEquals(4, Same.twice(2)); }
}
