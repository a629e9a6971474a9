require 'nowhere_to_be_found'
RSpec.describe('never') { it('never') {} }
