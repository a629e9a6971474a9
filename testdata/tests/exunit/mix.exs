defmodule Sample.MixProject do
  use Mix.Project

  def project, do: [app: :sample, version: "0.1.0", deps: []]
end
