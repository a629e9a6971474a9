package framework

// CoverageTool is a program that measures the coverage of a program that it runs, as in "c8 --all
// mocha". Options are written as in [Options].
type CoverageTool struct {
	Temp   string   // the option that names the folder for its temporary files; "" for none
	Keep   []string // options that say which code counts
	Others []string // other options that take a value

	Subcommands []string // subcommands that run no program
}

// istanbulTool has the options that c8 and nyc have in common.
var istanbulTool = CoverageTool{
	Keep: split("--exclude= -x= --include= -n= --extension= -e= --src= --all -a --exclude-after-remap --exclude-node-modules --allowExternal"),
	Others: split("--reporter= -r= --report-dir= --reports-dir= -o= --temp-dir= --temp-directory= -t= --cwd= --require= -i= " +
		"--lines= --functions= --branches= --statements= --nycrc-path= --config= -c= --cache-dir="),
	Subcommands: split("report check-coverage merge instrument"),
}

// CoverageTools measure the coverage of frameworks that cannot, by name.
var CoverageTools = map[string]CoverageTool{
	"c8": istanbulTool.withTemp("--temp-directory="), "nyc": istanbulTool.withTemp("--temp-dir="),
	"coverage": {
		Keep:   split("--branch --source= --omit= --include="),
		Others: split("-W= -X= --rcfile= --data-file= --context= --concurrency= --debug="),
	},
}

// withTemp returns the tool with an option for its temporary files.
func (t CoverageTool) withTemp(option string) CoverageTool {
	t.Temp = option
	return t
}
