package a;
import org.junit.jupiter.api.*;
import org.junit.jupiter.params.*;
import org.junit.jupiter.params.provider.*;
class FactoryTest {
  @Test void adds() {}
  @ParameterizedTest @MethodSource("rows") void rows(int n) {}
  @ParameterizedTest @ValueSource(ints={1,2}) void good(int n) {}
  @TestFactory java.util.stream.Stream<DynamicTest> dyn() { throw new RuntimeException("no"); }
  @RepeatedTest(2) void again() {}
}
