"""What must never happen to a ledger, tried: racing, killing, repeating, filling the disk, damaging, copying."""
