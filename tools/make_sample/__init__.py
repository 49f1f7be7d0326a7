"""The generator of the bundled SAMPLE: pictures and texts made from nothing but this code."""
