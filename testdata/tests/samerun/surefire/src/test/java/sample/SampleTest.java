package sample;

import static org.junit.jupiter.api.Assertions.*;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.stream.Stream;
import org.junit.jupiter.api.*;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SampleTest {
    static int tries = 0;

    @Test void passes() { System.out.println("a line to standard output"); assertEquals(10, new Price(1).of(true, false)); }
    @Test void fails() { assertEquals(1, 2, "one is not two"); }
    @Test void breaks() { throw new IllegalStateException("broken <tag> & \"more\""); }
    @Test @Disabled("needs a database") void skips() {}
    @Test void skipsWhileItRuns() { assumeTrue(false, "later"); }
    @Test @DisplayName("grüßt <die> & \"Welt\" 世界") void displayed() {}
    @Test void passesTheSecondTime() { assertEquals(2, ++tries); }
    @ParameterizedTest @ValueSource(strings = {"a", "b c"}) void each(String word) { assertNotEquals("b c", word); }
    @RepeatedTest(2) void repeated() {}
    @TestFactory Stream<DynamicTest> dynamic() { return Stream.of("x", "y").map(n -> DynamicTest.dynamicTest(n, () -> assertEquals("x", n))); }

    @Nested class Deeper {
        @Test void passes() {}
        @Test void fails() { fail("deeper"); }
    }
}
