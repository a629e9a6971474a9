defmodule SampleTest do
  use ExUnit.Case
  doctest Sample

  test "adds", do: assert(1 + 1 == 2)
  test "fails", do: assert(1 == 2)
  test "breaks", do: raise("broken <tag> & more")
  @tag :skip
  test "skips", do: flunk()
  @tag skip: "needs a database"
  test "skips with a reason", do: flunk()
  test "is not implemented yet"
  @tag :slow
  test "is excluded", do: flunk()
  test "grüßt die Welt 世界", do: IO.puts("a line to standard output")

  describe "deeper" do
    test "adds (1) [2]", do: assert(true)
    for word <- ["a", "b c"], do: test("takes #{word}", do: assert(unquote(word) != "b c"))
  end
end

defmodule BrokenSetupTest do
  use ExUnit.Case
  setup_all do: raise("no database")
  test "first", do: assert(true)
  test "second", do: assert(true)
end
