"""What a question of the quiz is, and a third of them; `quiz.QUESTIONS` has all.  Lesson 19."""

from collections.abc import Iterator
from dataclasses import dataclass

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


MORE = [
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
        "The axis that is not there",
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
            "Each row: a query's shares over the keys.": "So it should be, and so it is with `dim=-1`. "
            "The number names the axis along which one adds.",
            "All six numbers together.": "That takes both axes. `softmax` goes along one, and makes "
            "shares of each line of it.",
        },
        "A",
        "What people get wrong",
    ),
    Question(
        "01",
        "out_of_range",
        "Five things have the values 300, 20, 10, 10 and 5. With which query does attention bring "
        "home more than 300?",
        {
            "With a long one, which makes the scores large.": "Then nearly all the glance goes to one "
            "thing, and brings home what that has, at most 300.",
            "With one that fits two things at once.": "They have to share the glance. What is mixed "
            "half and half lies between the two.",
            "With none.": "Shares are positive and add up to 1, so a mixture lies between the "
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
            "and a share multiplies a value, however wide it is.",
            "(2, 5): a number for each key.": "Those are the shares. They are multiplied with the "
            "values and added up.",
        },
        "A",
        "Query, key, value",
    ),
    Question(
        "01",
        "very_hot",
        "Five things have the scores 6, 4, 2, 0 and 0, and the temperature is 1000. Which share does "
        "the first one get?",
        {
            "Nearly 1: what is likely becomes likelier.": "Cold does that. Divided by 1000, all five "
            "scores are next to 0.",
            "½: it has 6 of the 12 points.": "Shares would go by points, if nobody took the "
            "exponential. Here it is taken of 0.006.",
            "0.006: its score is divided by 1000.": "That is what goes into the exponential. e to the "
            "0.006 is about 1, as it is for the others.",
            "About ⅕: all five scores are next to 0.": "Hot makes all alike, and the look-up brings "
            "home an average.",
        },
        "D",
        "A dictionary that answers softly",
    ),
    Question(
        "02",
        "no_width_left",
        "In Nadaraya-Watson pooling the score is −((x − xᵢ)w)²/2. You set w = 0. What does it predict?",
        {
            "0, as all scores are 0.": "Scores of 0 are shares of 1/n each: e⁰ = 1. What is mixed are "
            "the values.",
            "The value of the nearest point.": "That comes with a very large w, where the nearest "
            "takes all. At 0 near and far are alike.",
            "The mean of all values, everywhere.": "All scores are equal, so all shares are: average "
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
        "All keys of a row are hidden, and all its scores −∞. What does torch's plain `softmax` make "
        "of it?",
        {
            "Zeros: nothing may be seen.": "That is what our `masked_softmax` gives, because somebody "
            "decided so. It does not follow from the formula.",
            "Equal shares, as all scores are equal.": "With any finite number in their place, yes: "
            "−10⁹ in all places gives them. −∞ less −∞ is no number.",
            "NaN: even the largest score is −∞.": "The largest is subtracted first, and −∞ less −∞ is "
            "not a number.",
        },
        "C",
        "A row that may see nothing",
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
        "Two keys have the shares p and 1 − p. How fast can p change with its own score?",
        {
            "By p(1 − p): at most ¼, where p is ½.": "Near 0 and near 1 it hardly changes at all. "
            "That is saturation.",
            "By e to the score: ever faster.": "The exponential grows so, but it is divided by the "
            "sum, in which it stands as well.",
            "By 1 − p: fastest where p is 0.": "You forget the factor p. A share of 0 does not come "
            "back by a small push.",
            "By p: fastest where it is 1.": "A share of 1 cannot grow, and it is as hard to take away "
            "from it.",
        },
        "A",
        "What does saturation do to a gradient?",
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
        "no_choice",
        "In a trained Bahdanau model you set w_v = 0. What is the context at each step?",
        {
            "0: all scores are 0.": "Scores of 0 are equal shares, not shares of 0. The states are "
            "still there.",
            "The mean of the encoder's states.": "Equal shares at each step, whatever the query. The "
            "states are there, the choice is not.",
            "The decoder's state, as it asks.": "A query decides over shares. What is mixed are the "
            "encoder's states.",
        },
        "B",
        "Break it: look without choosing",
    ),
    Question(
        "06",
        "four_of_five_links",
        "Five French words have a gold link each. A map finds four of these links, and for the fifth "
        "word another one. What is its alignment error rate?",
        {
            "0.8: four of five are right.": "That is the share of right ones. The rate counts errors: "
            "1 less that.",
            "0.1: one of ten links.": "Found and gold have ten together, but each right link counts "
            "in both: 1 − 8/10.",
            "0.4: one is missing, and one is wrong.": "Two of ten, then: they are divided by all "
            "links, found and gold.",
            "0.2: 1 − 2 · 4 / (5 + 5).": "Twice what both have, by what they have together.",
        },
        "D",
        "How good is the alignment?",
    ),
    Question(
        "07",
        "inside_the_window",
        "Local attention, D = 2, a source of twenty words, and p_t = 7. How many words may this step "
        "look at?",
        {
            "Two, one to each side.": "D is the distance on one side: two to the left, two to the "
            "right, and the centre.",
            "Four, two to each side.": "You leave out the centre, which is the place that the step "
            "asks for.",
            "Five, 5 to 9.": "7 − 2 to 7 + 2, and the centre itself.",
            "Eight, 0 to 7.": "You think of a causal mask, which hides what comes later. The source "
            "is all there.",
        },
        "C",
        "A window on the source",
    ),
    Question(
        "08",
        "one_matrix",
        "One matrix serves as W_Q and as W_K. Two neighbours should each look at the other "
        "more than at themselves. Why can they not?",
        {
            "Because each token then looks at itself alone.": "Often, not always: in “I'm home.” "
            "the full stop looks more at `'m`. A long vector may win against one's own.",
            "A score is never above the mean of the two self-scores.": "So one of the two, at "
            "least, looks at itself no less than at the other.",
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
        "A causal convolution looks at three places, its own and the two before. After how many "
        "layers does place 32 first hear of place 0?",
        {
            "1, as all run in parallel.": "All places are computed at once, true. But each layer "
            "carries a word two places on, and no further.",
            "16, two places a layer.": "⌈32 / 2⌉: the longest way of ⌈(n − 1)/(k − 1)⌉ layers, with n "
            "= 33 and k = 3.",
            "32, a place a layer.": "So slow is a recurrent network, step by step. A window of three "
            "carries a word two places.",
            "11, three places a layer.": "The window has three places, but one is its own: a word "
            "moves on by two.",
        },
        "B",
        "How far is it from one word to another?",
    ),
    Question(
        "08",
        "when_the_map_wins",
        "Self-attention costs 2n²d for its map and 4nd² for its four matrices. With d = 512, from "
        "which length on does the map cost more?",
        {
            "From n = 512 on: n² d against n d².": "You leave out the factors: 2n against 4d.",
            "From n = 256 on.": "Turned round: the matrices have the larger factor, so the map needs "
            "longer texts, not shorter ones.",
            "At any length: n² grows faster.": "It grows faster, but begins far below: at n = 10 the "
            "map is a hundredth of the matrices.",
            "From n = 1024 on.": "2n²d = 4nd² at n = 2d. Below that the four matrices cost more.",
        },
        "D",
        "What does a layer cost?",
    ),
    Question(
        "09",
        "default_weights",
        "Head 0 looks at the first token only, head 1 at the second only. Which weights does "
        "`nn.MultiheadAttention` return, if you do not ask otherwise?",
        {
            "½ and ½, the mean of both.": "`average_attn_weights` is True by default. That no head "
            "looks so, the mean hides.",
            "Two rows, (1, 0) and (0, 1).": "Those you get with `average_attn_weights=False`. Without "
            "it they are averaged over the heads.",
            "(1, 0), those of head 0.": "No head is preferred. All are added up and divided by their "
            "number.",
        },
        "A",
        "What people get wrong",
    ),
    Question(
        "11",
        "twice_the_token",
        "A layer norm, γ = 1 and β = 0, gets (1, 2, 3, 4) and (12, 14, 16, 18). What comes out?",
        {
            "The same for both.": "The second is twice the first, plus ten. The ten goes with the mean, "
            "the factor with the variance.",
            "The second twice as large.": "A stretch is taken out by the root of the variance, which "
            "grows with it.",
            "The second ten higher.": "A shift moves the mean as well, and that is subtracted first.",
        },
        "A",
        "Layer norm by hand",
    ),
    Question(
        "12",
        "both_masks",
        "Five tokens, the last two of them padding; a causal and a padding mask. How many of the 25 "
        "cells do both together leave open?",
        {
            "15, the causal triangle.": "1 + 2 + 3 + 4 + 5. Three of these look at padding.",
            "9, three words by three.": "The pads ask too, two rows of three cells; and among the "
            "three words the future is hidden.",
            "12, row by row 1, 2, 3, 3, 3.": "Up to oneself, and no padding as a key.",
            "6, the words' own triangle.": "You have hidden the rows of the padding as well. It asks, "
            "though nobody reads the answer.",
        },
        "C",
        "Two reasons not to look",
    ),
    Question(
        "13",
        "numbers_of_a_layer",
        "d_ff = 4d. How many weights, as a multiple of d², does a *decoder* layer have? (Leave out "
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
        "A model ends in a softmax, and the loss takes one, too. Two words; the model gives the right "
        "one a share of 1. What share does the loss see?",
        {
            "1: of a certain word nothing is lost.": "The loss takes 1 and 0 for logits, and a gap of "
            "1 is no certainty.",
            "½: two softmaxes make all alike.": "They make it flatter, not flat: the logits 1 and 0 "
            "are still apart.",
            "NaN: shares are no logits.": "Any numbers may be logits, also these. Nothing warns, and "
            "the loss never reaches 0.",
            "0.73: e / (e + 1).": "The shares 1 and 0 are taken for logits. So the loss stays above "
            "0.31, however right the model is.",
        },
        "D",
        "From vectors to words",
    ),
    Question(
        "14",
        "the_least_it_pays",
        "Label smoothing with ε = 0.1. What does the best possible model pay per word?",
        {
            "0: it is right everywhere.": "It would have to be sure, and then pays dearly for the "
            "share of the other words, which it gives none.",
            "0.1, the ε.": "ε is a probability, and a loss is a mean of logarithms. Both the number of "
            "words and ε enter.",
            "0.9, what the right word should get.": "That is what it says of the right word. It pays "
            "the logarithms, each weighed with its share.",
            "More than 0: it should be nearly sure.": "It says exactly the smoothed target, and pays "
            "that one's entropy.",
        },
        "D",
        "Nearly sure",
    ),
    Question(
        "15",
        "half_a_sentence",
        "A translation has 5 tokens, all of them right and in their order; the reference has 10. All "
        "shares of words, pairs and so on are 1. What is its BLEU?",
        {
            "100: nothing is wrong in it.": "What is missing is no wrong word. For that BLEU has its "
            "factor, e to the 1 − 10/5.",
            "50: half of it is there.": "A share of the reference is a recall, which BLEU does not "
            "compute. It punishes by e to the 1 − 10/5.",
            "37: e to the 1 − 10/5.": "Times the factor for too short a translation, e to the −1.",
        },
        "C",
        "Build: BLEU by hand",
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
        "A decoder writes a hundred words, without a cache reading all again for each. How many rows "
        "go through its layers, without the cache and with it?",
        {
            "5050 and 100.": "1 + 2 + … + 100, against one row a step. With the cache the new query "
            "still meets all keys.",
            "10,000 and 100.": "The rows grow from 1 to 100: on the mean they are 50.5, not 100.",
            "5050 and 5050, but quicker.": "The keys and values of earlier words are not made again, "
            "so their rows need not go through.",
            "100 and 1.": "You count the steps. Each step without a cache reads everything again.",
        },
        "A",
        "Nothing twice",
    ),
]
