package sample;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.*;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SampleTest {
  static int tries;

  @Test void passes() {}
  @Test void fails() { assertEquals(1, 2); }
  @Test void breaks() { throw new IllegalStateException("broken \u001b[31mred"); }
  @Test @Disabled("not on this machine") void skips() {}
  @Test void flaky() { if (tries++ == 0) fail("first try"); }
  @ParameterizedTest @ValueSource(strings = {"a", "b<c>"}) void each(String s) { assertTrue(s.length() < 2); }
}
