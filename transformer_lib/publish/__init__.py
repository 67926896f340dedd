"""The class's editions of the lessons: slides, a web site, notebooks for the instructor.

All are made from the notebooks alone and open without a network.
"""
