package project

import (
	"strings"

	"supervise/internal/framework"
	"supervise/internal/project/internal/projectfs"
	"supervise/internal/regexp"
)

var dotnet = framework.Named("dotnet")

// dotnetMarkers are files that make a folder a .NET project.
var dotnetMarkers = []string{"*.sln", "*.slnx", "*.csproj", "*.fsproj", "*.vbproj"}

// dotnetProjectPattern matches a project of C#, F# or Visual Basic in a solution: App.csproj.
var dotnetProjectPattern = regexp.MustCompile(`\.(cs|fs|vb)proj\b`)

// proposeDotnet recognizes a solution or, if there is none, a project.
func proposeDotnet(f projectfs.Folder) proposal {
	p := proposal{covers: coversEverything}
	file := f.First(dotnetMarkers...)
	if text := f.Read(file); strings.Contains(text, ".vcxproj") && !dotnetProjectPattern.MatchString(text) {
		return proposal{} // its projects are those of C++
	}

	p.require(f, "dotnet", "install the .NET SDK")
	text := f.Read("Directory.Packages.props") + f.Read("Directory.Build.props")
	for _, name := range f.Search(200, "*.csproj", "*.fsproj", "*.vbproj", "Directory.Build.props") {
		text += f.Read(name)
	}

	env := []string{"DOTNET_CLI_TELEMETRY_OPTOUT=1", "DOTNET_NOLOGO=1", "DOTNET_CLI_UI_LANGUAGE=en"}
	p.addTool("dotnet", file)
	p.add(Check{Kind: Build, Name: "dotnet build", Env: env, Command: []string{"dotnet", "build", "--nologo", "-tl:off"}})
	if !strings.Contains(text, "Microsoft.NET.Test.Sdk") && !strings.Contains(text, "MSTest.Sdk") && !strings.Contains(text, "IsTestingPlatformApplication") {
		p.note("no test project recognised: none refers to Microsoft.NET.Test.Sdk")
		return p
	}

	test := rowCheck(dotnet, "dotnet", "test", "--nologo", "-tl:off")
	test.Name, test.Env = "dotnet test", env
	switch {
	case strings.Contains(f.Read("global.json"), "Microsoft.Testing.Platform"):
		test.Command = []string{"dotnet", "test", "--report-trx", "--results-directory", ReportDir + "/.results"}
		p.addTool("Microsoft.Testing.Platform", "global.json")
	case strings.Contains(text, dotnet.Coverage.Needs[0]):
		p.addTool("coverlet", "project file")
		test.cover(dotnet)
	default:
		p.note("no coverage: dotnet add package %s", dotnet.Coverage.Needs[0])
	}
	p.add(test)
	return p
}
