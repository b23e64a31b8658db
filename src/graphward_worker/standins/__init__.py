"""Stand-ins for operators whose kernel this device lacks: the same meaning, made of operators that it has.

Both versions of a target get them, in PyNative and in Graph Mode, and the verdict lists those that were used. Which
ones are needed is found out by asking MindSpore (`lacking`), so that none is used where the kernel exists.
"""
