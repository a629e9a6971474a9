package source

import (
	"slices"
	"testing"
)

// Whether a method of Java whose name begins with test is one without an annotation.
func TestJavaTestsByName(t *testing.T) {
	const body = " { public void testA() { assertEquals(1, f()); } @Test void testB() { assertEquals(2, f()); } }"
	for src, want := range map[string][]string{
		"class XTest" + body: {"testB"},
		"import org.junit.jupiter.api.Test;\nclass XTest" + body:                          {"testB"},
		"import org.junit.jupiter.api.Test;\nclass XTest extends AbstractLangTest" + body: {"testB"},
		"import junit.framework.TestCase;\nclass XTest extends TestCase" + body:           {"testA", "testB"},
		"import org.junit.Test;\nclass XTest extends junit.framework.TestCase" + body:     {"testA", "testB"},
		"class XTest extends AbstractCase" + body:                                         {"testA", "testB"},
		"import org.testng.annotations.*;\n@Test class XTest" + body:                      {"testA", "testB"},
	} {
		f, err := Scan("src/test/java/XTest.java", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range f.Tests {
			got = append(got, d.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s\ngot %v, want %v", src, got, want)
		}
	}
}
