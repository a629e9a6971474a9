package parsers_test

import "testing"

func FuzzCheckstyle(f *testing.F)     { fuzz(f, "checkstyle", lintSample("checkstyle")...) }
func FuzzPmd(f *testing.F)            { fuzz(f, "pmd", lintSample("pmd")...) }
func FuzzCppcheck(f *testing.F)       { fuzz(f, "cppcheck", lintSample("cppcheck")...) }
func FuzzSpotbugs(f *testing.F)       { fuzz(f, "spotbugs", lintSample("spotbugs")...) }
func FuzzAndroidLint(f *testing.F)    { fuzz(f, "android-lint", lintSample("android-lint")...) }
func FuzzJslint(f *testing.F)         { fuzz(f, "jslint", lintSample("jslint")...) }
func FuzzPhpcsXml(f *testing.F)       { fuzz(f, "phpcs-xml", lintSample("phpcs-xml")...) }
func FuzzStylecop(f *testing.F)       { fuzz(f, "stylecop", lintSample("stylecop")...) }
func FuzzIdeaInspection(f *testing.F) { fuzz(f, "idea-inspection", lintSample("idea-inspection")...) }
