<?php

namespace Shop;

class Untouched
{
    public function never(): int
    {
        return 1;
    }
}
