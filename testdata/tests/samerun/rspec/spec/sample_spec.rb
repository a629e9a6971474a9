RSpec.describe 'math' do
  it('adds') { expect(1 + 1).to eq 2 }
  it('fails') { expect(1).to eq 2 }
  it('breaks') { raise 'broken <tag> & "more"' }
  it 'is pending without a block'
  xit('skips') { raise 'never' }
  it('skips while it runs') { skip 'needs a database' }
  it('is pending and fails') { pending 'known bug'; expect(1).to eq 2 }
  it('is pending and passes') { pending 'thought to be a bug'; expect(1).to eq 1 }
  ['a', 'b c'].each { |word| it("takes #{word}") { expect(word).not_to eq 'b c' } }
  it('grüßt <die> & "Welt" 世界') { puts 'a line to standard output' }
  it('fails twice', :aggregate_failures) { expect(1).to eq 2; expect(3).to eq 4 }
  it { expect(1).to eq 1 }
  context 'deeper' do
    it('adds') {}
    it('is') {}
    it('is') { raise 'the same name again' }
  end
  shared_examples('shared') { it('is shared') {} }
  it_behaves_like 'shared'
end
RSpec.describe 'before all breaks' do
  before(:all) { raise 'no database' }
  it('first') {}
  it('second') {}
end
RSpec.describe 'after all breaks' do
  after(:all) { raise 'no clean up' }
  it('only') {}
end
