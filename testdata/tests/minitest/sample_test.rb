require 'minitest/autorun'

class SampleTest < Minitest::Test
  def test_passes; assert_equal 2, 1 + 1; end
  def test_fails; assert_equal 2, 1, 'one is not two'; end
  def test_breaks; raise 'broken <tag> & more'; end
  def test_skips; skip 'needs a database'; end
  def test_prints; puts 'a line to standard output'; end
  def test_has_no_assertion; end
  def test_grüßt_die_welt; assert true; end
  %w[a b].each { |w| define_method("test_each_#{w}") { refute_equal 'b', w } }
end

class UntidyTest < Minitest::Test
  def teardown; raise 'no clean up'; end
  def test_passes; end
  def test_fails; flunk; end
end

describe 'a spec' do
  it('works') { _(1).must_equal 1 }
  it 'is still to do'
  describe('deeper') { it('fails') { _(1).must_equal 2 } }
end
