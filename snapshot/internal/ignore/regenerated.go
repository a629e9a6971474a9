package ignore

import (
	"path"
	"strings"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/walk"
)

// anewFolders are the names of ignored folders that a tool makes anew: installed packages, build output, caches, reports
// and temporary files.
var anewFolders = words(`
	node_modules bower_components jspm_packages vendor Pods Carthage __pypackages__ site-packages .venv venv .virtualenv .eggs .bundle deps .yarn .pnpm-store .npm
	target build dist out bin obj lib64 _build .build builddir dist-newstyle .stack-work zig-out cmake-build-debug cmake-build-release CMakeFiles DerivedData Debug Release
	.next .nuxt .output .svelte-kit .angular .docusaurus storybook-static .expo .serverless .aws-sam .terraform .dart_tool .metals .bloop .bsp .elixir_ls .direnv
	__pycache__ .cache .tox .nox .hypothesis .ipynb_checkpoints .gradle .kotlin .turbo .nx .parcel-cache .zig-cache zig-cache .ccache .sass-cache .eslintcache .stylelintcache .phpunit.cache .scannerwork .rpt2_cache .vite
	coverage htmlcov .nyc_output .coverage test-results test-reports playwright-report tmp temp .tmp .temp log logs`)

// anewFiles are patterns (path.Match) for the names of ignored files that a tool makes anew.
var anewFiles = strings.Fields(`
	*.pyc *.pyo *.pyd *.o *.obj *.a *.lib *.so *.so.* *.dylib *.dll *.exe *.class *.jar *.war *.rlib *.rmeta *.wasm *.test *.egg *.whl *.gem *.d *.lo *.la *.hi *.beam *.elc *.gch *.pch
	*.log *.log.* *.tmp *.temp *.swp *.swo *~ *.pid *.lock *.prof *.trace *.stackdump core core.[0-9]* .DS_Store Thumbs.db desktop.ini
	.coverage .coverage.* coverage.* *.cover *.coverprofile *.lcov lcov.info *.gcda *.gcno *.gcov *.profraw *.profdata junit*.xml .eslintcache .stylelintcache *.tsbuildinfo .phpunit.result.cache .testmondata*`)

func words(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(text) {
		out[w] = true
	}
	return out
}

// madeAnew reports whether a tool makes an ignored file or folder of that name anew, so that it need not be kept.
func madeAnew(name string, folder bool) bool {
	if anewFolders[name] || folder && (strings.HasPrefix(name, ".") && strings.HasSuffix(name, "_cache") || strings.HasSuffix(name, ".egg-info") || strings.HasPrefix(name, "bazel-") || strings.HasPrefix(name, "cmake-build-")) {
		return true
	}
	for _, pattern := range anewFiles {
		if ok, err := path.Match(pattern, name); !folder && ok && err == nil {
			return true
		}
	}
	return false
}

// installed reports whether a folder says of itself that it is a cache, an environment that a tool installed, or a
// checkout of its own.
func installed(nodes []walk.Node) bool {
	for _, n := range nodes {
		switch n.Name {
		case "CACHEDIR.TAG", "pyvenv.cfg", "conda-meta", ".git":
			return true
		}
	}
	return false
}

// maxKeptNames is how many files and folders an ignored folder may hold to be kept: a larger one is a cache or data that
// was loaded from somewhere, and looking at all of it would take long.
const maxKeptNames = 20_000

// Keeps reports whether an ignored path is kept: what no tool makes anew, outside of ignored folders, and below those that
// were there when the rules were made.
func (r *Rules) Keeps(p string, n *walk.Node) bool {
	if n.Kind == 0 || r.tops[p] == dropped || madeAnew(n.Name, n.Kind == disk.KindDir) {
		return false
	}
	return n.Kind != disk.KindDir || r.tops[p] == kept
}

// KeepsBelow is Keeps for a path in an ignored folder.
func (r *Rules) KeepsBelow(p string, n *walk.Node) bool {
	if n.Kind == 0 || r.tops[p] == dropped || madeAnew(n.Name, n.Kind == disk.KindDir) {
		return false
	}
	for d := path.Dir(p); d != "."; d = path.Dir(d) {
		if r.tops[d] != unknown {
			return r.tops[d] == kept
		}
	}
	return false
}

// fate says whether an ignored folder is kept.
type fate byte

const (
	unknown fate = iota
	kept
	dropped
)
