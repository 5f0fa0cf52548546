namespace adjudge {}
