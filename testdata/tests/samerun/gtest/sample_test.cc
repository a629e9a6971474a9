#include <cstdio>
#include <stdexcept>
#include <gtest/gtest.h>

TEST(Math, Adds) { EXPECT_EQ(1 + 1, 2); std::puts("a line to standard output"); }
TEST(Math, Fails) { EXPECT_EQ(1, 2) << "one is <not> \"two\" & more"; EXPECT_TRUE(false); }
TEST(Math, Throws) { throw std::runtime_error("broken"); }
TEST(Math, SkipsWhileItRuns) { GTEST_SKIP() << "needs a database"; }
TEST(Math, DISABLED_Disabled) {}
TEST(Math, Records) { RecordProperty("key", "value"); }

class Broken : public testing::Test {
 protected:
  static void SetUpTestSuite() { GTEST_FAIL() << "no database"; }
};
TEST_F(Broken, First) {}

class SetUpBreaks : public testing::Test {
 protected:
  void SetUp() override { FAIL() << "no fixture"; }
};
TEST_F(SetUpBreaks, Never) {}

class Each : public testing::TestWithParam<const char*> {};
TEST_P(Each, Word) { EXPECT_STRNE(GetParam(), "b c"); }
INSTANTIATE_TEST_SUITE_P(Words, Each, testing::Values("a", "b c", "grüßt <die> Welt"));

template <typename T> class Typed : public testing::Test {};
using Types = testing::Types<int, unsigned char>;
TYPED_TEST_SUITE(Typed, Types);
TYPED_TEST(Typed, IsSmall) { EXPECT_LT(sizeof(TypeParam), 3u); }
