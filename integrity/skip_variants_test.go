package integrity

import (
	"strings"
	"testing"
)

// More ways to skip a test: each is put into a sample, see samples.
func TestSkipVariantsAreFound(t *testing.T) {
	for _, test := range []struct{ lang, mark, put, want string }{
		{"go", "<first>", "flaky := true\n\tif flaky { t.Skip() }", "TP-06 HIGH TestSub"},
		{"go", "<first>", `if "a" == "a" { t.Skip() }`, "TP-06 HIGH TestSub"},
		{"go", "<first>", `if time.Now().Unix() > 0 { t.Skip() }`, "TP-06 HIGH TestSub"},
		{"go", "<first>", "ready := connect()\n\tif !ready { t.Skip() }", "TP-06 MEDIUM TestSub"},
		{"python", "<before>", `@pytest.mark.skipif(not [], reason="flaky")`, "TP-06 HIGH test_sub"},
		{"python", "<before>", `@pytest.mark.skipif('a' == 'a', reason="flaky")`, "TP-06 HIGH test_sub"},
		{"python", "<before>", `@pytest.mark.skipif(sys.version_info >= (3,), reason="flaky")`, "TP-06 HIGH test_sub"},
		{"python", "<first>", "broken = True\n    if broken:\n        pytest.skip(\"later\")", "TP-06 HIGH test_sub"},
		{"js", "<first>", "const off = true\n    if (off) return", "TP-04 CRITICAL calc subs"},
		{"js", "<first>", "if (Date.now() > 0) this.skip()", "TP-06 HIGH calc subs"},
		{"java", "<first>", `assumeTrue("flaky", 1 > 2);`, "TP-06 HIGH subs"},
		{"java", "<first>", `assumeTrue("needs Linux", System.getProperty("os.name").startsWith("Linux"));`, "TP-06 LOW subs"},
		{"java", "<first>", `if (!!true) return;`, "TP-04 CRITICAL subs"},
		{"kotlin", "<first>", `assumeTrue("a" == "b")`, "TP-06 HIGH subs"},
		{"rust", "<first>", `if option_env!("CI").is_some() { return; }`, "TP-06 HIGH subs"},
		{"rspec", "<call>", "skip", "TP-05 CRITICAL calc subs"},
		{"rspec", "<call>", "xspecify", "TP-05 CRITICAL calc subs"},
		{"minitest", "<first>", `omit "flaky"`, "TP-05 HIGH test_sub"},
		{"minitest", "<first>", `raise Minitest::Skip, "flaky"`, "TP-05 HIGH test_sub"},
		{"minitest", "<first>", `skip if RUBY_VERSION >= "2.0"`, "TP-06 HIGH test_sub"},
		{"minitest", "<first>", `omission = 3`, ""},
		{"php", "<first>", `throw new SkippedWithMessageException('flaky');`, "TP-05 HIGH testSub"},
		{"php", "<first>", `throw new \PHPUnit\Framework\IncompleteTestError('flaky');`, "TP-05 HIGH testSub"},
		{"php", "<first>", `if (PHP_VERSION_ID > 50000) { $this->markTestSkipped('flaky'); }`, "TP-06 HIGH testSub"},
		{"php", "<first>", `if (PHP_VERSION_ID < 80000) { $this->markTestSkipped('new syntax'); }`, "TP-06 LOW testSub"},
		{"php", "<first>", `if ('a' === 'a') { $this->markTestSkipped('flaky'); }`, "TP-06 HIGH testSub"},
		{"csharp", "<first>", `throw new Xunit.SkipException("flaky");`, "TP-05 HIGH Subs"},
		{"csharp", "<first>", `Skip.If(1 == 1);`, "TP-06 HIGH Subs"},
		{"xctest", "<first>", `XCTExpectFailure("flaky")`, "TP-05 HIGH testSub"},
		{"swift", "<first>", "withKnownIssue { }", "TP-05 HIGH subs"},
	} {
		t.Run(test.lang+"/"+test.put, func(t *testing.T) {
			s := samples[test.lang]
			got := strings.Join(audited(texts{s.path: s.with(nil)}, texts{s.path: s.with(map[string]string{test.mark: test.put})}), "; ")
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// Tests that are not built.
func TestTestsThatAreNotBuiltAreFound(t *testing.T) {
	cpp := "#include <gtest/gtest.h>\n\nTEST(Calc, Adds) {\n  EXPECT_EQ(21, add(17, 4));\n}\n\n{{\nTEST(Calc, Subs) {\n  EXPECT_EQ(13, sub(17, 4));\n}\n}}\n"
	cs := "public class CalcTests\n{\n    [Fact]\n    public void Adds()\n    {\n        Assert.Equal(21, Calc.Add(17, 4));\n    }\n\n{{\n    [Fact]\n    public void Subs()\n    {\n        Assert.Equal(13, Calc.Sub(17, 4));\n    }\n}}\n}\n"
	swift := "final class CalcTests: XCTestCase {\n    func testAdd() {\n        XCTAssertEqual(add(17, 4), 21)\n    }\n\n{{\n    func testSub() {\n        XCTAssertEqual(sub(17, 4), 13)\n    }\n}}\n}\n"
	for _, test := range []struct{ path, text, open, end, want string }{
		{"calc_test.cc", cpp, "#if 0", "#endif", "TP-07 CRITICAL Calc.Subs"},
		{"calc_test.cc", cpp, "#if false", "#endif", "TP-07 CRITICAL Calc.Subs"},
		{"calc_test.cc", cpp, "#if 1\n#else", "#endif", "TP-07 CRITICAL Calc.Subs"},
		{"calc_test.cc", cpp, "#ifdef SLOW_TESTS", "#endif", "TP-07 HIGH Calc.Subs"},
		{"calc_test.cc", cpp, "#if defined(NIGHTLY)", "#endif", "TP-07 HIGH Calc.Subs"},
		{"calc_test.cc", cpp, "#ifdef _WIN32", "#endif", "TP-07 LOW Calc.Subs"},
		{"calc_test.cc", cpp, "#if FMT_HAS_FEATURE", "#endif", "TP-07 LOW Calc.Subs"},
		{"calc_test.cc", cpp, "#if 1", "#endif", ""},
		{"tests/CalcTests.cs", cs, "#if FALSE", "#endif", "TP-07 CRITICAL Subs"},
		{"tests/CalcTests.cs", cs, "#if NEVER", "#endif", "TP-07 HIGH Subs"},
		{"tests/CalcTests.cs", cs, "#if NET8_0_OR_GREATER", "#endif", "TP-07 MEDIUM Subs"},
		{"Tests/CalcTests.swift", swift, "#if false", "#endif", "TP-07 CRITICAL testSub"},
		{"Tests/CalcTests.swift", swift, "#if SLOW_TESTS", "#endif", "TP-07 HIGH testSub"},
		{"Tests/CalcTests.swift", swift, "#if os(Linux)", "#endif", "TP-07 LOW testSub"},
	} {
		t.Run(test.path+"/"+test.open, func(t *testing.T) {
			with := func(open, end string) string {
				return strings.Replace(strings.Replace(test.text, "{{\n", open, 1), "}}\n", end, 1)
			}
			got := strings.Join(audited(texts{test.path: with("", "")}, texts{test.path: with(test.open+"\n", test.end+"\n")}), "; ")
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// Failures that are caught and dropped by handlers that are not empty.
func TestSwallowedFailuresAreFound(t *testing.T) {
	for _, test := range []struct{ lang, from, to, want string }{
		{"python", "    assert x == 13", "    try:\n        assert x == 13\n    except AssertionError as e:\n        print(e)\n        logging.warning(\"flaky\")", "TP-17 HIGH test_sub"},
		{"python", "    assert x == 13", "    try:\n        assert x == 13\n    except AssertionError as e:\n        print(e)\n        raise", ""},
		{"python", "    assert x == 13", "    try:\n        assert x == 13\n    except:\n        pass", "TP-17 HIGH test_sub"},
		{"js", "    expect(x).toBe(13)", "    try {\n      expect(x).toBe(13)\n    } catch (e) { console.log(e) }", "TP-17 HIGH calc subs"},
		{"js", "    expect(x).toBe(13)", "    try {\n      expect(x).toBe(13)\n    } catch (e) { done(e) }", ""},
		{"js", "    expect(x).toBe(13)", "    return check(() => expect(x).toBe(13)).catch(() => {})", "TP-17 HIGH calc subs"},
		{"java", "        assertEquals(13, x);", "        try {\n            assertEquals(13, x);\n        } catch (AssertionError e) {\n            System.out.println(e);\n        }", "TP-17 HIGH subs"},
		{"java", "        assertEquals(13, x);", "        try {\n            assertEquals(13, x);\n        } catch (AssertionError e) {\n            e.printStackTrace();\n        }", "TP-17 HIGH subs"},
		{"kotlin", "        assertEquals(13, x)", "        runCatching {\n            assertEquals(13, x)\n        }", "TP-17 HIGH subs"},
		{"kotlin", "        assertEquals(13, x)", "        runCatching {\n            assertEquals(13, x)\n        }.getOrThrow()", ""},
		{"rust", "        assert_eq!(x, 13);", "        std::panic::catch_unwind(|| {\n            assert_eq!(x, 13);\n        }).ok();", "TP-17 HIGH subs"},
		{"minitest", "    assert_equal 13, x", "    assert_equal 13, x rescue nil", "TP-17 HIGH test_sub"},
		{"minitest", "    assert_equal 13, x", "    begin\n      assert_equal 13, x\n    rescue Minitest::Assertion => e\n      warn e.message\n    end", "TP-17 HIGH test_sub"},
		{"minitest", "    assert_equal 13, x", "    begin\n      assert_equal 13, x\n    rescue KeyError\n      nil\n    end", ""},
		{"php", "        $this->assertSame(13, $x);", "        try {\n            $this->assertSame(13, $x);\n        } catch (\\Throwable $e) {\n            error_log($e);\n        }", "TP-17 HIGH testSub"},
		{"csharp", "        Assert.Equal(13, x);", "        try\n        {\n            Assert.Equal(13, x);\n        }\n        catch (Exception ex)\n        {\n            Console.WriteLine(ex);\n        }", "TP-17 HIGH Subs"},
		{"csharp", "        Assert.Equal(13, x);", "        Record.Exception(() => Assert.Equal(13, x));", "TP-17 HIGH Subs"},
		{"xctest", "        XCTAssertEqual(x, 13)", "        do {\n            XCTAssertEqual(x, 13)\n        } catch let e { print(e) }", "TP-17 HIGH testSub"},
		{"exunit", "    assert x == 13", "    try do\n      assert x == 13\n    rescue\n      _ -> :ok\n    end", "TP-17 HIGH subs"},
		{"exunit", "    assert x == 13", "    try do\n      assert x == 13\n    rescue\n      e in KeyError -> reraise e, __STACKTRACE__\n    end", ""},
	} {
		t.Run(test.lang+"/"+test.to, func(t *testing.T) {
			s := samples[test.lang]
			before := s.with(nil)
			got := strings.Join(audited(texts{s.path: before}, texts{s.path: strings.Replace(before, test.from, test.to, 1)}), "; ")
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
