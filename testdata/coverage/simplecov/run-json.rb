require 'simplecov'
SimpleCov.start do
  enable_coverage :branch
  track_files '*.rb'
  require 'simplecov_json_formatter'
  formatter SimpleCov::Formatter::JSONFormatter
  add_filter 'run.rb'
end
require_relative 'price'
price(1, false)
