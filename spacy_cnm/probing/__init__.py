"""The structural probe: what an encoder knows of the layout, parts and strokes of a character."""
