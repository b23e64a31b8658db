"""GW61x and GW63x: jit that is made anew, given what it cannot read or keep, and shapes that compile again."""
