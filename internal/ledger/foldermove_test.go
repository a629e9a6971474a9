package ledger

import "testing"

func TestMovedTexts(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{`{"root":"/a/proj","n":12345678901234567890}`, `{"n":12345678901234567890,"root":"/a/proj/new"}`},
		{`["sh /a/proj/check.sh --in=/a/proj","cd '/a/proj' && make"]`, `["sh /a/proj/new/check.sh --in=/a/proj/new","cd '/a/proj/new' \u0026\u0026 make"]`},
		{`["/a/proj2","/a/proj-old/x","/b/a/proj","x/a/proj","/a/projé","./a/proj"]`, `["/a/proj2","/a/proj-old/x","/b/a/proj","x/a/proj","/a/projé","./a/proj"]`},
		{`{"/a/proj":[{"x":"/a/proj:/a/proj"}]}`, `{"/a/proj":[{"x":"/a/proj/new:/a/proj/new"}]}`},
	} {
		got, err := applyMoves([]byte(row.text), FolderMove{"/a/proj", "/a/proj/new"})
		if err != nil || string(got) != row.want {
			t.Errorf("moved(%s) = %s, %v, want %s", row.text, got, err, row.want)
		}
	}
}
