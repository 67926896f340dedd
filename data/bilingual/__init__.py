"""A typed English-French grammar that writes a parallel corpus with gold word alignments.

Every constituent is built in both languages at once: a rule emits words that carry link keys, and two words are
aligned when they share a key.  Nothing is aligned afterwards.  The English sentence determines the French one.

Conventions that make the translation a function of the English sentence:
* "you" is "tu", unless a vocative in the sentence says otherwise ("sir", "madam", "children", ...);
* "I" and "we" are masculine, "they" is masculine unless a feminine antecedent stands earlier in the sentence;
* "it" always has an antecedent earlier in the sentence, whose French gender decides between "il" and "elle";
* the simple past of an event is a passé composé, the simple past of a state is an imparfait.

The modules from bottom to top; each uses only those above it in this list:

    words             words with link keys, fragments
    spelling          elision, contraction, the finished pair
    english_forms     English inflection
    french_forms      French inflection
    nouns, adjectives, verbs, circumstances, situations
                      the lexicon
    reference         persons, pronouns, noun phrases
    clause            a clause as a structure
    english_clause    its English
    french_clause     its French
    realisation       both, linked

and the drawing of sentences, where each class extends the one before:

    chance, persons, determiners, noun_phrases, participants, adverbials, frames, copulas, clauses, relatives,
    questions, sentences, complex_sentences, discourse

    filters           sentences not to keep
    generation        the corpus: its parts and its files
"""
