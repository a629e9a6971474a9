package sample;

import static org.testng.Assert.*;

import org.testng.*;
import org.testng.annotations.*;

public class SampleTest {
    static int tries = 0;

    public static class Again implements IRetryAnalyzer {
        private int left = 1;
        public boolean retry(ITestResult result) { return left-- > 0; }
    }

    @Test public void passes() {}
    @Test public void fails() { assertEquals(1, 2, "one is not two"); }
    @Test public void breaks() { throw new IllegalStateException("broken <tag> & \"more\""); }
    @Test(enabled = false) public void disabled() {}
    @Test public void skipsWhileItRuns() { throw new SkipException("needs a database"); }
    @Test(dependsOnMethods = "fails") public void depends() {}
    @Test(retryAnalyzer = Again.class) public void passesTheSecondTime() { assertEquals(++tries, 2); }
    @Test(retryAnalyzer = Again.class) public void failsEveryTime() { fail(); }
    @Test(expectedExceptions = RuntimeException.class) public void expected() { throw new RuntimeException(); }
    @Test(description = "grüßt die <Welt> 世界") public void described() {}
    @DataProvider public Object[][] words() { return new Object[][] {{"a", 1}, {"b c", 2}, {null, 3}}; }
    @Test(dataProvider = "words") public void each(String word, int n) { assertNotEquals(word, "b c"); }
    @Test(invocationCount = 2, groups = "slow") public void twice() {}
    @AfterMethod public void tidy() {}
}
