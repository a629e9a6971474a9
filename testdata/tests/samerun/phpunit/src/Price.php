<?php

namespace Shop;

class Price
{
    private $count;

    public function __construct(int $count)
    {
        if ($count < 0) {
            throw new \InvalidArgumentException('negative');
        }
        $this->count = $count;
    }

    public function of(bool $member): int
    {
        return $member ? intdiv($this->count * 90, 10) : $this->count * 10;
    }

    public function never(): string
    {
        return 'never';
    }
}

function twice(int $n): int
{
    return $n * 2;
}
