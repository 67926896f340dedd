"""The run-time check of the library's annotations under pytest: beartype, with an int allowed where
a float is asked for.
"""

from beartype import BeartypeConf, beartype

checked = beartype(conf=BeartypeConf(is_pep484_tower=True))
