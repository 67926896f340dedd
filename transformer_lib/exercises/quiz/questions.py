"""The quiz's questions by lesson; each wrong answer says why it is wrong.  Lesson 19."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

LETTERS = "ABCD"


@dataclass(frozen=True)
class Question:
    """A question with its choices, each with what is to be said to whoever picks it.

    Backticks mark code. `shown` is the section of the lesson that shows the right answer.
    """

    lesson: str
    name: str
    text: str
    choices: dict[str, str]
    right: str
    shown: str

    def lettered(self) -> Iterator[tuple[str, str, str]]:
        """The letter of each choice, the choice, and its explanation."""
        for letter, (choice, why) in zip(LETTERS, self.choices.items(), strict=False):
            yield letter, choice, why


QUESTIONS = [
    Question(
        "00",
        "a_column",
        "The targets are 0, 1, 2, 3 in shape (4,), the predictions 0, 1, 2, 3 in shape (4, 1). "
        "What is `(target - prediction).abs().sum()`?",
        {
            "0, since all four predictions are right.": "You pair the first with the first, the "
            "second with the second. torch meets each target with every prediction, because one "
            "of them is a column.",
            "An error, since the shapes differ.": "You take equal shapes for a condition. torch "
            "lines them up from the right and repeats what is missing, without a warning.",
            "20, the sum of sixteen differences.": "(4,) and (4, 1) make a table of (4, 4), and "
            "only its diagonal is zero.",
        },
        "C",
        "What people get wrong",
    ),
    Question(
        "00",
        "a_thousand_more",
        "The scores 0, ln 2 and ln 5 have the weights ⅛, ¼ and ⅝. You add 1000 to every score and "
        "call `softmax`. What are the weights now?",
        {
            "Nearly 0, 0 and 1: large scores make softmax choose.": "Multiplying the scores does "
            "that, for it widens their gaps. Adding the same number to all leaves every gap as it "
            "was.",
            "The same as before.": "The factor e¹⁰⁰⁰ stands above and below and cancels.",
            "Nearly ⅓ each: beside 1000 the small differences vanish.": "They would, if weights "
            "were proportional to the scores. They are proportional to eˢ, and there only "
            "differences count.",
            "NaN: e¹⁰⁰⁰ does not fit into 32 bits.": "True of the formula as it is written. "
            "`softmax` subtracts the largest score first, so that its largest exponential is e⁰.",
        },
        "B",
        "Softmax: from scores to weights",
    ),
    Question(
        "00",
        "sums_of_rows",
        "`x` has the shape (4, 3). What does `x / x.sum(dim=-1)` do?",
        {
            "It divides each row by its sum.": "That is what was meant. The sums have the shape "
            "(4,), and torch lines them up with the last axis, which has 3.",
            "It divides each column by its sum.": "`sum(dim=-1)` adds along the last axis, and so "
            "gives sums of rows; and four of them do not fit three columns.",
            "It raises an error.": "Lined up from the right, 4 meets 3. `keepdim=True` makes it (4, "
            "1). With a square `x` there is no error, and the result is wrong.",
        },
        "C",
        "When shapes differ",
    ),
    Question(
        "00",
        "eight_mixtures",
        "Weights of shape (8, 1, 5), times values of shape (8, 5, 3), by `@`. What comes out?",
        {
            "(8, 8, 3): each row of weights meets each table.": "You cross the batch with itself. "
            "The first of each meets the first, the second the second, and so on.",
            "(8, 5, 3): each value, times its weight.": "That is `*`, number by number. `@` adds the "
            "five products up as well.",
            "(8, 1, 3): one mixture of each table.": "Eight products of (1, 5) with (5, 3): a row of "
            "weights times a table of values.",
            "(8, 3): the axis of length 1 goes.": "A product of (1, 5) with (5, 3) is (1, 3), a "
            "table with one row. Nobody takes that axis away.",
        },
        "C",
        "Many matrix products at once",
    ),
    Question(
        "00",
        "the_wrong_axis",
        "Scores of two queries with three keys, shape (2, 3). You call `softmax(dim=0)`. What adds "
        "up to 1?",
        {
            "Each column: the queries share out a key.": "Axis 0 are the queries. With a single query "
            "every weight would be 1.",
            "Each row: a query's weights over the keys.": "So it should be, and so it is with `dim=-1`. "
            "The number names the axis along which one adds.",
            "All six numbers together.": "That takes both axes. `softmax` goes along one, and makes "
            "weights of each line of it.",
        },
        "A",
        "What people get wrong",
    ),
    Question(
        "01",
        "shuffled_together",
        "In attention you permute the keys and the values together, both in the same order. What "
        "happens to the output?",
        {
            "Nothing: each weight travels with its value.": "Key and value of a thing move "
            "together, and a sum has no order.",
            "Its rows are permuted in that order, too.": "The output has a row for each query, and "
            "the queries stayed where they were. Permute those, and the rows follow.",
            "Every query now gets another thing's value.": "That happens if the values move alone. "
            "Here key and value of each thing are still a pair.",
        },
        "A",
        "Break it: keys and values out of step",
    ),
    Question(
        "01",
        "a_thicker_book",
        "Attention over five things: the value of one grows from 300 to 3000, its key stays, and "
        "so do the other keys. What becomes of its weight for the same query?",
        {
            "It grows, and the other weights shrink to make room.": "You let the value compete for "
            "attention. Only query and key enter the score, and the weights are fixed before a "
            "value is touched.",
            "It is ten times as large.": "The product of weight and value is, and that goes into "
            "the output. The weight itself is computed from query and key.",
            "It stays as it was: the key has not changed.": "With any values at all the weights "
            "are the same.",
        },
        "C",
        "What people get wrong",
    ),
    Question(
        "01",
        "out_of_range",
        "Attention looks five things up, with the values 300, 20, 10, 10 and 5. With which query "
        "is the output larger than 300?",
        {
            "With a long one, which makes the scores large.": "Then nearly all the weight goes to "
            "one thing, and the output is what that has, at most 300.",
            "With one that fits two things at once.": "They have to share the weight. What is "
            "mixed half and half lies between the two.",
            "With none.": "Weights are positive and add up to 1, so a mixture lies between the "
            "smallest and the largest value.",
        },
        "C",
        "Query, key, value",
    ),
    Question(
        "01",
        "seven_wide",
        "Two queries and five keys are 3 numbers wide, the five values 7. What is the shape of the "
        "output?",
        {
            "(2, 7): a mixture of values for each query.": "Queries and keys must be alike in width. "
            "Values only have to be as many as the keys.",
            "(2, 3): as wide as the queries.": "Their width goes into the scores and is gone, each "
            "score being one number.",
            "None: values must be as wide as keys.": "They never meet. A score compares query and key, "
            "and a weight multiplies a value, however wide it is.",
            "(2, 5): a number for each key.": "Those are the weights. They are multiplied with the "
            "values and added up.",
        },
        "A",
        "Query, key, value",
    ),
    Question(
        "01",
        "very_hot",
        "Five things have the scores 6, 4, 2, 0 and 0, and the temperature is 1000. Which weight "
        "does the first one get?",
        {
            "About ⅕: all five scores are next to 0.": "Hot makes all alike, and the look-up "
            "returns an average.",
            "½: it has 6 of the 12 points.": "Weights would go by points, if nobody took the "
            "exponential. Here it is taken of 0.006.",
            "0.006: its score is divided by 1000.": "That is what goes into the exponential. e to "
            "the 0.006 is about 1, as it is for the others.",
            "Nearly 1: what is likely becomes likelier.": "Cold does that. Divided by 1000, all "
            "five scores are next to 0.",
        },
        "A",
        "Hard or soft?",
    ),
    Question(
        "02",
        "an_error_of_zero",
        "Pooling with a Gaussian kernel of width h. You learn w = 1/h by predicting each training "
        "point from all fifty, itself included. The training error goes towards 0, and w grows and "
        "grows. What do you change first?",
        {
            "The number of updates: stop before it overfits.": "Stopping early hides the symptom. "
            "At every w the point still finds its own answer among the keys, so this error cannot "
            "tell a good w from a bad one.",
            "The keys: leave each point out of its own prediction.": "Only then does the error ask "
            "what the others know, and w settles.",
            "The learning rate: lower it, so that w settles.": "You take the growth for an "
            "overshoot. Here the best w is infinite, and a lower rate only walks there more "
            "slowly.",
            "Nothing: an error of 0 is what training is for.": "A point that predicts itself shows "
            "no skill. On test points the error is far larger.",
        },
        "B",
        "Learn the width",
    ),
    Question(
        "02",
        "more_points",
        "Gaussian pooling with width 1, on noisy points of a wavy curve: first on 50 of them, then "
        "on 20,000. Where does its error against the true curve go?",
        {
            "To 0: with enough data, pooling finds the true curve.": "It would if the width shrank "
            "with the data. At width 1 each hill is averaged with its valleys, however many points "
            "there are.",
            "Nowhere: the points are as noisy as before.": "Each point is. But a prediction "
            "averages more and more of them, and the noise averages out.",
            "To a number well above 0: what is smeared out stays.": "It converges, but to the "
            "curve that the width has smeared out.",
            "Up: more points bring more noise.": "You add up the noise of the points. Pooling "
            "divides by their number, so that more of them leave less noise.",
        },
        "C",
        "What people get wrong",
    ),
    Question(
        "02",
        "no_width_left",
        "In Nadaraya-Watson pooling the score is −((x − xᵢ)w)²/2. You set w = 0. What does it predict?",
        {
            "0, as all scores are 0.": "Scores of 0 are weights of 1/n each: e⁰ = 1. What is mixed are "
            "the values.",
            "The value of the nearest point.": "That comes with a very large w, where the nearest "
            "takes all. At 0 near and far are alike.",
            "The mean of all values, everywhere.": "All scores are equal, so all weights are: average "
            "pooling.",
        },
        "C",
        "Learn the width",
    ),
    Question(
        "02",
        "far_from_all",
        "Fifty points lie at 0, 0.1, … 4.9. You ask a Gaussian kernel of width 1 at x = 25. How are "
        "the weights shared out?",
        {
            "1/50 each: all are equally far.": "Not equally: the last is a tenth nearer than the one "
            "before, and at this distance that is 2 in the exponent.",
            "The last point gets most of it.": "0.87. A softmax looks at differences of scores, and "
            "they grow with the distance. It is not a sign of trust.",
            "All are 0: nothing is near.": "The kernel's values are next to 0, but they are divided by "
            "their sum, which is as small.",
        },
        "B",
        "What people get wrong",
    ),
    Question(
        "03",
        "padding_of_zeros",
        "Two rows of zeros are appended to the four vectors of “I'm home.” as padding, to keys and "
        "values alike; the scores are dot products, and nothing is masked out. What becomes of the "
        "output of `home`?",
        {
            "It stays: the scores of padding are 0, so its weights are.": "A score of 0 is no "
            "weight of 0. It becomes e⁰ = 1, and enters the sum.",
            "It stays: the values of padding are 0 and add nothing.": "They add nothing, but their "
            "weight is missing elsewhere: the real values are multiplied by less.",
            "It becomes NaN: a vector of zeros has no direction.": "A cosine would divide by its "
            "length. A dot product divides by nothing, it is just 0.",
            "It shrinks: each row of padding takes some weight.": "e⁰ = 1 is not nothing. Its "
            "value adds nothing, and the real rows get less.",
        },
        "D",
        "Break it: change what is masked out",
    ),
    Question(
        "03",
        "zero_and_stop",
        "Four tokens, in whose vectors no entry is below 0 and some are above, and two rows of "
        "padding, zeros; the scores are dot products. You take the softmax over all six scores, "
        "set the weights of the padding to 0, and stop there. Then the padding is made of fives. "
        "Which of the four tokens' outputs move?",
        {
            "None: a weight of 0 lets no part of a value through.": "Its value does not come "
            "through. Its score does: it has changed the other weights of the row.",
            "All four: the padding's scores are in every row's sum.": "They make the other weights "
            "smaller. Divide each row by its sum, or fill with −∞ before.",
            "Only those that had given the padding more weight than the others had.": "All had given it "
            "some. A score of 0 becomes e⁰ = 1, and no softmax gives a weight of 0.",
        },
        "B",
        "Break it: change what is masked out",
    ),
    Question(
        "03",
        "no_tanh",
        "You take the tanh out of the additive score, w_vᵀ tanh(W_q q + W_k k). Two different "
        "queries attend to the same keys. How do their weights differ?",
        {
            "As before: W_q still makes two queries of them.": "It does, but each query's part is "
            "one number, added to the scores of all keys alike. Softmax does not see it.",
            "In sharpness: the longer query chooses more clearly.": "That is the dot product, "
            "where the query multiplies. Here it is only added, and no gap between two scores "
            "grows.",
            "Not at all: the keys alone decide.": "The query adds the same number to the score of "
            "every key, and softmax does not see it.",
        },
        "C",
        "What if query and key differ in width?",
    ),
    Question(
        "03",
        "two_and_five",
        "A query has 2 numbers, a key has 5. What does the score qᵀWk need?",
        {
            "W of shape (2, 5).": "A row for each number of the query, a column for each of the key. "
            "It brings the key to the query's width.",
            "W of shape (5, 2).": "That one fits kᵀWq. Here q stands on the left, so W has a row for "
            "each number of the query.",
            "There is none: widths must be equal.": "They must for qᵀk. W is there to bring one to "
            "the other's width.",
        },
        "A",
        "What if query and key differ in width?",
    ),
    Question(
        "03",
        "all_hidden",
        "All keys of a row are masked out, and all its scores −∞. What does torch's plain `softmax` make "
        "of it?",
        {
            "Zeros: the row may attend to nothing.": "That is what our `masked_softmax` gives, because somebody "
            "decided so. It does not follow from the formula.",
            "Equal weights, as all scores are equal.": "With any finite number in their place, yes: "
            "−10⁹ in all places gives them. −∞ less −∞ is no number.",
            "NaN: even the largest score is −∞.": "The largest is subtracted first, and −∞ less −∞ is "
            "not a number.",
        },
        "C",
        "A row that may attend to nothing",
    ),
    Question(
        "04",
        "why_the_root",
        "The entries of q and k are independent, with mean 0 and variance 1, and d = 256. Why is "
        "the score divided by √d, and not by d?",
        {
            "It hardly matters: softmax looks at the order of the scores.": "The order says who "
            "is ahead, the gaps say by how much. Divided by d, all weights would be nearly equal.",
            "Since a sum of d such products spreads over √d.": "Its variance is d. Divided by d "
            "itself the spread would be 1/√d, and softmax an average.",
            "√d is the length of a key, so that the score becomes a cosine.": "A cosine divides "
            "by both lengths and cannot pass 1. The scaled score has variance 1, and long vectors "
            "still win.",
            "It hardly matters: the next layer can undo any factor.": "You think of a linear "
            "factor that later weights absorb. A softmax stands in between, and has already "
            "averaged everything.",
        },
        "B",
        "Divide by √d",
    ),
    Question(
        "04",
        "four_times_as_wide",
        "Independent entries with mean 0 and variance 1, vectors 64 wide, scores divided by 8. You "
        "make the vectors four times as wide and go on dividing by 8. What is the scores' standard "
        "deviation?",
        {
            "1, as before: it was scaled.": "It was scaled for a width of 64. A sum of 256 "
            "products spreads over 16, and 16/8 is not 1.",
            "2: a sum of 256 products spreads over 16.": "16/8 = 2: four times the terms, four "
            "times the variance, twice the spread.",
            "4: there are four times as many terms.": "That is the variance. The standard "
            "deviation is its root.",
        },
        "B",
        "Divide by √d",
    ),
    Question(
        "04",
        "mean_and_median",
        "d = 4096, a thousand random queries. The mean length of ∂L/∂q is larger without √d than "
        "with it. What do you conclude?",
        {
            "That gradients explode without the root.": "A mean can be made by few. Here a "
            "handful of queries have large gradients, and the middle one has next to none.",
            "That there is a bug: without the root they vanish.": "For most queries they do. The "
            "few whose two best scores are close are pulled all the harder, and the mean is "
            "theirs.",
            "That a smaller learning rate can replace the root.": "You see one gradient too large "
            "for all. A smaller rate does not help the many that feel nothing.",
            "Nothing, before you have seen the median.": "The median is nearly 0: most queries "
            "are saturated, and a few make the mean.",
        },
        "D",
        "What does saturation do to a gradient?",
    ),
    Question(
        "04",
        "whose_width",
        "Inputs have 64 numbers; the queries and keys that are made of them have 16. By what should "
        "the scores be divided?",
        {
            "By 8, the root of the input's width.": "The input's width does not enter: the sum of a "
            "score has as many terms as the query has numbers.",
            "By 4, the root of the query's width.": "A score is a sum of 16 products; if they are "
            "independent, with variance 1, its variance is 16.",
            "By 16, as it has 16 terms.": "That is its variance, if each term has 1. What spreads is "
            "the root of it.",
        },
        "B",
        "What people get wrong",
    ),
    Question(
        "04",
        "where_it_slopes",
        "Two keys have the weights p and 1 − p. How fast can p change with its own score?",
        {
            "By p(1 − p): at most ¼, where p is ½.": "Near 0 and near 1 it hardly changes at all. "
            "That is saturation.",
            "By e to the score: ever faster.": "The exponential grows so, but it is divided by the "
            "sum, in which it stands as well.",
            "By 1 − p: fastest where p is 0.": "You forget the factor p. A weight of 0 does not come "
            "back by a small push.",
            "By p: fastest where it is 1.": "A weight of 1 cannot grow, and it is as hard to take away "
            "from it.",
        },
        "A",
        "What does saturation do to a gradient?",
    ),
    Question(
        "05",
        "divided_by_all",
        "Somebody adds up −ln p over the real words and divides by all positions, padding too. "
        "Then the batches get more padding. What does this loss do?",
        {
            "It falls, though the model is the same.": "The sum stays and the divisor grows: the "
            "number praises the batch.",
            "It rises: the model is unsure at padding.": "At padding it may be as unsure as it "
            "likes. Those positions are not in the sum.",
            "It stays: padding is not in the sum.": "It is not in the sum, but in the number that "
            "one divides by.",
        },
        "A",
        "What does a word cost?",
    ),
    Question(
        "05",
        "thirty_pads",
        "An untrained GRU reads “Go.” and then thirty `<pad>`, and its last state is handed on. "
        "Where is that state?",
        {
            "Where “Go.” alone ends: padding means nothing.": "It means nothing to you. To the "
            "network `<pad>` is a word with a vector, and each one moves the state.",
            "At 0: without input a state fades.": "There is an input, the vector of `<pad>`. The "
            "state goes where that one pulls it.",
            "Near that of any other sentence before thirty pads.": "So much padding wipes both "
            "out. (In training a GRU may learn to keep its state, but nothing promises that it "
            "does.)",
        },
        "C",
        "Break it: read the padding",
    ),
    Question(
        "05",
        "two_sentences",
        "Two translations: `elle est chez elle ce soir .`, right word for word, and `il pleut` in "
        "place of `va !`. Alone, their BLEU is 100 and 0. What is it as a corpus?",
        {
            "50: a corpus is the mean of its sentences.": "You average sentences. Corpus BLEU "
            "first adds up the matches and the runs of all sentences, and long sentences bring "
            "more of them.",
            "About 90: matches and runs are added up.": "7 of 9 words, 6 of 7 pairs, 5 of 5 "
            "triples and 4 of 4 runs of four match.",
            "0: a product with one factor of 0 is 0.": "It is for the second sentence alone. In "
            "the corpus no length of run is without a match.",
        },
        "B",
        "Does it translate?",
    ),
    Question(
        "05",
        "one_word_late",
        "Teacher forcing, target `je suis chez moi .`. Where the decoder must say `chez`, which word "
        "has it just read?",
        {
            "`chez`, the word of that place.": "Then it would only copy. It reads one place late.",
            "Its own last word, right or wrong.": "So it goes when it translates, free running. The "
            "teacher gives the right word in any case.",
            "`suis`, whatever it said before.": "It reads `<bos> je suis`, one place late, and the "
            "right words.",
            "`moi`, the word that follows.": "What follows is not said yet. When it translates, "
            "nobody could give it.",
        },
        "C",
        "What does the decoder read?",
    ),
    Question(
        "05",
        "even_odds",
        "A model finds all 2448 words equally likely. What are its loss per word and its perplexity?",
        {
            "1/2448 and 2448.": "The first is the probability. The loss is the logarithm of its "
            "inverse, ln 2448.",
            "0 and 1: it makes no mistake.": "So pays a model that is sure and right. This one has "
            "no opinion.",
            "7.8 and 2448.": "ln 2448 ≈ 7.8, and e to that is 2448: it hesitates among all words.",
            "2448 and 7.8.": "The other way round: the perplexity is e to the loss.",
        },
        "C",
        "What does a word cost?",
    ),
    Question(
        "06",
        "the_word_of_step_3",
        "Bahdanau's decoder under teacher forcing, steps 0 to 6. You exchange the word that step "
        "3 reads. Which rows of the attention map change?",
        {
            "Row 3 alone: there it is read.": "It is read in step 3, but after the look: the "
            "query is the state before the step. And what was read is carried on into later "
            "states.",
            "Rows 3 to 6: from there on it is known.": "Nearly. In step 3 the decoder looks first "
            "and reads then, so row 3 is settled before the word is known.",
            "All rows: the map is computed at once.": "That is the Transformer's training, and "
            "even there earlier rows would not move. A recurrent decoder goes step by step.",
            "Rows 4 to 6: step 3 has looked already.": "First look, then step. A word can change "
            "the next look, and those after it.",
        },
        "D",
        "First look, then step",
    ),
    Question(
        "06",
        "key_and_value",
        "In Bahdanau's attention h is key and value at once. You give the values a matrix W_v of "
        "their own; the decoder goes on to multiply the context by a matrix U. What can it do now "
        "that it could not do before?",
        {
            "Nothing: U and W_v one after the other are one matrix.": "A weighted sum lets a "
            "matrix pass: U Σ αᵢ W_v hᵢ = (U W_v) Σ αᵢ hᵢ.",
            "Look for one thing and fetch another.": "It can do so already: the score goes "
            "through W_k, what is fetched goes through U, and these are two matrices.",
            "Choose more sharply: the values no longer disturb the scores.": "They never did. The "
            "weights are made of queries and keys, before any value is added up.",
        },
        "A",
        "One look, by hand",
    ),
    Question(
        "06",
        "the_article",
        "In an attention map most steps look where the gold alignment leads. The step that says "
        "“le” has its largest weight on the English noun; its gold link leads to “the”, so the "
        "alignment error rate counts an error. What do you make of it?",
        {
            "The map is read one row off, so this link is the next word's.": "Then most rows would "
            "be wrong, and most agree with gold.",
            "It may be a useful look: the noun decides between le and la.": "Attention says where "
            "the model takes something from, not which words translate each other. Whether it "
            "needs that look, only an experiment says.",
            "It needs more updates, which will move the weight to “the”.": "You take the gold "
            "links for its aim. No loss ever asked for them; the model was asked for the next "
            "word.",
        },
        "B",
        "What is a look for?",
    ),
    Question(
        "06",
        "no_choice",
        "In a trained Bahdanau model you set w_v to 0, the vector that makes a score of the tanh. "
        "What is the context at each step?",
        {
            "0: all scores are 0.": "Scores of 0 give equal weights, not weights of 0. The states "
            "are still there.",
            "The mean of the encoder's states.": "Equal weights at each step, whatever the query. "
            "The states are there, the choice is not.",
            "The decoder's state, as it asks.": "The query decides the weights. What is mixed are "
            "the encoder's states.",
        },
        "B",
        "Break it: look without choosing",
    ),
    Question(
        "06",
        "four_of_five_links",
        "Five French words have a gold link each. A map finds four of these links, and for the "
        "fifth word another one. What is its alignment error rate?",
        {
            "0.2: 1 − 2 · 4 / (5 + 5).": "Twice what both have, by what they have together.",
            "0.1: one of ten links.": "Found and gold have ten together, but each right link "
            "counts in both: 1 − 8/10.",
            "0.4: one is missing, and one is wrong.": "Two of ten, then: they are divided by all "
            "links, found and gold.",
            "0.8: four of five are right.": "That is the part that is right. The rate counts "
            "errors: 1 less that.",
        },
        "A",
        "How good is the alignment?",
    ),
    Question(
        "07",
        "the_word_just_written",
        "A Bahdanau and a Luong decoder, same source, same state. You exchange the word that was "
        "just written. In which of them do the weights of this very step change?",
        {
            "In both: a decoder reads before it looks.": "Luong's does. Bahdanau's asks with the "
            "state before the step, which has not read the word yet.",
            "In Bahdanau's: there the context enters the state.": "It does, and so steers later "
            "steps. This step's query was taken before the word came in.",
            "In Luong's: it steps first and then asks.": "Its query is the new state, which has "
            "read the word.",
            "In neither: keys and values are the same.": "They are, but weights need a query as "
            "well. In one of the two the query has read the word.",
        },
        "C",
        "When does the decoder ask?",
    ),
    Question(
        "07",
        "no_gaussian",
        "Luong's local-p attention keeps its window around p_t, but loses its Gaussian. Which "
        "gradient reaches W_p, the matrix that predicts p_t?",
        {
            "None at all: a mask carries no gradient.": "A position is inside or outside. Between "
            "two jumps nothing changes when p_t moves, and autograd has no road back.",
            "A smaller one, from the two edges of the window.": "The edges do move, but in jumps. "
            "A step has the slope 0 on either side, and a mask of True and False carries no "
            "gradient.",
            "The same: p_t still places the window.": "It does, in the forward pass. To learn, a "
            "small move of p_t must change the loss a little, and it changes nothing.",
        },
        "A",
        "A window on the source",
    ),
    Question(
        "07",
        "clear_by_chance",
        "Seven equally good models, three seeds each. A pair is called apart if all three runs of "
        "the one lie above all three of the other. How many of the 21 pairs will be apart, on "
        "average?",
        {
            "None: they are equally good.": "Equally good models do not get equal scores. With so "
            "many pairs some are apart by chance.",
            "About five, a quarter: three coins on one side.": "You toss a coin for each seed. But "
            "all three must lie above all three, which is rarer than three single wins.",
            "About eleven, half of them.": "Half would be right for the sign of one difference. "
            "Here nine comparisons must agree.",
            "About two, one in ten.": "In 2 of the 20 orders of six runs they are apart.",
        },
        "D",
        "Seven models, one budget",
    ),
    Question(
        "07",
        "inside_the_window",
        "Local attention, D = 2, a source of twenty words, and p_t = 7. How many words may this step "
        "attend to?",
        {
            "Two, one to each side.": "D is the distance on one side: two to the left, two to the "
            "right, and the centre.",
            "Four, two to each side.": "You leave out the centre, which belongs to the window like its "
            "neighbours.",
            "Five, 5 to 9.": "7 − 2 to 7 + 2, and the centre itself.",
            "Eight, 0 to 7.": "You think of a causal mask, which masks out what comes later. The source "
            "is all there.",
        },
        "C",
        "A window on the source",
    ),
    Question(
        "08",
        "dog_bites_man",
        "“dog bites man” and “man bites dog” go through two layers of self-attention, without "
        "positions. What about the vector of `dog`?",
        {
            "It differs: in one sentence `dog` stands first, in the other last.": "You know that; "
            "the layer does not. No matrix of it depends on a position, and a sum has no order.",
            "It is the same in both, after any number of layers.": "Shuffled inputs give equally "
            "shuffled outputs, and so they enter the second layer.",
            "It is the same after one layer, and differs after two.": "Two layers help where a "
            "word must first take in something. Here the second layer gets the same three vectors "
            "again, in another order.",
        },
        "B",
        "Shuffle the words",
    ),
    Question(
        "08",
        "which_noun",
        "One layer: `it` should put its weight on “animal” if the sentence ends in “tired”, and on "
        "“street” if it ends in “wide”. The sentences have the same words at the same positions but for "
        "the last. The layer gets half of them right. What does it lack?",
        {
            "Positions: it cannot tell the nouns apart.": "It can, they are different words. And "
            "positions would be the same in all sentences: they tell `it` nothing of the last word.",
            "Width or updates: the task is hard.": "No width helps. The scores of `it` with the "
            "two nouns are made of these three words alone.",
            "A shorter way: the last word is too far off.": "In attention every word is one "
            "hand-over away. The adjective changes the output of `it`, but not its query.",
            "A second layer: `it` always asks the same.": "It asks with its own vector, and that "
            "is the same for “tired” and “wide”. First it has to take in the adjective.",
        },
        "D",
        "What one layer cannot ask",
    ),
    Question(
        "08",
        "one_matrix",
        "One matrix serves as W_Q and as W_K. Two tokens should each put more weight on the "
        "other than on themselves. Why can they not?",
        {
            "Because each token then attends to itself alone.": "Often, not always: in “I'm home.” "
            "with X for both, the full stop gives `'m` more. A long vector may win against one's own.",
            "A score is never above the mean of the two self-scores.": "So one of the two, at "
            "least, gives itself no less weight than the other.",
            "They can: the softmax of symmetric scores is not symmetric.": "The weights are not, "
            "true. But within a row softmax keeps the order of the scores, and in one of the two "
            "rows the other is not ahead.",
            "Half of the parameters are missing.": "Make the one matrix twice as wide, and it "
            "still fails. What is missing is a difference between asking and being found.",
        },
        "B",
        "Break it: one matrix for query and key",
    ),
    Question(
        "08",
        "sixteen_layers",
        "A causal convolution of width 3 reads three positions, its own and the two before. After how "
        "many layers does position 32 first hear of position 0?",
        {
            "1, as all run in parallel.": "All positions are computed at once, true. But each layer "
            "takes a signal two positions on, and no further.",
            "16, two positions a layer.": "⌈32 / 2⌉: the longest way of ⌈(n − 1)/(k − 1)⌉ layers, with n "
            "= 33 and k = 3.",
            "32, a position a layer.": "So slow is a recurrent network, step by step. A window of three "
            "takes a signal two positions on.",
            "11, three positions a layer.": "The window has three positions, but one is its own: a signal "
            "comes two positions on.",
        },
        "B",
        "How far is it from one word to another?",
    ),
    Question(
        "08",
        "when_the_map_wins",
        "Self-attention takes 2n²d multiplications for scores and sum, and 4nd² for its four "
        "projections. With d = 512, for which lengths n do scores and sum cost more?",
        {
            "For n above 1024, twice d.": "2n²d = 4nd² at n = 2d. Below that the four projections "
            "cost more.",
            "For n above 256, half of d.": "Turned round: the projections have the larger factor, "
            "so the other part needs longer texts, not shorter ones.",
            "For all n, since n² grows faster.": "It grows faster, but begins far below: at n = 10 "
            "scores and sum are a hundredth of the projections.",
            "For n above 512, where n passes d.": "You leave out the factors: 2n against 4d.",
        },
        "A",
        "What does a layer cost?",
    ),
    Question(
        "09",
        "one_glance",
        "Why several heads? One token wants to know the values of two others, independent normal "
        "numbers, and has one row of weights. With ½ and ½, the best guess of each value misses "
        "half of its variance. Which row misses less, on the mean of the two?",
        {
            "0.9 and 0.1: one value is known almost wholly.": "And the other is missed almost "
            "wholly. What one side wins the other loses, and the mean stays ½.",
            "½ and ½, in a wider head.": "You look for room. A wider vector has more entries, but "
            "all of them are mixed with the same weights, and the mixture is the trouble.",
            "None: the two parts missed add up to 1 or more.": "What one side wins the other "
            "loses. Two wishes need two rows.",
        },
        "C",
        "Two neighbours, one row of weights",
    ),
    Question(
        "09",
        "nothing_to_learn",
        "A dot product has nothing to learn. What are several heads good for, then?",
        {
            "Each head compares projected vectors.": "Every head learns a measure of its own, qᵀk "
            "= xᵀ(W_Q W_Kᵀ)y, as a convolution learns several filters.",
            "They vote: the mean of many noisy matches is steadier.": "You think of repeated "
            "measurements. The same dot product of the same vectors gives the same number every "
            "time.",
            "Each head reads its own part of the embedding.": "The projected vectors are dealt "
            "out, not the embedding. Every head's projection reads the whole input.",
            "They make the layer larger.": "At one d_model eight heads have as many parameters as "
            "one. Only the columns are dealt out differently.",
        },
        "A",
        "Project: one product for all heads",
    ),
    Question(
        "09",
        "an_eighth_each",
        "d_model = 512. You go from one head to eight. What becomes of the layer's parameters?",
        {
            "Eight times as many, a set for each head.": "Each head has its own, but for an eighth of "
            "the width: the columns are dealt out.",
            "An eighth: heads are narrow.": "Each head is. There are eight of them, and W_O reads all "
            "of them side by side.",
            "As many as before.": "Three matrices of 512 columns, dealt out to one head or to eight, "
            "and W_O.",
        },
        "C",
        "Project: one product for all heads",
    ),
    Question(
        "09",
        "view_alone",
        "`(B, T, C)` becomes `(B, H, T, D)` in one `view`, and goes back in one `view`. Four "
        "tokens, two heads. Which tokens does output 0 hear?",
        {
            "None: `view` raises an error.": "It refuses where numbers are out of reading order. "
            "Here they are in order, and the count is right, so it cuts.",
            "All four: only the names of the heads have changed.": "You expect the features to be "
            "cut. In reading order the first half of the numbers is the first half of the "
            "sentence.",
            "Itself alone.": "That would be four heads. With two, each holds two tokens, cut into "
            "pieces.",
            "0 and 1: its half of the sentence.": "The heads have cut the sentence, not the "
            "width. Such a layer trains, and its loss falls.",
        },
        "D",
        "Break it: forget the transpose",
    ),
    Question(
        "09",
        "default_weights",
        "Head 0 attends to token 0 alone, head 1 to token 1 alone. Which weights does "
        "`nn.MultiheadAttention` return, if you do not ask otherwise?",
        {
            "½ and ½, the mean of both.": "`average_attn_weights` is True by default. No head attends "
            "like this, and the mean hides it.",
            "Two rows, (1, 0) and (0, 1).": "Those you get with `average_attn_weights=False`. Without "
            "it they are averaged over the heads.",
            "(1, 0), those of head 0.": "No head is preferred. All are added up and divided by their "
            "number.",
        },
        "A",
        "What people get wrong",
    ),
    Question(
        "10",
        "what_rotary_lacks",
        "A model with one layer of attention has rotary positions and no others, and reads rows of "
        "digits. Which of these tasks does it not learn?",
        {
            "Say the sequence backwards.": "The mirror image stands another distance away at each "
            "position, and rotary attention hears distances alone.",
            "Say the digit three positions back.": "That is one distance, the same everywhere: "
            "just what it hears.",
            "Say the most frequent digit.": "A question about the bag, for which no order is "
            "needed, and none harms.",
        },
        "A",
        "Added or turned?",
    ),
    Question(
        "10",
        "a_quarter_turn",
        "A pair turns by a quarter from each position to the next. At position 0 its (sin, cos) is "
        "(0, 1). What is it at position 3?",
        {
            "(1, 0): a quarter turn.": "That is position 1. Position 3 is three quarters on, or one "
            "back.",
            "(0, −1): half a turn.": "That is position 2, opposite to where it began.",
            "(−1, 0): three quarters.": "The sine of 270° is −1, its cosine 0.",
            "(0, 1), as at any position.": "After four positions it is there again. Until then each "
            "position has its own.",
        },
        "C",
        "Why a sine and a cosine?",
    ),
    Question(
        "10",
        "no_cosines",
        "Why do sines come with cosines? You keep the sines alone, at all their angular "
        "frequencies. What can a layer no longer do?",
        {
            "Count as far: the cosines made the code twice as long before it repeats.": "Both "
            "have the same wavelength, so neither adds to the other's. The slowest wave sets how "
            "far it goes.",
            "Move a code k positions on with one matrix for all positions.": "sin(a + b) needs sin a "
            "and cos a. With both, one turn does it at every position. (All sines are 0 at position "
            "0, and a matrix makes zeros of zeros.)",
            "Nothing: a cosine is the same wave, a quarter of a wave apart.": "Just that quarter is missing. "
            "Out of sin ωt alone no factor makes sin ω(t + k) at all positions.",
        },
        "B",
        "Why a sine and a cosine?",
    ),
    Question(
        "10",
        "a_bag_backwards",
        "Twelve random digits are to be said backwards, by a model without positions. Which "
        "fraction of right digits can it reach at best?",
        {
            "All, with enough layers.": "Layers compute with what is known. Every layer here is "
            "blind to order, and so are all of them together.",
            "One in ten, as by blind guessing.": "It is not blind: it knows which digits there "
            "are, and how many of each.",
            "One in eleven: the mirror image is one of the others.": "One of eleven, but some "
            "digits are there more than once. It may name the most frequent.",
            "About one in four, by naming the most frequent of the others.": "One of the other "
            "eleven digits is in the mirror, each as likely, and the most frequent is there most "
            "often.",
        },
        "D",
        "What can an order-blind model do?",
    ),
    Question(
        "10",
        "one_causal_layer",
        "One layer of attention, no positions, a causal mask. The first two of six tokens change "
        "places. Whose outputs are other vectors than before?",
        {
            "Nobody's: attention does not know the order.": "Without a mask that is right. With one, "
            "token 0 attends to itself alone, and another token stands there now.",
            "All six: a causal mask tells the order.": "Token 2 attends to the same three tokens as "
            "before, and a weighted sum has no order.",
            "Those at positions 0 and 1; the four later ones stay.": "Each later token attends to the "
            "same tokens as before. A second layer would tell the difference.",
        },
        "C",
        "One causal layer, and two",
    ),
    Question(
        "11",
        "up_and_down",
        "The feed-forward network goes from d up to 4d and down again. Next to a single map d → "
        "d, it has",
        {
            "fewer parameters: that is what the detour is for.": "You think of a bottleneck, which "
            "goes down first. Going up costs: d · 4d and 4d · d.",
            "twice as many, since it has two matrices.": "Two, but each is four times as large.",
            "eight times as many: four on the way up, four back.": "4d² and 4d²: two thirds of "
            "the whole encoder layer.",
            "four times as many, since it is four times as wide.": "That is the way up. The way "
            "down is as large once more.",
        },
        "C",
        "One small network for every token",
    ),
    Question(
        "11",
        "no_bend",
        "You take the cut at 0 out of the feed-forward network and make its middle sixty times as "
        "wide. What can it learn by heart now?",
        {
            "More: width is room.": "With the bend it is. Without it two matrices in a row are "
            "one matrix, and their width in the middle does not show.",
            "As much as one matrix d → d.": "W₁W₂ is one, and its error stops at that of the best "
            "linear map.",
            "As much as before: the bend only speeds up learning.": "The bend is no matter of "
            "speed. Without it even the best parameters leave most of the error.",
        },
        "B",
        "One small network for every token",
    ),
    Question(
        "11",
        "a_longer_neighbour",
        "In `train()`, without dropout and with all masks right: a sentence leaves the layer with other numbers when "
        "a longer one shares its batch. Which part do you suspect?",
        {
            "A batch norm: it looks at the whole batch.": "Its mean runs over all tokens of the "
            "batch, those of the neighbour and the padding too.",
            "A layer norm: it takes means.": "It takes them over the entries of one token. "
            "Neither a neighbour nor a length enters.",
            "The feed-forward network: it meets all tokens.": "It meets them one by one, with the "
            "same weights. No token hears another there.",
            "The attention: it mixes tokens.": "It mixes those of one sentence, and the mask "
            "hides the padding. Another sentence is never among its keys.",
        },
        "A",
        "Who hears whom?",
    ),
    Question(
        "11",
        "nothing_written",
        "The network writes nothing for the full stop, (0, 0, 0, 1). What leaves its Add & Norm? "
        "(γ = 1, β = 0.)",
        {
            "(0, 0, 0, 1) itself, in post-norm as well as in pre-norm.": "The sum is that. But "
            "post-norm norms the sum, and the norm has mean 0.",
            "(0, 0, 0, 0), in both.": "You forget the way past the network: what it writes is "
            "added to the token.",
            "Another vector, in both: a norm is in both.": "In pre-norm the norm stands before the "
            "network. The token itself goes past it and is not touched.",
            "(0, 0, 0, 1) in pre-norm, another vector in post-norm.": "Only in pre-norm does the "
            "residual carry a token through untouched.",
        },
        "D",
        "Add & Norm, in two ways",
    ),
    Question(
        "11",
        "twice_the_token",
        "A layer norm with γ = 1, β = 0 and no ε gets (1, 2, 3, 4) and (12, 14, 16, 18). What "
        "comes out?",
        {
            "The same for both.": "The second is twice the first, plus ten. The ten goes with the "
            "mean, the factor with the variance.",
            "The second twice as large.": "A stretch is taken out by the root of the variance, "
            "which grows with it.",
            "The second ten higher.": "A shift moves the mean as well, and that is subtracted "
            "first.",
        },
        "A",
        "Layer norm by hand",
    ),
    Question(
        "12",
        "white_columns",
        "The padding mask closes three columns of the table. Why does it not close the three rows of "
        "the padding as well?",
        {
            "The rows are closed by the causal mask.": "That one masks out the future. A row of "
            "padding may attend to all real tokens before it.",
            "Real tokens must be able to attend to padding.": "A row is a query, a column a key. "
            "Closed columns are just what keeps real tokens from the padding.",
            "Nobody reads those rows, and closed they would be empty.": "The loss leaves them out, and "
            "no token may attend to them. A row that may attend to nothing gives NaN, or needs a "
            "decision.",
        },
        "C",
        "Why columns, not rows?",
    ),
    Question(
        "12",
        "a_score_of_zero",
        "The scores are 1 and 2, and a third one that must be masked out. You put a score of 0 in its "
        "place. Which weight does it get?",
        {
            "0: a score of 0 is no interest.": "Softmax knows no “no interest”. A score of 0 "
            "becomes e⁰ = 1, and only −∞ becomes 0.",
            "Less than 0.01: it has the lowest score.": "The lowest, but by one only. A gap of 1 "
            "is a factor of e, not of a hundred.",
            "⅓: it counts as one of three keys.": "Three equal scores would get ⅓ each. These are "
            "0, 1 and 2.",
            "0.09: less than the others, but more than 0.": "1 / (e + e² + 1), a weight that it "
            "should not have. Hence −∞.",
        },
        "D",
        "Two roads to a causal mask",
    ),
    Question(
        "12",
        "one_who_asks",
        "Cross-attention alone: six target tokens ask five tokens of the memory. You exchange "
        "target token 2. Which rows of the output change?",
        {
            "Row 2 alone.": "Each target token asks for itself, with a query of its own.",
            "All six: it is a key for each.": "The keys are those of the memory. Exchange one of "
            "them, and all six rows change.",
            "None: the memory is as it was.": "What is found is. But row 2 now asks something "
            "else.",
            "Rows 2 to 5: later tokens hear it.": "In causal self-attention they do. Here target "
            "tokens ask, and nobody asks them.",
        },
        "A",
        "Who asks, who answers?",
    ),
    Question(
        "12",
        "our_mask_at_torch",
        "`nn.MultiheadAttention` gets our causal mask as it is, True = may attend. To which tokens does "
        "token 0 attend?",
        {
            "To all later tokens.": "There True means “masked out”, so it attends to the future and "
            "not to itself. The last token may attend to nothing.",
            "To itself alone, as it should.": "With `F.scaled_dot_product_attention` it would. "
            "The two of torch mean the opposite by True.",
            "To all tokens: without `is_causal` no mask is used.": "The mask is used, the other "
            "way round. `is_causal` is a hint beside it.",
        },
        "A",
        "Build: the decoder layer",
    ),
    Question(
        "12",
        "both_masks",
        "Five tokens, the last two of them padding; a causal and a padding mask, True = may "
        "attend. How many of the 25 entries of the table are True in both?",
        {
            "15, the causal triangle.": "1 + 2 + 3 + 4 + 5. Three of these have padding as a key.",
            "9, three tokens by three.": "The pads ask too, two rows with three keys each; and "
            "among the three real tokens the future is masked out.",
            "12, row by row 1, 2, 3, 3, 3.": "Up to oneself, and no padding as a key.",
            "6, the real tokens' own triangle.": "You have closed the rows of the padding as well. "
            "It asks, though nobody reads the answer.",
        },
        "C",
        "Two reasons to mask out a key",
    ),
    Question(
        "13",
        "whose_memory",
        "Three encoder layers, three decoder layers, counted from 0. What does decoder layer 0 get "
        "from the encoder?",
        {
            "The output of encoder layer 0.": "A tempting picture: equal heights. With one layer "
            "on each side it even gives the same numbers.",
            "The output of encoder layer 2.": "All decoder layers read the last one, in which "
            "every source word has been through all layers.",
            "The keys and values of encoder layer 2.": "One tensor is handed over, the memory. "
            "Each decoder layer makes keys and values of it, with matrices of its own.",
        },
        "B",
        "Which memory does a decoder layer read?",
    ),
    Question(
        "13",
        "equal_twins",
        "In one model all layers begin as copies of one. In another one head 1 begins with all the "
        "parameters of head 0, its block of W_O included. No dropout. Which twins become "
        "different?",
        {
            "The layers, from the first update on.": "They read different inputs. The heads stay "
            "one head twice, until something differs, such as their blocks of W_O.",
            "Both: the data will pull them apart.": "Data pull where gradients differ. Two heads "
            "that read the same and are heard by the same numbers get the same pull.",
            "The heads, since they stand side by side.": "Side by side is the trouble: same input, "
            "same way out, same gradient. One above the other is enough to differ.",
            "Neither: equal numbers get equal gradients.": "Equal numbers at equal places do. "
            "Layers stand at different heights and read different inputs.",
        },
        "A",
        "Break it: layers and heads that begin alike",
    ),
    Question(
        "13",
        "few_parameters",
        "The loss hardly falls. `model.parameters()` has the embedding and the generator, and "
        "nothing else. What first?",
        {
            "Look whether the layers stand in a Python list.": "A list hides them from torch, and "
            "an optimizer trains none of them. `nn.ModuleList` shows them.",
            "Raise the learning rate: the rest will follow.": "The rest is not in the optimizer. "
            "No rate moves what it does not hold.",
            "Call `model.train()`: in `eval()` parameters are frozen.": "The mode switches "
            "dropout and batch norm. It neither hides parameters nor freezes them.",
            "Untie the weights: embedding and generator are one.": "Tying saves one table. It "
            "takes no layer off the list.",
        },
        "A",
        "Stack the layers",
    ),
    Question(
        "13",
        "numbers_of_a_layer",
        "d_ff = 4d. How many parameters, as a multiple of d², does a *decoder* layer have? (Leave out "
        "biases and norms.)",
        {
            "8: the network's two matrices.": "4d² up and 4d² down. You forget the two attentions, "
            "each with four matrices.",
            "12: four matrices and the network.": "So many has an encoder layer. A decoder layer has a "
            "second attention, cross-attention.",
            "16: two attentions and the network.": "4 + 4 + 8. Cross-attention costs as much as "
            "self-attention.",
            "24: two encoder layers.": "It has two attentions, but one network.",
        },
        "C",
        "Count it on paper",
    ),
    Question(
        "13",
        "softmax_of_softmax",
        "A model ends in a softmax, and the loss takes one, too. Two tokens; the model gives the right "
        "one a probability of 1. Which one does the loss see?",
        {
            "1: of a certain token nothing is lost.": "The loss takes 1 and 0 for logits, and a gap of "
            "1 is no certainty.",
            "½: two softmaxes make all alike.": "They make it flatter, not flat: the logits 1 and 0 "
            "are still apart.",
            "NaN: probabilities are no logits.": "Any numbers may be logits, also these. Nothing warns, and "
            "the loss never reaches 0.",
            "0.73: e / (e + 1).": "The probabilities 1 and 0 are taken for logits. So the loss stays above "
            "0.31, however right the model is.",
        },
        "D",
        "From vectors to words",
    ),
    Question(
        "14",
        "a_loss_too_good",
        "The loss is 0.02 after one epoch, and BLEU is 0. What first?",
        {
            "Train on: BLEU rises later than the loss falls.": "It does, while the loss is still "
            "high. At 0.02 the model is sure of every token, and there is nothing left to wait for.",
            "Use a beam: greedy search has missed the good sentences.": "A search chooses among "
            "what the model finds probable. It does not turn 0 into a translation.",
            "Compare what the decoder reads with what it must say.": "A wrong shift or a missing "
            "causal mask puts the answer into the input. Alone, the model has nothing to copy.",
            "More dropout: it has learned the sentences by heart.": "After one epoch each was "
            "read once. And by heart it would translate at least the sentences of the training.",
        },
        "C",
        "Break it: the causal mask and the shift",
    ),
    Question(
        "14",
        "the_first_loss",
        "A vocabulary of twelve tokens. Before the first update the loss is 17.9. What does that "
        "say?",
        {
            "Nothing: an untrained model is wrong about most tokens.": "Wrong and unsure would "
            "cost ln 12, about 2.5. This one pays for being sure.",
            "The matrices begin with numbers that are too large.": "Large logits make the model "
            "sure of random tokens, and that costs more than no opinion.",
            "The learning rate is too high.": "No update has been made. A rate cannot have done "
            "anything yet.",
            "The causal mask is missing.": "A leak would make a loss too low, and only after "
            "learning. An untrained model cannot use one.",
        },
        "B",
        "The loop in ten lines",
    ),
    Question(
        "14",
        "the_first_step",
        "Adam, rate 0.01. Three parameters have the gradients 0.001, −1 and 1000. How far does "
        "each of them move in the first step?",
        {
            "0.00001, 0.01 and 10.": "That is plain gradient descent, rate times gradient. Adam "
            "divides each mean by the root of the mean square.",
            "Hardly at all: the running means begin at 0.": "They do, and for that they are "
            "divided by 1 − βᵗ. After the first step they are the gradient and its square.",
            "0.00001, 0.01 and 0.01: the large one is clipped.": "Clipping is another line of the "
            "loop, and shortens all of them together. Adam has no limit for a single one.",
            "0.01 each, against the sign of its gradient.": "m̂ = g and v̂ = g², so the step is "
            "rate · g/|g|, whatever the gradient. Hence warm-up.",
        },
        "D",
        "How large is the first step?",
    ),
    Question(
        "14",
        "wrong_in_company",
        "Alone, every sentence comes out right. Padded to the length of a long one in its batch, it "
        "comes out wrong. The training loss was fine. What first?",
        {
            "The padding mask.": "What it says of a row depends on the length of its neighbours. "
            "Batches of equal lengths hid that in training.",
            "The causal mask.": "Without that the model fails alone as well: it has learned to "
            "read the answer from its right.",
            "The position codes: long sentences have others.": "Padding stands behind the words, so "
            "they keep their positions in any company. Only what follows them is new.",
            "Dropout, still on in the batch.": "Dropout would disturb single sentences, too, and "
            "by chance. This fault comes with the length of the neighbour.",
        },
        "A",
        "Break it: padding mask, norm, warm-up",
    ),
    Question(
        "14",
        "the_least_it_pays",
        "Label smoothing with ε = 0.1. What does the best possible model pay per token?",
        {
            "0: it is right everywhere.": "It would have to be sure, and then pays dearly for the "
            "other tokens, which are wanted a little and get nothing.",
            "More than 0, by ε and the number of tokens.": "It says exactly the smoothed target, "
            "and even then every token that is wanted a little costs a little.",
            "0.9, nearly what the right token should get.": "That is a probability. It pays the "
            "logarithms, each weighed with its wanted probability.",
            "0.1, the ε.": "ε is a probability, and a loss is a mean of logarithms. Both the "
            "number of tokens and ε enter.",
        },
        "B",
        "Nearly sure",
    ),
    Question(
        "14",
        "no_gradient_at_all",
        "AdamW, rate 0.01, decay λ = 0.1. No batch has mentioned a parameter yet, so all its "
        "gradients were 0. It is 2. What is it after the next update?",
        {
            "2: without a gradient nothing moves.": "So it is in Adam. In AdamW the decay stands "
            "beside Adam's step and asks for no gradient.",
            "1.998: times 1 − 0.01 · 0.1.": "The decay takes rate · λ · 2 = 0.002. Adam's own step "
            "is 0.",
            "1.8: λ takes a tenth of it.": "λ is multiplied by the rate as well: a thousandth of "
            "the parameter goes, and not a tenth.",
            "1.99: one step of the rate towards 0.": "The first step of Adam has the length of the "
            "rate if there is a gradient. Here there is none, and the decay is a fraction.",
        },
        "B",
        "A little less, every time",
    ),
    Question(
        "15",
        "four_of_four",
        "A tutorial shows four translations, and all four are right. What do you ask first?",
        {
            "How many parameters the model has.": "You want to compare it with others. Before "
            "that, it must be clear what the four show at all.",
            "Whether the four were in the training set.": "Learned by heart, they say nothing "
            "about the next sentence. And four are few, even if they were not.",
            "What BLEU the four have.": "It says how near the four are to their references, "
            "word for word. It does not say on which sentences.",
        },
        "B",
        "On which sentences?",
    ),
    Question(
        "15",
        "a_silenced_head",
        "One head has the best alignment of all, another the worst. Silenced, the worst costs 6 "
        "BLEU and the best 2. What follows?",
        {
            "The alignment error rate was computed wrongly.": "Rate and cost measure two things, "
            "and may well disagree. Nothing here points to the arithmetic.",
            "The gold alignment is wrong, and the bad map is right.": "Gold says which words "
            "translate each other. A head may attend to other words for good reason, without gold "
            "being wrong.",
            "A map shows where a head looks, not what the model needs.": "A head that is needed "
            "need not attend to the word that is translated. And other heads may bring what a "
            "silenced head no longer brings.",
        },
        "C",
        "Break it: silence a head",
    ),
    Question(
        "15",
        "one_rate_for_all",
        "Eight models are trained with one peak rate, 0.004. With twice that rate bahdanau rises from 68 "
        "to 74 BLEU on `valid`, and dot falls from 68 to 64. What does a table of all eight at "
        "0.004 show?",
        {
            "Which model is best, since all were treated alike.": "Alike is not fair: a rate that "
            "suits one starves another. At 0.004 these two seem level; each at its own best, they "
            "are six points apart.",
            "Nothing: six points of BLEU are noise.": "The seeds of one model lie about one point "
            "apart here.",
            "That bahdanau needs more updates than dot.": "The updates were the same in all runs, and "
            "nobody varied them. A higher rate is not more updates.",
            "Which is best at 0.004, and no more.": "Whoever wants to know which model is best gives "
            "each of them the same tries, and chooses on `valid`.",
        },
        "D",
        "Eight models, two budgets",
    ),
    Question(
        "15",
        "zebra_and_giraffe",
        "“I'm a zebra.” and “I'm a giraffe.”, a vocabulary of words, and neither animal in "
        "`train`. How do the two translations differ?",
        {
            "In nothing: the model reads the same ids.": "Both animals are `<unk>` to it, and it "
            "has no French word for either.",
            "In the animal: an unknown word is copied.": "Some systems copy it. This model has "
            "read `<unk>` and does not know which word stood there.",
            "By chance: the vector of an unknown word is random.": "It is random, but it is one "
            "vector, drawn once. Equal ids give equal translations.",
        },
        "A",
        "Your own sentence",
    ),
    Question(
        "15",
        "half_a_sentence",
        "A translation has 5 tokens, all of them right and in their order; the reference has 10. Its "
        "precisions, of words, pairs and so on, are all 1. What is its BLEU?",
        {
            "100: nothing is wrong in it.": "What is missing is no wrong word. For that BLEU has its "
            "factor, e to the 1 − 10/5.",
            "50: half of it is there.": "Half of the reference is a recall, which BLEU does not "
            "compute. It punishes by e to the 1 − 10/5.",
            "37: e to the 1 − 10/5.": "Times the factor for too short a translation, e to the −1.",
        },
        "C",
        "Build: BLEU by hand",
    ),
    Question(
        "15",
        "at_two_budgets",
        "On `test` model A is clearly better than B after 500 updates, and clearly worse after 2,500. "
        "Somebody asks which of the two is the better model. What may you say?",
        {
            "B, because only the longer training counts.": "The larger budget is another measurement, and "
            "not the true one: a third budget may turn it round again.",
            "Each budget has its answer: say both.": "A comparison holds for a budget, a test set and a "
            "search of rates. Leave one out and the sentence claims too much.",
            "Neither: two results that differ cancel out.": "Each was clear by the rule. They answer two "
            "questions, and the answers may differ.",
        },
        "B",
        "Eight models, two budgets",
    ),
    Question(
        "16",
        "too_short",
        "For a long sentence a beam of 4 returns “Mon frère.”, 4 tokens with the end, with a "
        "log-probability of −6.65. The reference has 18 tokens and −25.9. Who has failed?",
        {
            "The search: a wider beam would find the reference.": "A search looks for what is "
            "probable, and has found something far more probable. A wider one may only find "
            "something more probable still.",
            "Nobody: the more probable translation is the better one.": "That is the hope behind "
            "beam search. “Mon frère.” leaves out nearly the whole sentence.",
            "Wu's length penalty: with α = 1 the reference would win.": "Divided by 9/6 and 23/6 "
            "they have −4.4 and −6.8. The short one is still ahead.",
            "The model: it finds the bad sentence more probable.": "The search has done its work. "
            "It was asked for the probable sentence, and the reference is far less probable.",
        },
        "D",
        "A wider beam that is worse",
    ),
    Question(
        "16",
        "round_in_circles",
        "Training and validation loss are perfect. The first word is always right, and so are "
        "short sentences. Long ones go round in circles. What first?",
        {
            "Compare the logits of every step with those of one parallel pass.": "Both losses run "
            "the parallel pass, so a fault of `step` alone escapes them: every new word at "
            "position 0, for instance.",
            "Forbid repetitions in the search.": "That hides the circle, and leaves its cause. "
            "The words between would still be wrong.",
            "Train on longer sentences.": "The validation loss knows long sentences and is "
            "perfect. It is the writing that fails, not the model.",
            "Draw with a temperature instead of taking the best word.": "Chance would break the "
            "circle now and then. The probabilities that it draws from would be as wrong.",
        },
        "A",
        "Break it: every new word at position 0",
    ),
    Question(
        "16",
        "half_the_temperature",
        "Five words have the probabilities 0.4, 0.3, 0.15, 0.1 and 0.05. Which probability does the "
        "first get at temperature ½?",
        {
            "0.8: half the temperature, twice the probability.": "The logits are doubled, not the "
            "probabilities. The others could not get 0.6, 0.3 and so on beside it.",
            "0.4: a temperature does not change the order.": "Not the order, but the "
            "probabilities: cold makes the leader lead more.",
            "0.56: the probabilities are squared.": "0.16 of 0.285. Dividing the logits by ½ "
            "squares each p, up to a common factor.",
            "0.2: the distribution becomes flatter.": "Hot flattens, cold sharpens. ½ is colder "
            "than 1, and only a very large τ makes all nearly equal.",
        },
        "C",
        "Or by chance",
    ),
    Question(
        "16",
        "the_second_way",
        "First word: 0.6 for *me*, 0.4 for *je*. After *me* the best second word has 0.4, after *je* "
        "0.9. Which two words do greedy search and a beam of 2 find?",
        {
            "Both *me …*, with 0.24.": "Greedy search does. The beam keeps *je* as well, and 0.4 · 0.9 "
            "overtakes it.",
            "Greedy *me …*, 0.24; the beam *je …*, 0.36.": "One step too early a choice cannot be "
            "taken back; the beam has kept both.",
            "Both *je …*, with 0.36.": "The beam does. Greedy search has taken *me*, which is ahead "
            "after one word, and cannot go back.",
            "Greedy *me …*; the beam *me* and *je*.": "It keeps both beginnings, but each step grows "
            "them by a word and compares the results.",
        },
        "B",
        "Several beginnings at once",
    ),
    Question(
        "16",
        "hundred_words",
        "A decoder writes a hundred words. Without a cache it reads all of them again for each new "
        "one. How many rows go through its layers, without the cache and with it?",
        {
            "5050 and 100.": "1 + 2 + … + 100, against one row a step. With the cache the new "
            "query still meets all keys.",
            "10,000 and 100.": "The rows grow from 1 to 100: on the mean they are 50.5, not 100.",
            "5050 and 5050, but quicker.": "The keys and values of earlier words are not made "
            "again, so their rows need not go through.",
            "100 and 1.": "You count the steps. Each step without a cache reads everything again.",
        },
        "A",
        "Nothing twice",
    ),
    Question(
        "16",
        "sixteen_at_once",
        "A large decoder writes one sentence. One pass that reads 16 known tokens has 16 times the "
        "operations of a step. How long does it take, compared with a step?",
        {
            "Far less than 16 times: it waits for the same bytes.": "Every matrix is fetched once "
            "for all 16 tokens. That is what guessing ahead lives on.",
            "16 times as long: 16 times the operations.": "It would if a step waited for "
            "operations. It waits for the parameters to be fetched.",
            "256 times as long: every token meets every other.": "The scores are 16 times 16, but "
            "they are a small part of the work. The matrices are most of it.",
            "As long as 16 steps, since 16 tokens are read.": "16 steps fetch every matrix 16 "
            "times. One pass fetches it once.",
        },
        "A",
        "What a step waits for",
    ),
    Question(
        "16",
        "a_guess_refused",
        "Speculative decoding, with words that are drawn. Of two words the model wants 0.6 and "
        "0.4, the draft guesses with 0.2 and 0.8. The draft has guessed the second word. With "
        "which probability is it accepted?",
        {
            "0.4: what the model gives it.": "It has come with 0.8 already. 0.8 · 0.4 would be "
            "0.32, less than the 0.4 that it should get.",
            "0: the model prefers the other word.": "That is greedy checking. Here words are "
            "drawn, and the second one should come in 0.4 of all cases.",
            "½: 0.4 divided by 0.8.": "Guessed and accepted together are 0.8 · ½ = 0.4, what the "
            "model wants.",
            "1: a guess costs nothing.": "Then it would come with 0.8, and the sentences would be "
            "the draft's.",
        },
        "C",
        "Guess, then check",
    ),
    Question(
        "17",
        "two_means",
        "One process has 9 tokens with mean loss 1, the other 3 tokens with mean loss 5. Each "
        "calls `backward()` on its mean, and the gradients are averaged over the two. What is "
        "wrong?",
        {
            "Nothing: the mean of the two means is the mean over all tokens.": "Only if both have "
            "as many tokens. Here it is 3, and the mean of the twelve is 2.",
            "The tokens of the second process count three times as much.": "Weigh each mean by M "
            "· N_p / N. The averaging over M processes then leaves the mean over all tokens.",
            "The update is twice as long as that of one process.": "A sum of gradients would be. "
            "`DistributedDataParallel` divides by the number of processes.",
        },
        "B",
        "Two processes, one model",
    ),
    Question(
        "17",
        "twice_as_long",
        "Fused attention with `is_causal`, and sentences twice as long. What happens to its "
        "memory, and what to its multiplications?",
        {
            "Both double: fused attention is linear.": "Its memory is. Every query still meets "
            "every key, in blocks or not.",
            "Both are four times as much: n × n is n × n.": "The map would be. It is never "
            "written down, and what is kept grows with the rows of the output.",
            "Memory four times, multiplications twice.": "The other way round: it saves the map, "
            "not the arithmetic.",
            "Memory twice, multiplications four times.": "Block by block only sums are kept, and "
            "every product is still made.",
        },
        "D",
        "Never write the map down",
    ),
    Question(
        "17",
        "small_updates",
        "Everything is in bf16, and you add 1/256 to a weight of 1, a thousand times. What is the "
        "weight then?",
        {
            "About 4.9: 1 + 1000/256.": "On paper. After 1 the next number in bf16 is 1 + 1/128.",
            "About 4.9, wrong in the third digit.": "You expect rounding errors that cancel. Each "
            "single sum goes back to 1, so the error has one direction.",
            "1: each single sum is rounded back to 1.": "After 1 comes 1 + 1/128, and 1 + 1/256 "
            "lies half way: it goes to the even one, 1. So weights and Adam stay in fp32.",
        },
        "C",
        "Half the bits",
    ),
    Question(
        "17",
        "saved_twice",
        "Logits only at real targets saved 16 % of the forward operations. Then batches of "
        "similar lengths cut the padding from 40 % to 2 %. How much does the first change save "
        "now?",
        {
            "About 1 %: hardly any padding is left.": "It saves the logits of padding. Two "
            "changes that save the same thing do not add up.",
            "Again about 16 %: the two are independent.": "You add up two savings. Both live on "
            "the same padding, and the second has eaten it.",
            "More than 16 %: now nearly all positions are real.": "What is saved are the logits "
            "of positions that are not real. The fewer of those, the less there is to save.",
        },
        "A",
        "Logits only where there is a target",
    ),
    Question(
        "17",
        "a_long_text",
        "A model of width 4096 reads texts of 24,576 tokens, without a causal mask. How far are the "
        "counted operations from six for each parameter and token?",
        {
            "They are about the same: attention's projections are parameters.": "Its projections are. "
            "Scores and averages take no parameter, and are not in the six.",
            "They are about twice as many.": "Attention's own part is n/(6d) = 24,576/24,576, as much "
            "again as all parameters take.",
            "They are about six times as many.": "n/d is 6. What a query does with n keys is 4nd "
            "operations, against 24d² of the parameters: n/(6d).",
            "They are about 24,576 times as many.": "The scores are n for each token, but each of them "
            "takes 2d operations, and a layer's parameters take 24d².",
        },
        "B",
        "Attention's own part",
    ),
    Question(
        "17",
        "ten_times_the_money",
        "You get ten times as many operations as before. By Hoffmann et al. (2022), what should "
        "grow?",
        {
            "The model, ten times: larger is better.": "Then it reads no more than before. A model "
            "that has read too little is worse than a smaller one that has read more.",
            "Both, each about three times.": "The product has to be ten, and both grow alike: √10 "
            "is 3.2.",
            "Both, each ten times.": "That would take a hundred times the operations: they are "
            "about six for each parameter *and* token.",
            "The text, ten times: the model was large enough.": "Then a model of the old size "
            "reads ten times as much, and at some point it cannot learn more.",
        },
        "B",
        "How large a model, and how much text?",
    ),
    Question(
        "18",
        "what_is_left",
        "You take the encoder away from a translator in pre-norm, and from every decoder layer what "
        "asked the memory. What are its layers now?",
        {
            "Decoder layers without a mask.": "The mask stays: it belongs to self-attention, which "
            "has lost nothing.",
            "Layers of a third kind, called decoder-only.": "A name for the model. Each of its "
            "layers has the parts, names and shapes of one you have built.",
            "Encoder layers that are given a causal mask.": "Self-attention and a network are left, "
            "each with its norm and residual, and the triangle is an argument.",
            "Layers that have to be trained in another way.": "The next word is asked for as "
            "before. Only the source is missing.",
        },
        "C",
        "What is left without the encoder?",
    ),
    Question(
        "18",
        "shared_keys",
        "A layer has 32 heads of queries and 8 heads of keys and values. For one token that attends, "
        "how many rows of weights does it make?",
        {
            "8: one for each head of keys.": "A row of weights belongs to a query. Four query heads "
            "read the same keys, each with a query of its own.",
            "32: one for each head of queries.": "Every query head compares its query with the keys "
            "of its group and has a softmax of its own.",
            "256: each head of queries with each of keys.": "A query head reads one head of keys, "
            "that of its group, and not all eight.",
            "4: one for each group.": "Four is how many query heads share one head of keys. What "
            "they share are keys and values, not weights.",
        },
        "B",
        "Heads that share",
    ),
    Question(
        "18",
        "no_triangle",
        "You train a GPT on the next word, and forget the causal mask. What do you see first?",
        {
            "An error: the shapes no longer fit.": "A mask changes no shape. Without it the scores "
            "are the same size, and all of them count.",
            "A loss far too low, and nonsense when it writes.": "The token to be said stands one position "
            "to the right, and it may attend to it; when it writes, nothing stands there yet.",
            "A loss that falls as usual, but more slowly.": "It falls far lower: to copy from one position to "
            "the right is easier than to learn a language.",
            "A loss that is lower in training, but not on test sentences.": "On them too: the next "
            "word stands there to be read, in training and in testing.",
        },
        "B",
        "Break it: let it see everything",
    ),
    Question(
        "18",
        "asked_of_a_hundred",
        "A text of 100 words goes once through a GPT and once through a BERT, in training. For how "
        "many words is each charged?",
        {
            "Both for 100: BERT sees all of them, too.": "It sees them, but is asked only for what "
            "was hidden. The others it could read off.",
            "GPT for 1, the last, and BERT for 15.": "GPT is asked at every position: the triangle "
            "makes a hundred exercises of one text.",
            "GPT for 15 and BERT for 100: it looks both ways.": "The other way round: who looks both "
            "ways can be asked only for what it cannot see.",
            "GPT for 100, BERT for about 15.": "So a text teaches GPT more exercises at once, and "
            "BERT fewer, with more to read for each.",
        },
        "D",
        "Hide words, not the future",
    ),
    Question(
        "18",
        "five_more",
        "To every entry of a token's vector 5 is added. γ is 1, β is 0. Which norm gives out what it gave "
        "before?",
        {
            "Layer norm: the mean goes, and the 5 with it.": "RMSNorm takes off no mean: "
            "the 5 stays in every entry.",
            "RMSNorm: it only looks at the size.": "The size has changed: to add 5 to all is no "
            "stretch. A factor of 5 it would not notice.",
            "Both: each of them makes every token the same size.": "The same size, but the direction "
            "of the vector may change, and in RMSNorm it does.",
        },
        "A",
        "A norm with less in it",
    ),
    Question(
        "18",
        "three_active",
        "A card says: 30.5B parameters, 3.3B activated. Each takes 2 bytes. How much memory do the "
        "parameters need where the model runs?",
        {
            "6.6 billion bytes: only what is activated.": "The next token may be sent to other "
            "experts, so all of them have to be there.",
            "61 billion bytes: all of them.": "Experts save operations. They do not save memory.",
            "It depends on the text: rare experts are left out.": "No expert is left out. Which are "
            "needed is known only when a token has been routed.",
        },
        "B",
        "A model card, line by line",
    ),
    Question(
        "18",
        "fewer_bytes",
        "From the layer of 2017 to today's block four parts have changed. Which change makes the cache "
        "smaller?",
        {
            "RMSNorm: it subtracts no mean.": "A norm keeps nothing for later tokens. What is cached are "
            "keys and values.",
            "The gate: a part of the network is shut.": "The network works on each token alone, and "
            "nothing of it is kept for the next.",
            "Rotary positions: there is no table of codes.": "A turned key is as wide as it was, and "
            "there are as many.",
            "Heads that share keys and values.": "With fewer heads of keys each token leaves fewer "
            "numbers, in every layer.",
        },
        "D",
        "What a token leaves behind",
    ),
    Question(
        "18",
        "eight_for_two",
        "A block's network is replaced by eight of the same size, and a router sends each token to two "
        "of them. What happens to the network's parameters and operations? (Forget the router's own.)",
        {
            "Both are eight times as many.": "A token goes through two of the eight. The other six cost "
            "it nothing.",
            "Parameters eight times, operations twice.": "All eight must be there, and each token is "
            "multiplied with two.",
            "Both are twice as many: the rest is not used.": "Not by this token. The next one may be sent "
            "to others, so all eight are kept.",
            "Parameters twice, operations eight times.": "The other way round: experts buy parameters "
            "without as many operations.",
        },
        "B",
        "Two of eight networks",
    ),
]


def numbered() -> dict[str, Question]:
    """Every question under the number of its lesson and its own: 03.1, 03.2 and so on."""
    return {
        f"{lesson}.{number}": question
        for lesson, group in groupby(QUESTIONS, key=lambda question: question.lesson)
        for number, question in enumerate(group, start=1)
    }
