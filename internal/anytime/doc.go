// Package anytime says how sure one may be of the difference between contestants that take turns, at every moment and not only
// at an end that was fixed before: anytime-valid intervals, e-values and p-values, families of pairs, races of many.
//
// # The setting
//
// In each round every contestant has one turn, in an order that is drawn anew, uniformly and independently of everything else. A turn
// gives a rate. For a pair, what a round tells is x = ln(rate A / rate B).
//
// # The assumption
//
// Whatever is said about a value theta of ln(A / B) rests on this alone: in each round, given all that happened before, the mean of
// the clipped score psi((x−theta)/s) is 0, where psi(z) is z cut off at ±1 and s > 0 was fixed before the round. It holds
//
//   - for theta = 0 if the two contestants do not differ in anything that shows in a rate. Then both would have had the same two
//     rates in either order, so the sign of x is the fair coin that was thrown for the order, given its size and all that was
//     before: whatever the disk does (drift, bursts, heavy tails, autocorrelation), with any after-effect of a turn on later ones.
//   - for any theta if A's rate is exp(theta) times the rate that B would have had in the same turn, and turns do not change
//     what comes after them. Then x−theta is +D or −D, by the coin. D is the log-ratio of the two turns' speeds, and may be anything.
//   - without any symmetry, if the contestants have noise of their own, for the constant theta that is the centre of x in this sense
//     (Huber's location), if there is one.
//
// If the centre moves from round to round, then "A is faster" is still a false claim with a probability of at most alpha/2 if it was
// at no time above 0, and the interval still does not lie wholly above or below all centres that there were; but it need not
// hold their mean. docs/duel.md says what this means for duels: effects that are no constant factor, and after-effects.
//
// # The method: testing by betting
//
// Against theta one bets, round after round, a fixed share f of one's capital on x being larger: the capital is multiplied by
// 1 + f·psi((x−theta)/s). With f < 1 and |psi| ≤ 1 it stays positive, and its mean, given the past, is what it was: a nonnegative
// martingale that starts at 1. So is a mixture over shares f, with weights that add up to 1. By Ville's inequality it ever
// reaches 2/alpha with a probability of at most alpha/2. Likewise for bets on x being smaller. Values that either of the two has
// refuted are not in the interval. Hence, with a probability of at least 1−alpha, the true value is never excluded, at no
// moment: one may look after each round, and stop when one likes.
//
// Two things make an interval of it, and make it cheap. psi does not decrease, so the capital of bets on "larger" does not increase
// with theta: what refutes theta refutes all below it. So the values not refuted are an interval, of which only the two ends need to be
// followed. And s comes from past x only (the interquartile range of the last 32), not from theta nor from the round itself: it is the same for all
// theta, and fixed before the coin is thrown. (It may be anything, for the same reason; a bad one costs width, not truth.)
//
// Rounding does not spoil the order: each operation is monotone, so the computed capital is monotone in theta, too. Capital above 1e250 is given away,
// and what is below 1e-250 is thrown away, both of which one may. Ends are found in steps of 1/128 of the width, outwards: no value
// is excluded that was not refuted.
//
// # What else was tried
//
// TestCandidates (go test -v) measures these on streams of nine kinds, in rounds until a difference of 2 % is found:
//
//   - The normal mixture of exp(f·S − f²·V/2), S and V the sums of x−theta and of its square (de la Peña 1999): half as many rounds again for
//     light tails, several times as many or no end for heavy ones and bursts. It is of use for symmetric x only, not for any centred
//     psi; its scale must be set in advance; and what it does not refute need not be an interval.
//   - Signs alone (the sign test, mixed over shares): nothing to tune, but a quarter more rounds for light tails.
//   - Ranks of |x−theta| among those before (Wilcoxon's test with sequential ranks): as good, but a sort of all
//     rounds for each theta, and not monotone in theta.
//   - Bets 1 + tanh(f·psi), best for normal x: no difference, a call of tanh each, and symmetric x only.
//   - Scores that fall off again for large x (Student's t): a few rounds fewer in bursts and heavy tails, a few more else; not monotone in theta.
//   - Other places to clip: 1 s is level, 2 s and more lose.
//
// In a trial outside of that test, other spans for s than 32 rounds (16, 64, 128, all) made no difference, but for a disk whose noise changes: there
// intervals were a third wider with s from all rounds.
//
// # Sources
//
// J. Ville, Étude critique de la notion de collectif, 1939 (the inequality). V. H. de la Peña, A general class of exponential inequalities
// for martingales and ratios, Annals of Probability 27, 1999 (symmetric differences). P. J. Huber, Robust estimation of a location parameter,
// Annals of Mathematical Statistics 35, 1964 (psi). S. R. Howard, A. Ramdas, J. McAuliffe, J. Sekhon, Time-uniform,
// nonparametric, nonasymptotic confidence sequences, Annals of Statistics 49, 2021. I. Waudby-Smith, A. Ramdas, Estimating
// means of bounded random variables by betting, JRSS B 86, 2024. V. Vovk, R. Wang, E-values: calibration,
// combination and applications, Annals of Statistics 49, 2021 (families).
package anytime
