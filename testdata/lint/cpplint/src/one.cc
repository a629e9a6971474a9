// Copyright 2026 Somebody
int one() { return 1; }
