<?php

namespace Sample;

/**
 * A class.
 */
final class Good
{
}
