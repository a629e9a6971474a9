/** @file */
