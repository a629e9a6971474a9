package parsers

// xmlLint are the reports of linters and compilers in XML.
// The most specific stands first.
var xmlLint = []Format{}
