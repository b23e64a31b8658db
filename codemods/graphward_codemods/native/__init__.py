"""GW5xx: operators that are written by hand where MindSpore has a native one."""
