package calc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CalcTest {
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void adds(int n) {
        assertEquals(n + 1, Calc.add(n, 1));
    }

    @Test
    void signs() {
        assertEquals(2, Calc.sign(5));
    }

    @Test
    @Disabled("later")
    void later() {}

    @Test
    void breaks() {
        throw new IllegalStateException("no");
    }
}
