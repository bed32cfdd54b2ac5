"""How calls fail: facts, the kind they amount to, and the one error made of them."""
