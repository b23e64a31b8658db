"""What an error of MindSpore means, read from any text that holds one."""
