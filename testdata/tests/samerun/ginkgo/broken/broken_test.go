package broken_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestBroken(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Broken")
}

var _ = BeforeSuite(func() { Fail("no database for the suite") })

var _ = Describe("never", func() { It("never", func() {}) })
