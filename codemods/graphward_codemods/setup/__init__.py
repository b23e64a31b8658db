"""GW7xx: how a run is set up: mode, device, context, mixed precision."""
