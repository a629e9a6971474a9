<?php
use PHPUnit\Framework\TestCase;
class EmptyTest extends TestCase { }
