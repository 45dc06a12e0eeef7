/** Logistic regression by gradient descent: full batches, weights from zero, so that a training run is repeatable. */

const rounds = 1500;
const rate = 1.5;
const decay = 1e-4;

export function logOdds(weights: readonly number[], input: readonly number[]): number {
  let sum = 0;
  for (let index = 0; index < weights.length; index++) sum += weights[index]! * input[index]!;
  return sum;
}

/** Weights on the mean loss, both sides weighing the same; the inputs of both have one length, and their first is the constant 1. */
export function trainLogistic(
  people: readonly (readonly number[])[],
  programs: readonly (readonly number[])[],
): number[] {
  const weights = new Array<number>(programs[0]!.length).fill(0);
  for (let round = 0; round < rounds; round++) {
    const gradient = weights.map((weight) => decay * weight);
    for (const [inputs, target] of [
      [people, 0],
      [programs, 1],
    ] as const) {
      for (const input of inputs) {
        const error = (1 / (1 + Math.exp(-logOdds(weights, input))) - target) / inputs.length;
        for (let index = 0; index < weights.length; index++) gradient[index]! += error * input[index]!;
      }
    }
    for (let index = 0; index < weights.length; index++) weights[index]! -= rate * gradient[index]!;
  }
  return weights;
}
