<?php
use PHPUnit\Framework\TestCase;
class HookTest extends TestCase { public static function setUpBeforeClass(): void { throw new Exception("hook"); } public function testA() { $this->assertTrue(true); } public function testB() { $this->assertTrue(true); } }
