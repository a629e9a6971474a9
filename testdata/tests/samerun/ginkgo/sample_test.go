package sample_test

import (
	"fmt"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestSample(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Sample <suite>")
}

var tries int

var _ = Describe("math", Label("fast"), func() {
	It("adds", func() { fmt.Println("a line to standard output"); Expect(1 + 1).To(Equal(2)) })
	It("fails", func() { Expect(1).To(Equal(2), "one is not two") })
	It("panics", func() { panic("broken <tag> & \"more\"") })
	It("skips while it runs", func() { Skip("needs a database") })
	PIt("is pending", func() {})
	DescribeTable("each", func(word string) { Expect(word).NotTo(Equal("b c")) },
		Entry("first", "a"), Entry("second", "b c"), PEntry("third", "c"))
	It("grüßt die Welt 世界", func() { GinkgoWriter.Println("to the writer") })
	It("passes the second time", FlakeAttempts(2), func() { tries++; Expect(tries).To(Equal(2)) })
	Context("deeper", Ordered, func() {
		It("fails first", func() { Fail("first") })
		It("is skipped then", func() {})
	})
})

var _ = Describe("before each breaks", func() {
	BeforeEach(func() { Fail("no database") })
	It("never", func() {})
})
