<?php

use PHPUnit\Framework\TestCase;

final class CalcTest extends TestCase
{
    /** @dataProvider sums */
    public function testAdd(int $a, int $b): void
    {
        $this->assertSame(3, add($a, $b));
    }

    public static function sums(): array
    {
        return ['up' => [1, 2], 'down' => [2, 1]];
    }

    public function testFails(): void
    {
        $this->assertSame(5, add(2, 2));
    }

    public function testBreaks(): void
    {
        throw new RuntimeException('no');
    }

    public function testLater(): void
    {
        $this->markTestSkipped('later');
    }
}
