"""GW8xx: what MindSpore has removed, renamed, or given another meaning."""
