package ignore

import (
	"path"
	"slices"
	"strings"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/walk"
)

// regenerableFolders are the names of ignored folders that tools regenerate: installed packages, build output, caches,
// reports and temporary files.
var regenerableFolders = wordSet(`
	node_modules bower_components jspm_packages vendor Pods Carthage __pypackages__ site-packages .venv venv .virtualenv .eggs .bundle deps .yarn .pnpm-store .npm
	target build dist out bin obj lib64 _build .build builddir dist-newstyle .stack-work zig-out cmake-build-debug cmake-build-release CMakeFiles DerivedData Debug Release
	.next .nuxt .output .svelte-kit .angular .docusaurus storybook-static .expo .serverless .aws-sam .terraform .dart_tool .metals .bloop .bsp .elixir_ls .direnv
	__pycache__ .cache .tox .nox .hypothesis .ipynb_checkpoints .gradle .kotlin .turbo .nx .parcel-cache .zig-cache zig-cache .ccache .sass-cache .eslintcache .stylelintcache .phpunit.cache .scannerwork .rpt2_cache .vite
	coverage htmlcov .nyc_output .coverage test-results test-reports playwright-report tmp temp .tmp .temp log logs`)

// regenerableFiles are patterns (path.Match) for the names of ignored files that tools regenerate.
var regenerableFiles = strings.Fields(`
	*.pyc *.pyo *.pyd *.o *.obj *.a *.lib *.so *.so.* *.dylib *.dll *.exe *.class *.jar *.war *.rlib *.rmeta *.wasm *.test *.egg *.whl *.gem *.d *.lo *.la *.hi *.beam *.elc *.gch *.pch
	*.log *.log.* *.tmp *.temp *.swp *.swo *~ *.pid *.lock *.prof *.trace *.stackdump core core.[0-9]* .DS_Store Thumbs.db desktop.ini
	.coverage .coverage.* coverage.* *.cover *.coverprofile *.lcov lcov.info *.gcda *.gcno *.gcov *.profraw *.profdata junit*.xml .eslintcache .stylelintcache *.tsbuildinfo .phpunit.result.cache .testmondata*`)

// wordSet returns the words of a text as a set.
func wordSet(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(text) {
		out[w] = true
	}
	return out
}

// isRegenerable reports whether tools regenerate ignored files, or folders, of that name, so
// that they need not be kept.
func isRegenerable(name string, folder bool) bool {
	if regenerableFolders[name] {
		return true
	}
	patterns := regenerableFiles
	if folder {
		patterns = regenerableFolderPatterns
	}
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}

// regenerableFolderPatterns are patterns for names of folders, in addition to regenerableFolders.
var regenerableFolderPatterns = []string{".*_cache", "*.egg-info", "bazel-*", "cmake-build-*"}

// isInstalled reports whether a folder contains a marker of a cache, an installed environment, or a separate checkout.
func isInstalled(nodes []walk.Node) bool {
	for _, n := range nodes {
		switch n.Name {
		case "CACHEDIR.TAG", "pyvenv.cfg", "conda-meta", ".git":
			return true
		}
	}
	return false
}

// maxKeptNames is how many files and folders an ignored folder may contain to be kept. Larger folders are usually caches or
// downloaded data, and scanning them would take long.
const maxKeptNames = 20_000

// IsKept reports whether an ignored path outside ignored folders is captured: a file that no tool regenerates, or an
// ignored folder that is kept.
func (r *Rules) IsKept(p string, n *walk.Node) bool {
	if n.Kind == 0 || r.retentions[p] == retentionDropped || isRegenerable(n.Name, n.Kind == disk.KindDir) {
		return false
	}
	return n.Kind != disk.KindDir || r.retentions[p] == retentionKept
}

// IsKeptBelow is IsKept for a path inside an ignored folder. The innermost folder with a known
// retention decides.
func (r *Rules) IsKeptBelow(p string, n *walk.Node) bool {
	if n.Kind == 0 || r.retentions[p] == retentionDropped || isRegenerable(n.Name, n.Kind == disk.KindDir) {
		return false
	}
	for d := path.Dir(p); d != "."; d = path.Dir(d) {
		if r.retentions[d] != retentionUnknown {
			return r.retentions[d] == retentionKept
		}
	}
	return false
}

// retention says whether an ignored folder is kept.
type retention byte

const (
	retentionUnknown retention = iota // nothing is recorded about the folder
	retentionKept
	retentionDropped
)
