require "calc"

RSpec.describe Calc do
  it("adds") { expect(Calc.add(1, 2)).to eq 3 }

  describe ".sign" do
    it("of one") { expect(Calc.sign(1)).to eq 1 }
    it("of two") { expect(Calc.sign(2)).to eq 2 }
    xit("of minus one") { expect(Calc.sign(-1)).to eq(-1) }
    it "of zero"
  end
end
