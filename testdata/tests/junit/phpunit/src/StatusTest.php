<?php
use PHPUnit\Framework\TestCase;
class StatusTest extends TestCase {
  public function testOk() { $this->assertTrue(true); }
  /** @dataProvider rows */
  public function testRows($a) { $this->assertTrue(true); }
  public function rows() { throw new Exception("no"); }
  /** @dataProvider none */
  public function testNone($a) { $this->assertTrue(true); }
  public function none() { return []; }
  public function testWarn() { $this->addWarning("careful"); $this->assertTrue(true); }
}
