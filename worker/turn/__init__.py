"""Steps of one turn: read, believe, stop or choose, import, announce; the story is `loop`."""
