defmodule BrokenTest do
  use ExUnit.Case
  test "never", do: nowhere_to_be_found()
end
