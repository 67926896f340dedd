"""What people do and why: verbs, objects and states that make sense in one sentence."""

from __future__ import annotations

CONJUNCTIONS = {"and": "et", "but": "mais", "because": "parce que", "so": "donc"}

PURPOSES = [
    ("market", "buy", "food bread"), ("park", "play", "sport"), ("library", "read", "text"),
    ("station", "wait for", "train bus"), ("beach", "swim", ""), ("restaurant", "meet", "person"),
    ("library", "study", "language"), ("museum", "look at", "picture"), ("hospital", "visit", "person"),
    ("office", "finish", "text"), ("office", "help", "kin"), ("theatre", "see", "play"), ("park", "walk", ""),
]  # fmt: skip

WHILE_PAIRS = [
    ("eat", "food"), ("wash", "cup"), ("drink", "drink"), ("work", ""), ("wait for", "person"), ("clean", "room"),
    ("walk", ""), ("prepare", "soup"),
]  # fmt: skip

WHILE_WHAT = [
    ("listen to", "music"),
    ("talk to", "person"),
    ("think about", "event"),
    ("dance", ""),
    ("watch", "film"),
]

BEFORE_PAIRS = [
    ("close", "door"), ("read", "text"), ("eat", "food"), ("clean", "room"), ("finish", "text"), ("phone", "person"),
    ("drink", "drink"), ("wash", "hand"), ("turn off", "light"),
]  # fmt: skip

BEFORE_WHAT = [
    ("leave", ""), ("go out", ""), ("go to bed", ""), ("go home", ""), ("answer", "letter"), ("prepare", "soup"),
]  # fmt: skip

REASONS_AGAINST = {"expensive", "long", "difficult", "old", "hot cold"}

# what one would do if one had something
WISHES = [
    ("car", "visit", "city"), ("money", "buy", "drive"), ("car", "go to", "country"),
    ("computer", "write", "letter"), ("bicycle", "go to", "park"), ("money", "buy", "garment"),
    ("phone", "call", "kin"), ("garden", "look after", "plant"),
]  # fmt: skip

SINCE = [
    ("ill", "visit", "other"), ("tired", "go to bed", "same"), ("ill", "look after", "other"),
     ("busy", "go out", "same"), ("late", "wait for", "other"), ("sad", "phone", "other"),
    ("busy", "help", "other"), ("ill", "go out", "same"),
]  # fmt: skip

# a state, the verb that explains it and the class of its object
CAUSES = [
    ("tired", "work", ""), ("happy", "find", "tool"), ("sad", "lose", "tool"), ("angry", "miss", "transit"),
    ("happy", "win", "match"), ("tired", "walk", ""), ("sad", "lose", "text"), ("proud", "repair", "drive"),
    ("angry", "lose", "gift"), ("tired", "dance", ""), ("happy", "finish", "text"), ("ill", "eat", "food"),
    ("proud", "write", "poem"), ("happy", "buy", "drive"), ("angry", "break", "cup"), ("sad", "sell", "home"),
    ("happy", "prepare", "party"),
]  # fmt: skip

# classes of the object, first verb ("-" negates), its tense, conjunction, kind of sequel, what, tense ("-" negates)
SCRIPTS = [
    ("tool gift", "lose", "past", "but", "same", "find back", "past"),
    ("tool text", "lose", "past", "and", "can", "find back", "-pres"),
    ("tool garment text", "look for", "prog", "but", "can", "find", "-pres"),
    ("garment drive gift", "buy", "past", "because", "is", "beautiful new", "past"),
    ("garment drive", "-buy", "past", "because", "is", "expensive", "past"),
    ("text", "read", "past", "because", "is", "interesting short good", "past"),
    ("text", "-read", "past", "because", "is", "long", "past"),
    ("text", "-finish", "past", "because", "is", "long", "past"),
    ("letter postcard message", "write", "past", "but", "give", "send", "-past"),
    ("text", "finish", "perf", "and", "give", "return", "fut"),
    ("gift", "buy", "past", "and", "give", "give", "past"),
    ("garment", "wash", "past", "because", "is", "dirty", "past"),
    ("garment drive", "wash", "fut", "because", "is", "dirty", "pres"),
    ("device", "repair", "past", "because", "is", "broken", "past"),
    ("device", "repair", "past", "but", "does", "work", "-pres"),
    ("drive home", "sell", "past", "because", "is", "old", "past"),
    ("food", "-eat", "past", "because", "is", "fresh", "-past"),
    ("food bread", "eat", "past", "because", "is", "delicious good", "past"),
    ("coffee tea", "-drink", "past", "because", "is", "hot cold", "past"),
    ("kin", "invite", "past", "but", "does", "come back", "-past"),
    ("kin person", "phone", "past", "but", "does", "sleep", "pastprog"),
    ("kin person", "wait for", "prog", "but", "is", "late", "pres"),
    ("kin person", "help", "prog", "because", "is", "tired ill", "pres"),
    ("kin", "visit", "past", "because", "is", "ill", "past"),
    ("kin", "look for", "past", "but", "same", "find", "-past"),
    ("topic", "-understand", "past", "because", "is", "difficult", "past"),
    ("question", "-answer", "past", "because", "is", "difficult", "past"),
    ("city", "visit", "past", "and", "same", "talk about", "fut"),
    ("at", "know", "pres", "and", "same", "go to", "pres"),
    ("at", "know", "pres", "but", "same", "go to", "-pres"),
    ("film", "see", "past", "and", "same", "talk about", "prog"),
    ("film", "watch", "past", "but", "is", "long", "past"),
    ("song", "learn", "past", "and", "same", "sing", "pres"),
    ("song", "listen to", "past", "because", "is", "beautiful", "past"),
    ("picture", "choose", "past", "and", "give", "give", "past"),
    ("transit", "wait for", "prog", "but", "is", "late", "pres"),
    ("transit", "miss", "past", "because", "does", "leave", "plup"),
    ("pet", "save", "past", "and", "same", "look after", "prog"),
    ("door", "close", "past", "but", "other", "open", "past"),
    ("light", "turn on", "past", "but", "other", "turn off", "past"),
    ("picture", "look at", "prog", "because", "is", "beautiful", "pres"),
    ("tool", "need", "pres", "but", "same", "lose", "perf"),
    ("tool text", "need", "pres", "and", "same", "look for", "prog"),
    ("trip", "dream of", "prog", "and", "same", "think about", "pres"),
    ("plant", "buy", "past", "because", "is", "beautiful", "past"),
    ("room", "clean", "past", "because", "is", "dirty", "past"),
]  # fmt: skip
