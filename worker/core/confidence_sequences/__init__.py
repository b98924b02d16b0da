"""The any-time guarantee: bands that hold whenever one looks, and what closes them."""
