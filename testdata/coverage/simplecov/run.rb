require 'simplecov'
SimpleCov.start do
  enable_coverage :branch
  track_files '*.rb'
  formatter SimpleCov::Formatter::SimpleFormatter
  add_filter 'run.rb'
end
require_relative 'price'
price(1, false)
