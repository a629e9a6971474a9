<?php

require_once __DIR__ . '/../src/Price.php';

use PHPUnit\Framework\TestCase;
use Shop\Price;

final class SampleTest extends TestCase
{
    public function testPasses(): void { echo "a line to standard output\n"; $this->assertSame(20, (new Price(2))->of(false)); }
    public function testFails(): void { $this->assertSame(1, 2, 'one is not two'); }
    public function testBreaks(): void { throw new RuntimeException('broken <tag> & "more"'); }
    public function testSkips(): void { $this->markTestSkipped('needs a database'); }
    public function testIsIncomplete(): void { $this->markTestIncomplete('later'); }
    public function testHasNoAssertion(): void {}
    public function testWarns(): void { trigger_error('careful', E_USER_WARNING); }
    public function testIsDeprecated(): void { $this->addWarning('old'); $this->assertTrue(true); }
    public function testGrüßtDieWelt(): void { $this->assertTrue(true); }

    /** @dataProvider words */
    public function testEach(string $word): void { $this->assertNotSame('b c', $word); }
    public function words(): array { return ['first' => ['a'], 'second <&> "named"' => ['b c'], ['|[it\'s]']]; }

    public function testNeedsIt(): void { $this->fail("with\na second line | and a bar"); }
    /** @depends testNeedsIt */
    public function testDepends(): void {}
}
