defmodule Sample do
  @doc """
      iex> Sample.twice(2)
      4

      iex> Sample.twice(2)
      5
  """
  def twice(n), do: n * 2
end
