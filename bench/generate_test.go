package bench

import (
	"bytes"
	"fmt"
)

// The generated reports are the same in every run: nothing in them is random.
// Their numbers are strewn by steps that are prime to the lengths of the lists. None is kept
// after its benchmark: the garbage collector would wait for the more in the next one.

// junitOf returns JUnit XML of n cases in suites of 100, of about 250 bytes
// each: one in 50 failed, one in 40 was skipped, one in 20 printed something.
func junitOf(n int) []byte {
	var b bytes.Buffer
	b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n")
	for i := range n {
		if i%100 == 0 {
			fmt.Fprintf(&b, "  <testsuite name=\"com.example.shop.Suite%d\" tests=\"%d\" failures=\"2\" skipped=\"2\" errors=\"0\" time=\"12.5\" timestamp=\"2026-01-02T03:04:05\">\n    <properties><property name=\"os.name\" value=\"Linux\"/></properties>\n", i/100, min(100, n-i))
		}
		fmt.Fprintf(&b, "    <testcase name=\"computes the price of order %d with a discount &amp; taxes\" classname=\"com.example.shop.checkout.Suite%dTest\" file=\"src/test/java/com/example/shop/checkout/Suite%dTest.java\" line=\"%d\" time=\"0.%03d\"", i, i/100, i/100, 10+i%100, i*7%1000)
		switch {
		case i%50 == 49:
			fmt.Fprintf(&b, ">\n      <failure message=\"expected: &lt;%d&gt; but was: &lt;%d&gt;\" type=\"org.opentest4j.AssertionFailedError\"><![CDATA[org.opentest4j.AssertionFailedError: expected: <%d> but was: <%d>\n", i, i+1, i, i+1)
			for frame := range 12 {
				fmt.Fprintf(&b, "\tat com.example.shop.checkout.Suite%dTest.method%d(Suite%dTest.java:%d)\n", i/100, frame, i/100, 10+frame)
			}
			b.WriteString("]]></failure>\n    </testcase>\n")
		case i%40 == 1:
			b.WriteString("><skipped message=\"not on this platform\"/></testcase>\n")
		case i%20 == 2:
			fmt.Fprintf(&b, ">\n      <system-out><![CDATA[opened the shop\nplaced order %d\nclosed the shop\n]]></system-out>\n    </testcase>\n", i)
		default:
			b.WriteString("/>\n")
		}
		if i%100 == 99 || i == n-1 {
			b.WriteString("  </testsuite>\n")
		}
	}
	b.WriteString("</testsuites>\n")
	return b.Bytes()
}

// goTestOf returns n or a few more events of go test -json: packages of 200
// tests, one in 50 failed, one in 40 was skipped, one in five logs three lines.
func goTestOf(n int) []byte {
	var b bytes.Buffer
	events := 0
	emit := func(action, pkg, test, rest string) {
		fmt.Fprintf(&b, `{"Time":"2026-01-02T03:%02d:%02d.%09dZ","Action":"%s","Package":"%s"`, events/60000%60, events/1000%60, events*1009%1_000_000_000, action, pkg)
		if test != "" {
			fmt.Fprintf(&b, `,"Test":"%s"`, test)
		}
		b.WriteString(rest + "}\n")
		events++
	}
	for p := 0; events < n; p++ {
		pkg := fmt.Sprintf("example.com/shop/internal/part%d", p)
		emit("start", pkg, "", "")
		for t := range 200 {
			goTestCase(emit, pkg, t)
		}
		emit("output", pkg, "", `,"Output":"FAIL\n"`)
		emit("output", pkg, "", fmt.Sprintf(`,"Output":"FAIL\t%s\t1.234s\n"`, pkg))
		emit("fail", pkg, "", `,"Elapsed":1.234`)
	}
	return b.Bytes()
}

func goTestCase(emit func(action, pkg, test, rest string), pkg string, t int) {
	name := fmt.Sprintf("TestOrder%d/with_discount_%d", t/4, t%4)
	if t%4 == 0 {
		name = fmt.Sprintf("TestOrder%d", t/4)
	}
	action := "pass"
	switch {
	case t%50 == 49:
		action = "fail"
	case t%40 == 1:
		action = "skip"
	}
	emit("run", pkg, name, "")
	emit("output", pkg, name, fmt.Sprintf(`,"Output":"=== RUN   %s\n"`, name))
	if t%5 == 0 || action == "fail" {
		for line := range 3 {
			emit("output", pkg, name, fmt.Sprintf(`,"Output":"    order_test.go:%d: got \"price %d\", want \u003cnil\u003e\n"`, 10+line, t*17))
		}
	}
	emit("output", pkg, name, fmt.Sprintf(`,"Output":"--- %s: %s (0.0%ds)\n"`, map[string]string{"pass": "PASS", "fail": "FAIL", "skip": "SKIP"}[action], name, t%10))
	emit(action, pkg, name, fmt.Sprintf(`,"Elapsed":0.0%d`, t%10))
}

// lcovOf returns an LCOV tracefile of about size bytes: files of 500 lines in
// 20 functions, a branch in every tenth line.
func lcovOf(size int) []byte {
	var b bytes.Buffer
	for file := 0; b.Len() < size; file++ {
		fmt.Fprintf(&b, "TN:\nSF:src/part%d/file%d.js\n", file/50, file)
		for f := range 20 {
			fmt.Fprintf(&b, "FN:%d,function%d\n", f*25+1, f)
		}
		b.WriteString("FNF:20\nFNH:18\n")
		for f := range 20 {
			fmt.Fprintf(&b, "FNDA:%d,function%d\n", f%10*7, f)
		}
		for line := 1; line <= 500; line++ {
			fmt.Fprintf(&b, "DA:%d,%d\n", line, (line*31+file)%7*(line%13))
		}
		b.WriteString("LF:500\nLH:450\n")
		for line := 10; line <= 500; line += 10 {
			fmt.Fprintf(&b, "BRDA:%d,0,0,%d\nBRDA:%d,0,1,-\n", line, line%9, line)
		}
		b.WriteString("BRF:100\nBRH:50\nend_of_record\n")
	}
	return b.Bytes()
}

// coberturaOf returns Cobertura XML of about size bytes: classes of 500 lines,
// a condition in every tenth.
func coberturaOf(size int) []byte {
	var b bytes.Buffer
	b.WriteString("<?xml version=\"1.0\" ?>\n<!DOCTYPE coverage SYSTEM \"http://cobertura.sourceforge.net/xml/coverage-04.dtd\">\n" +
		"<coverage version=\"7.6.1\" timestamp=\"1700000000000\" lines-valid=\"1\" lines-covered=\"1\" line-rate=\"0.9\" branches-covered=\"0\" branches-valid=\"0\" branch-rate=\"0.5\" complexity=\"0\">\n" +
		"\t<sources>\n\t\t<source>/project/src</source>\n\t</sources>\n\t<packages>\n\t\t<package name=\"shop\" line-rate=\"0.9\" branch-rate=\"0.5\" complexity=\"0\">\n\t\t\t<classes>\n")
	for file := 0; b.Len() < size; file++ {
		fmt.Fprintf(&b, "\t\t\t\t<class name=\"file%d.py\" filename=\"part%d/file%d.py\" complexity=\"0\" line-rate=\"0.9\" branch-rate=\"0.5\">\n\t\t\t\t\t<methods/>\n\t\t\t\t\t<lines>\n", file, file/50, file)
		for line := 1; line <= 500; line++ {
			hits := (line*31 + file) % 7 * (line % 13)
			if line%10 == 0 {
				fmt.Fprintf(&b, "\t\t\t\t\t\t<line number=\"%d\" hits=\"%d\" branch=\"true\" condition-coverage=\"50%% (1/2)\" missing-branches=\"%d\"/>\n", line, hits, line+2)
				continue
			}
			fmt.Fprintf(&b, "\t\t\t\t\t\t<line number=\"%d\" hits=\"%d\"/>\n", line, hits)
		}
		b.WriteString("\t\t\t\t\t</lines>\n\t\t\t\t</class>\n")
	}
	b.WriteString("\t\t\t</classes>\n\t\t</package>\n\t</packages>\n</coverage>\n")
	return b.Bytes()
}

// sarifOf returns a SARIF log of about size bytes: one run, 100 rules, results
// with a place, a snippet and a fingerprint.
func sarifOf(size int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0","runs":[{"tool":{"driver":{"name":"checker","version":"1.2.3","rules":[`)
	for rule := range 100 {
		if rule > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":"CHK%03d","shortDescription":{"text":"Rule %d of the checker"},"defaultConfiguration":{"level":"%s"}}`, rule, rule, []string{"error", "warning", "note"}[rule%3])
	}
	b.WriteString(`]}},"results":[`)
	for i := 0; b.Len() < size; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		level := ""
		if i%2 == 0 {
			level = `"level":"warning",`
		}
		fmt.Fprintf(&b, `{"ruleId":"CHK%03d","ruleIndex":%d,%s"message":{"text":"the value of \"order%d\" is never used"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"src/part%d/file%d.c","uriBaseId":"%%SRCROOT%%"},"region":{"startLine":%d,"startColumn":%d,"endLine":%d,"endColumn":%d,"snippet":{"text":"    int order%d = price(%d);\n"}}}}],"partialFingerprints":{"primaryLocationLineHash":"%016x:1"}}`,
			i*7%100, i*7%100, level, i, i/1000, i/20, 1+i%900, 5+i%40, 1+i%900, 9+i%40, i, i, i*2654435761)
	}
	b.WriteString("]}]}\n")
	return b.Bytes()
}
